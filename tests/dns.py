"""Names of the internet, as far as tests use them; whoever asks for another one is told on."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

HOOKS = "hooks.example.com"
_PUBLIC = {HOOKS: "93.184.216.34"}
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


@contextmanager
def only_known_names(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nobody ask the network for a name while the block runs.

    Names of this machine are as ever, HOOKS leads to a public address, and any other name to
    nowhere: the block ends with an AssertionError that tells which were asked for.
    """
    strangers: set[str] = set()
    system = socket.getaddrinfo

    def getaddrinfo(host: str, port: Any, *more: Any, **named: Any) -> list[Any]:
        if host in _THIS_MACHINE:
            return system(host, port, *more, **named)
        if host in _PUBLIC:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (_PUBLIC[host], port))]
        strangers.add(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    patch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    assert not strangers, f"a test asks the network for {sorted(strangers)}"
