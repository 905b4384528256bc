"""A fake DNS resolver."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

type _AddressInfo = tuple[int, int, int, str, tuple[str, int]]


@dataclass
class FakeResolver:
    """Stands in for socket.getaddrinfo."""

    queries: list[tuple[str, int]] = field(default_factory=list)
    _answers: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    _running: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def install(cls, monkeypatch: pytest.MonkeyPatch) -> "FakeResolver":
        """Replace the system's resolver during the test."""
        resolver = cls()
        resolver._running.set()
        monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
        return resolver

    def set_addresses(self, name: str, *addresses: str) -> None:
        """Set the addresses of a name."""
        self._answers[name] = [addresses]

    def set_address_sequence(self, name: str, *answers: str) -> None:
        """Set the address for each following query of a name; the last one repeats."""
        self._answers[name] = [(answer,) for answer in answers]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Block queries during the block and answer them afterwards."""
        self._running.clear()
        try:
            yield
        finally:
            self._running.set()

    def wait_for_pending_queries(self) -> None:
        """Wait for the threads with unfinished queries."""
        for thread in threading.enumerate():
            if thread.name == "resolve":
                thread.join(60)

    def getaddrinfo(self, host: str, port: int, *, type: socket.SocketKind) -> list[_AddressInfo]:  # noqa: A002
        """Replace socket.getaddrinfo."""
        self.queries.append((host, port))
        assert self._running.wait(120)
        answers = self._answers.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, type, 6, "", (address, port)) for address in addresses]
