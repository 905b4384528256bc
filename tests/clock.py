"""Time that tests move: nothing ever sleeps."""

import threading
import time

import pytest


class Clock:
    """Stands in for the module `time` where the service asks for the time or waits.

    It runs like the real one, ahead of it by what was waited or advanced; once frozen, it
    moves only by that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ahead = 0.0
        self._frozen: float | None = None
        self._began = time.time() - time.monotonic()

    def freeze(self) -> None:
        """Stand still from now on."""
        self._frozen = time.monotonic()

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._ahead += seconds

    sleep = advance

    def monotonic(self) -> float:
        """As time.monotonic."""
        return (time.monotonic() if self._frozen is None else self._frozen) + self._ahead

    def time(self) -> float:
        """As time.time."""
        return self._began + self.monotonic()


def install(monkeypatch: pytest.MonkeyPatch, clock: Clock | None = None) -> Clock:
    """Make a clock the one of the kernel: timestamps, leases, deadlines, waits."""
    clock = clock or Clock()
    monkeypatch.setattr("shared.kernel.clock.time", clock)
    monkeypatch.setattr("shared.kernel.db.store.time", clock)
    monkeypatch.setattr("operations.deletion.time", clock)
    monkeypatch.setattr("operations.tenant_tables.time", clock)
    # The retries of botocore wait too.
    monkeypatch.setattr("botocore.endpoint.time", clock)
    return clock
