"""A public internet on loopback: names, addresses and who answers there."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from shared.integration.webhooks import http_client
from shared.integration.webhooks.http_client import AttemptResult, post_event
from tests.unit.webhooks.certificates import CertificateAuthority
from tests.unit.webhooks.fake_resolver import FakeResolver
from tests.unit.webhooks.loopback_server import ConnectionHandler, LoopbackServer, serving

HOST = "hooks.example.com"
URL = f"https://{HOST}/in?key=1"
ADDRESS = "93.184.216.34"

_dial = http_client._connect_to_address


@dataclass
class FakeInternet:
    """What is dialled at a public address is answered by an endpoint of the test.

    The addresses that names lead to are checked as ever; the one that trusts this internet's
    authority is the system, by its usual variable.
    """

    resolver: FakeResolver
    authority: CertificateAuthority
    ports: dict[str, int] = field(default_factory=dict)
    """Public address → port on loopback."""
    connections: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def install(
        cls, monkeypatch: pytest.MonkeyPatch, authority: CertificateAuthority
    ) -> "FakeInternet":
        """Take the place of the real one."""
        internet = cls(FakeResolver.install(monkeypatch), authority)
        internet.resolver.set_addresses(HOST, ADDRESS)
        monkeypatch.setattr(http_client, "_connect_to_address", internet.connect)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        monkeypatch.setenv("SSL_CERT_DIR", str(authority.file.parent / "none"))
        http_client._tls_context.cache_clear()
        return internet

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """As sending._dial, but to where the address is on loopback."""
        self.connections.append((address, port))
        if address not in self.ports:
            raise ConnectionRefusedError
        return _dial("127.0.0.1", self.ports[address], seconds)

    @contextmanager
    def endpoint(
        self, behaviour: ConnectionHandler, *, certified: str = HOST
    ) -> Iterator[LoopbackServer]:
        """Have somebody at the public address, with a certificate for that name."""
        with serving(behaviour, self.authority.server(certified)) as endpoint:
            self.ports[ADDRESS] = endpoint.port
            yield endpoint

    def post(self, behaviour: ConnectionHandler, *, seconds: float = 5.0) -> AttemptResult:
        """Send a small event to an endpoint that behaves so."""
        with self.endpoint(behaviour):
            return post_event(
                URL, b'{"id": "evt_1"}', {"Content-Type": "application/json"}, seconds=seconds
            )
