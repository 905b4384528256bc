"""Names that lead where a test says, instead of the resolver of the system."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

type _Found = tuple[int, int, int, str, tuple[str, int]]


@dataclass
class FakeResolver:
    """Stands in for socket.getaddrinfo."""

    queries: list[tuple[str, int]] = field(default_factory=list)
    _answers: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    _talks: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def install(cls, monkeypatch: pytest.MonkeyPatch) -> "FakeResolver":
        """Answer in place of the system's resolver."""
        resolver = cls()
        resolver._talks.set()
        monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
        return resolver

    def set_addresses(self, name: str, *addresses: str) -> None:
        """Let a name have these addresses from now on."""
        self._answers[name] = [addresses]

    def set_address_sequence(self, name: str, *answers: str) -> None:
        """Let a name have another single address each time it is asked for."""
        self._answers[name] = [(answer,) for answer in answers]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Answer nothing meanwhile, and whatever was asked afterwards."""
        self._talks.clear()
        try:
            yield
        finally:
            self._talks.set()

    def wait_for_pending_queries(self) -> None:
        """Wait for the threads that are still asking."""
        for thread in threading.enumerate():
            if thread.name == "resolve":
                thread.join(5)

    def getaddrinfo(self, host: str, port: int, *, type: socket.SocketKind) -> list[_Found]:  # noqa: A002
        """As socket.getaddrinfo."""
        self.queries.append((host, port))
        assert self._talks.wait(30)
        answers = self._answers.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, type, 6, "", (address, port)) for address in addresses]
