"""The X-Ray daemon of a function: a UDP port on this machine that receives subsegments."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from shared.kernel import aws
from tests.stack import clear_all_caches

ROOT = "1-5759e988-bd862e3fe1be46a994272793"
FUNCTION_SEGMENT = "53995c3f42cd8ad8"
TRACE = f"Root={ROOT};Parent={FUNCTION_SEGMENT};Sampled=1"


@dataclass(frozen=True, slots=True)
class TraceDaemon:
    """Receives what the functions send."""

    socket: socket.socket

    def receive(self) -> dict[str, Any]:
        """Return the next subsegment; TimeoutError when there is none."""
        header, _, body = self.socket.recv(65_000).decode().partition("\n")
        assert json.loads(header) == {"format": "json", "version": 1}
        content: dict[str, Any] = json.loads(body)
        return content

    def receive_all(self) -> list[dict[str, Any]]:
        """Return every subsegment that has been sent."""
        found = []
        try:
            while True:
                found.append(self.receive())
        except TimeoutError:
            return found


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[TraceDaemon]:
    """Run the daemon for a sampled invocation of a function whose traces are active."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", f"127.0.0.1:{udp.getsockname()[1]}")
        monkeypatch.setenv("_X_AMZN_TRACE_ID", TRACE)
        monkeypatch.setenv("TRACING", "on")
        clear_all_caches()  # a new environment, whose clients record calls
        aws.session.cache_clear()
        yield TraceDaemon(udp)
    clear_all_caches()
    aws.session.cache_clear()
