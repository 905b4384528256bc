"""The lease of a tenant's table while another operator holds it."""

import pytest

from operations.table_lease import Lease, Work
from tests.clock import Clock

OTHER_OPERATOR = "arn:aws:iam::1:user/ana"


def hold_lease(task: Work, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the lease of acme as another operator, who keeps it whenever somebody waits."""
    lease, advance = Lease("acme", task, by=OTHER_OPERATOR), clock.advance
    assert lease.take()

    def sleep(seconds: float) -> None:
        advance(seconds)
        lease.keep()

    monkeypatch.setattr(clock, "sleep", sleep)
