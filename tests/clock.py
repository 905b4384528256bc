"""A clock that tests control; waiting takes no real time."""

import threading
import time

import pytest

_MOMENT = 0.01


class Clock:
    """A replacement of the module `time`.

    It follows the real clock plus the seconds that were advanced or slept. A frozen clock moves
    by those seconds only.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ahead = 0.0
        self._frozen: float | None = None
        self._began = time.time() - time.monotonic()

    def freeze(self) -> None:
        """Stop following the real clock."""
        self._frozen = time.monotonic()

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        with self._lock:
            self._ahead += seconds

    sleep = advance

    def freeze_in_new_window(self, seconds: int) -> None:
        """Stop one second into the next window of this length; limits count per window."""
        self.freeze()
        self.advance(seconds + 1 - self.time() % seconds)

    def monotonic(self) -> float:
        return (time.monotonic() if self._frozen is None else self._frozen) + self._ahead

    def time(self) -> float:
        return self._began + self.monotonic()


class FrozenEnvironment:
    """The clocks of an execution environment while Lambda freezes it between two invocations.

    `time.monotonic` stands still from the beginning on; `time.time` goes on. A sleep of the thread
    that made the environment moves the clock. Other threads may be left from earlier tests; their
    sleeps would move it by days, so they only wait for a moment.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ahead = 0.0
        self._owner, self._really_sleep = threading.get_ident(), time.sleep
        stopped, wall_clock = time.monotonic(), time.time
        monkeypatch.setattr(time, "monotonic", lambda: stopped)
        monkeypatch.setattr(time, "time", lambda: wall_clock() + self._ahead)
        monkeypatch.setattr(time, "sleep", self._sleep)

    def _sleep(self, seconds: float) -> None:
        if threading.get_ident() == self._owner:
            self.freeze_for(seconds)
        else:
            self._really_sleep(min(seconds, _MOMENT))

    def freeze_for(self, seconds: float) -> None:
        """Move the wall clock; a negative number sets it back."""
        self._ahead += seconds


class ManualClock:
    """A clock that a test sets; it replaces a function that returns the time in seconds."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def install(monkeypatch: pytest.MonkeyPatch, clock: Clock | None = None) -> Clock:
    """Use the clock for timestamps, leases, deadlines and waits of the service."""
    clock = install_for_tokens(monkeypatch, clock)
    monkeypatch.setattr("shared.kernel.db.store.time", clock)
    for module in (
        "draining", "pace", "restore", "retries", "smoke", "table_indexes", "table_lease",
        "tenant_tables", "verify.settling",
    ):  # fmt: skip
        monkeypatch.setattr(f"operations.{module}.time", clock)
    # botocore sleeps between its retries.
    monkeypatch.setattr("botocore.endpoint.time", clock)
    return clock


def install_for_tokens(monkeypatch: pytest.MonkeyPatch, clock: Clock | None = None) -> Clock:
    """Use the clock for timestamps, and for the wait of up to a second that follows a revocation.

    Pauses between attempts stay real, because concurrent requests need them.
    """
    clock = clock or Clock()
    monkeypatch.setattr("shared.kernel.clock.time", clock)
    monkeypatch.setattr("shared.identity.tenancy.revocations.time", clock)
    return clock
