"""A limit of how much an operation on a whole table does per second."""

import threading
import time


class Pace:
    """Makes its callers wait, so that they spend at most `rate` units per second, all together."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._lock = threading.Lock()
        self._from = time.monotonic()

    def spend(self, units: float) -> None:
        """Wait until the limit allows what comes after these units."""
        with self._lock:
            # What was slower than the limit is not made up for.
            self._from = max(self._from + units / self._rate, time.monotonic())
            ahead = self._from - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
