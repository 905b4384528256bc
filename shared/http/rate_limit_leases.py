"""Leases of the rate limit: how many requests an execution environment admits without a write.

All environments share one item per limit and minute (a window); a credential has a limit, and so
has a tenant. Each request takes one token of both.
A request that turns out to be expensive is charged further tokens afterwards, which may exceed the
limit; no lease is then granted until the window ends.
An environment that has none left leases one token and some spare ones in one write, and then
admits as many requests without a write. Spare tokens of one environment are missing in the others,
so all unspent spare tokens together are at most `spare_budget` of the limit: up to that many
requests may be refused early. Leases never exceed the limit, even after it was lowered: spare
tokens are then used only up to the lower limit.

Each environment leases an equal share of the spare budget.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WindowState:
    """The content of the item of a window."""

    leased: int = 0
    """Tokens that environments have leased, at most the limit, and those charged afterwards."""
    spare: int = 0
    """Spare tokens among them that are not known to be spent."""
    environments: int = 0
    """Number of environments that have leased tokens."""


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """The request of an environment for one token and `extra` spare tokens."""

    limit: int
    extra: int
    """Spare tokens to lease."""
    returned: int
    """Spare tokens of earlier leases that are spent by now."""
    is_first: bool
    """Whether it is the environment's first request in the window."""

    @property
    def tokens(self) -> int:
        """All tokens of the request."""
        return 1 + self.extra

    @property
    def max_leased(self) -> int:
        """Largest number of leased tokens at which the request is granted."""
        return self.limit - self.tokens

    @property
    def max_spare(self) -> int:
        """Largest number of spare tokens, including `returned`, at which it is granted."""
        return spare_budget(self.limit) - self.extra + self.returned


@dataclass(frozen=True, slots=True)
class LeaseResult:
    """Whether a request was granted, and the item afterwards."""

    granted: bool
    state: WindowState


type Lease = Callable[[LeaseRequest], LeaseResult]
"""Grants a request when the item has at most `max_leased` leased tokens and, when `extra` is not
0, at most `max_spare` spare tokens. A missing item grants every request. A grant adds the tokens
to `leased`, and `extra` less `returned` to `spare`."""

_EXPECTED = 2
"""Assumed number of environments when it is unknown: most credentials use one or two."""


def spare_budget(limit: int) -> int:
    """Return how many spare tokens may be unspent at any moment: a twentieth of the limit."""
    return limit // 20


class LocalBudget:
    """The tokens of one limit that an execution environment holds in one window.

    An environment handles one request at a time.

    Args:
        window: Number of the window.
        expected: Number of environments in the previous window; 0: unknown.
    """

    __slots__ = ("_expected", "_is_new", "_left", "_limit", "_state", "_unreturned_spare", "window")

    def __init__(self, window: int, expected: int = 0) -> None:
        self.window = window
        self._expected = expected
        self._state = WindowState()
        self._is_new = True
        self._left = 0
        self._unreturned_spare = 0
        self._limit = 0

    def next_window(self, window: int) -> "LocalBudget":
        """Return the budget of another window, which expects as many environments as this."""
        return LocalBudget(window, self._state.environments or self._expected)

    def take(self, limit: int, lease: Lease, reserve: int = 0) -> bool:
        """Take the token of one request, and return whether there was one.

        Errors of `lease` are raised. It is then unknown whether the tokens were granted, so none
        of them is used or returned; that can only waste tokens.

        Args:
            limit: Requests per window.
            lease: Requests tokens of the item.
            reserve: Number of tokens up to which more are leased before the last is spent.
        """
        # The state was read before the limit was lowered; others may have used the lower limit.
        if self._left > 0 and limit < self._limit and self._request_lease(limit, 0, lease):
            return True
        if self._left > reserve and self._spend(limit):
            return True
        for extra in (self.next_extra(limit), 0):
            if not extra and self._spend(limit):
                return True
            if self._state.leased >= limit:
                return False
            if self._request_lease(limit, extra, lease):
                return True
        return False

    @property
    def environments(self) -> int:
        """Known or expected number of environments that lease tokens; 0: unknown."""
        return max(self._state.environments, self._expected)

    def expect(self, environments: int) -> None:
        """Expect at least this many environments."""
        self._expected = max(self._expected, environments)

    def pay(self, tokens: int) -> int:
        """Pay with the tokens that this environment holds; return how many are missing."""
        paid = min(tokens, self._left)
        self._left -= paid
        return tokens - paid

    def charged(self, limit: int, state: WindowState) -> None:
        """Use the state of the window after tokens were charged for what a request has cost."""
        self._state, self._limit = state, limit

    def put_back(self) -> None:
        """Return the token of a request that was refused for another reason."""
        self._left += 1

    def is_exhausted(self, limit: int) -> bool:
        """Return whether this environment knows that no token is left in the window."""
        return self._state.leased - self._left >= limit

    def windows_used(self, limit: int) -> int:
        """Return how many windows have no token left from this one on: 1, or 2.

        What a request has cost beyond the limit is charged to the next window.
        """
        return 2 if self._state.leased >= 2 * limit else 1

    def needs_lease(self, limit: int, reserve: int = 0) -> bool:
        """Return whether `take` may request a lease, unless the limit is exhausted."""
        return self._left <= reserve or limit < self._limit

    def remaining(self, limit: int) -> int:
        """Return the tokens left in the window, as far as this environment knows.

        Spare tokens of other environments count as spent.
        """
        return max(0, limit - self._state.leased + self._left)

    def next_extra(self, limit: int) -> int:
        """Return the spare tokens to lease: up to an equal share of the budget, if it is free."""
        free = spare_budget(limit) - max(0, self._state.spare - self._spent_spare)
        share = -(-spare_budget(limit) // (self.environments or _EXPECTED))
        return max(0, min(share - self._left, free, limit - self._state.leased - 1))

    @property
    def _spent_spare(self) -> int:
        """Spare tokens that are spent and not returned."""
        return max(0, self._unreturned_spare - self._left)

    def _spend(self, limit: int) -> bool:
        """Take one of the tokens that this environment holds."""
        if self._left == 0 or self.is_exhausted(limit):
            return False
        self._left -= 1
        return True

    def _request_lease(self, limit: int, extra: int, lease: Lease) -> bool:
        returned = self._spent_spare
        request = LeaseRequest(limit, extra, returned, is_first=self._is_new)
        self._unreturned_spare -= returned
        result = lease(request)
        self._state = result.state
        self._limit = limit
        if not result.granted:
            self._unreturned_spare += request.returned
            return False
        self._is_new = False
        self._left += extra
        self._unreturned_spare += extra
        return True
