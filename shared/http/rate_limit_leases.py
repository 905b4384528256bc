"""How many requests of a window an execution environment may answer without asking again.

All environments draw on one item per credential and minute. A request takes one token; whoever
asks for it takes some more along, and then answers as many requests without a write. What one
environment has taken along is missing where another one needs it, so at any moment at most
`budget` of the limit's tokens may be taken along and unspent: no more than that can be refused
although it was within the limit. More than the limit is never given. Nor is more than a limit
that was lowered meanwhile: what was taken along is spent only as far as the lower one reaches.

Each environment takes along an equal share of the budget, by how many they are; whoever is alone
takes all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WindowState:
    """What the item of a window says."""

    leased: int = 0
    """Tokens that environments have taken; at most the limit."""
    spare: int = 0
    """Those of them that were taken along and are not known to be spent."""
    environments: int = 0
    """How many environments have taken some."""


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """What an environment that has spent all it had asks for: one token, and some more."""

    limit: int
    extra: int
    """Tokens to take along."""
    returned: int
    """Tokens taken along before, all spent by now."""
    is_first: bool
    """It is the environment's first in the window."""

    @property
    def tokens(self) -> int:
        """Tokens asked for in all."""
        return 1 + self.extra

    @property
    def most_leased(self) -> int:
        """What may be leased already, at most."""
        return self.limit - self.tokens

    @property
    def most_spare(self) -> int:
        """What may be spare already, at most, what is now returned included."""
        return spare_budget(self.limit) - self.extra + self.returned


@dataclass(frozen=True, slots=True)
class LeaseResult:
    """What came of an ask, and what the item says afterwards."""

    granted: bool
    state: WindowState


type Lease = Callable[[LeaseRequest], LeaseResult]
"""Grants an ask when the item has at most `most_leased` leased and, where something is taken
along, at most `most_spare` spare; an item that is not there yet grants any. Then both grow by
what is asked for, spare less what is returned."""

_SOME = 2
"""Environments that are expected where nothing is known: most credentials have one or two."""


def spare_budget(limit: int) -> int:
    """Tokens that may be taken along and unspent at any moment: a twentieth of the limit."""
    return limit // 20


class LocalBudget:
    """What one execution environment knows of one credential in one window.

    An environment answers one request at a time.

    Args:
        window: Number of the window.
        expected: How many environments will answer in it, by the window before; 0: unknown.
    """

    __slots__ = ("_carried", "_expected", "_is_new", "_left", "_limit", "_state", "window")

    def __init__(self, window: int, expected: int = 0) -> None:
        self.window = window
        self._expected = expected
        self._state = WindowState()
        self._is_new = True
        self._left = 0
        self._carried = 0
        self._limit = 0

    def next_window(self, window: int) -> "LocalBudget":
        """Begin another window, in which as many environments are expected as now."""
        return LocalBudget(window, self._state.environments or self._expected)

    def take(self, limit: int, lease: Lease) -> bool:
        """Take the token of one request; whether there was one.

        What `lease` raises passes through. Whether it was granted is unknown then, so nothing of
        it is used, and nothing is returned: that can only waste tokens.
        """
        # By the tally from before a limit was lowered others may have spent all of the lower one.
        if self._left > 0 and limit < self._limit and self._request_lease(limit, 0, lease):
            return True
        if self._left > 0 and self._state.leased - self._left < limit:
            self._left -= 1
            return True
        for extra in (self._extra(limit), 0):
            if self._state.leased >= limit:
                return False
            if self._request_lease(limit, extra, lease):
                return True
        return False

    def remaining(self, limit: int) -> int:
        """Tokens left in the window, as far as it is known here.

        What other environments took along counts as spent.
        """
        return max(0, limit - self._state.leased + self._left)

    def _request_lease(self, limit: int, extra: int, lease: Lease) -> bool:
        returned = 0 if self._left else self._carried
        ask = LeaseRequest(limit, extra, returned, is_first=self._is_new)
        self._carried -= returned
        outcome = lease(ask)
        self._state = outcome.state
        self._limit = limit
        if not outcome.granted:
            self._carried += ask.returned
            return False
        self._is_new = False
        self._left += extra
        self._carried += extra
        return True

    def _extra(self, limit: int) -> int:
        """How much to take along: an equal share of the budget, as far as it is free."""
        free = spare_budget(limit) - max(0, self._state.spare - self._carried)
        environments = max(self._state.environments, self._expected) or _SOME
        share = -(-spare_budget(limit) // environments)
        return max(0, min(share, free, limit - self._state.leased - 1))
