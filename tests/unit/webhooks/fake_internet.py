"""A public internet on loopback: names, addresses and who answers there."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from shared.integration.webhooks import http_client
from shared.integration.webhooks.http_client import Outcome, send
from tests.unit.webhooks.certificates import Authority
from tests.unit.webhooks.fake_resolver import Names
from tests.unit.webhooks.loopback_server import Behaviour, Endpoint, serving

HOST = "hooks.example.com"
URL = f"https://{HOST}/in?key=1"
ADDRESS = "93.184.216.34"

_dial = http_client._dial


@dataclass
class Internet:
    """What is dialled at a public address is answered by an endpoint of the test.

    The addresses that names lead to are checked as ever; the one that trusts this internet's
    authority is the system, by its usual variable.
    """

    names: Names
    authority: Authority
    ports: dict[str, int] = field(default_factory=dict)
    """Public address → port on loopback."""
    dialled: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def install(cls, monkeypatch: pytest.MonkeyPatch, authority: Authority) -> "Internet":
        """Take the place of the real one."""
        internet = cls(Names.install(monkeypatch), authority)
        internet.names.lead(HOST, ADDRESS)
        monkeypatch.setattr(http_client, "_dial", internet.dial)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        monkeypatch.setenv("SSL_CERT_DIR", str(authority.file.parent / "none"))
        http_client._trust.cache_clear()
        return internet

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        """As sending._dial, but to where the address is on loopback."""
        self.dialled.append((address, port))
        if address not in self.ports:
            raise ConnectionRefusedError
        return _dial("127.0.0.1", self.ports[address], seconds)

    @contextmanager
    def endpoint(self, behaviour: Behaviour, *, certified: str = HOST) -> Iterator[Endpoint]:
        """Have somebody at the public address, with a certificate for that name."""
        with serving(behaviour, self.authority.server(certified)) as endpoint:
            self.ports[ADDRESS] = endpoint.port
            yield endpoint

    def post(self, behaviour: Behaviour, *, seconds: float = 5.0) -> Outcome:
        """Send a small event to an endpoint that behaves so."""
        with self.endpoint(behaviour):
            return send(
                URL, b'{"id": "evt_1"}', {"Content-Type": "application/json"}, seconds=seconds
            )
