"""Name resolution without the network: a few known names, and an error for every other."""

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
    """Replace name resolution inside the block.

    Names of this machine are resolved as usual, WEBHOOK_HOST resolves to a public address, and
    any other name is unknown.

    Raises:
        AssertionError: At the end of the block, when an unknown name was looked up.
    """
    unknown: set[str] = set()
    system = socket.getaddrinfo

    def getaddrinfo(host: str, port: Any, *more: Any, **named: Any) -> list[Any]:
        if host in _THIS_MACHINE:
            return system(host, port, *more, **named)
        if host in _PUBLIC:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (_PUBLIC[host], port))]
        unknown.add(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    patch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield
    assert not unknown, f"the test looked up {sorted(unknown)} on the network"
