"""A fake internet: connections to public addresses go to servers on loopback."""

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

_connect_to_address = http_client._connect_to_address


@dataclass
class FakeInternet:
    """Redirects connections to public addresses to test servers on loopback.

    The client checks the public addresses as usual. SSL_CERT_FILE makes the system trust the
    authority of the test servers.
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
        """Replace DNS, connections and trusted authorities during the test."""
        internet = cls(FakeResolver.install(monkeypatch), authority)
        internet.resolver.set_addresses(HOST, ADDRESS)
        monkeypatch.setattr(http_client, "_connect_to_address", internet.connect)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        monkeypatch.setenv("SSL_CERT_DIR", str(authority.file.parent / "none"))
        http_client._tls_context.cache_clear()
        return internet

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        """Connect to the loopback port of an address instead of the address."""
        self.connections.append((address, port))
        if address not in self.ports:
            raise ConnectionRefusedError
        return _connect_to_address("127.0.0.1", self.ports[address], seconds)

    @contextmanager
    def endpoint(
        self, handler: ConnectionHandler, *, certified: str = HOST
    ) -> Iterator[LoopbackServer]:
        """Serve ADDRESS with a certificate for the name `certified`."""
        with serving(handler, self.authority.server(certified)) as endpoint:
            self.ports[ADDRESS] = endpoint.port
            yield endpoint

    def post(self, handler: ConnectionHandler, *, seconds: float = 60.0) -> AttemptResult:
        """Post a small event to a server with this connection handler."""
        with self.endpoint(handler):
            return post_event(
                URL, b'{"id": "evt_1"}', {"Content-Type": "application/json"}, seconds=seconds
            )
