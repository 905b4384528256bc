"""What the clients of a run have seen: requests, responses, latencies and findings."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class ServerError:
    """A response of 500 or more, and the time of its request on the monotonic clock."""

    status: int
    text: str
    began: float
    ended: float


@dataclass(slots=True)
class RequestLog:
    """Counts of a run; threads share it."""

    answers: Counter[tuple[int, str]] = field(default_factory=Counter)
    """(Status, code of the error or "") → number."""
    server_errors: list[ServerError] = field(default_factory=list)
    unanswered: int = 0
    """Requests that broke off without a response, although the client waited for it."""
    hang_ups: int = 0
    """Requests that the client gave up on purpose."""
    twice: int = 0
    """Pairs of the same request at once."""
    repeated: int = 0
    """Requests that were sent again after their response."""
    abandoned: int = 0
    """Requests that were given up and not repeated."""
    findings: list[str] = field(default_factory=list)
    _seconds: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, route: str, status: int, code: str, began: float) -> None:
        """Record a response to a request that began at a time of the monotonic clock."""
        ended = time.monotonic()
        with self._lock:
            self.answers[status, code] += 1
            self._seconds.append(ended - began)
            if status >= SERVER_ERROR:
                error = ServerError(status, f"{status} {code} {route}", began, ended)
                self.server_errors.append(error)

    def count(self, name: str) -> None:
        """Add 1 to a number of this log."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    def found(self, finding: str) -> None:
        """Record something that must not happen."""
        with self._lock:
            self.findings.append(finding)

    @property
    def requests(self) -> int:
        """Number of requests, also of those without a response."""
        return self.answers.total() + self.unanswered + self.hang_ups

    def latencies(self) -> dict[str, int]:
        """Return percentiles of the latency of all responses, in milliseconds."""
        ordered = sorted(self._seconds)
        return {
            "p50": _percentile(ordered, 0.5),
            "p95": _percentile(ordered, 0.95),
            "p99": _percentile(ordered, 0.99),
            "max": _percentile(ordered, 1),
        }


def _percentile(ordered: Sequence[float], share: float) -> int:
    if not ordered:
        return 0
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))])
