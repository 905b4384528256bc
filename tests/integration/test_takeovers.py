"""A request and its repeats are alive at once, and calls are so slow that claims end meanwhile."""

import pytest

from shared.identity.tenancy.directory import directory
from shared.kernel.db import claim
from shared.kernel.db.claim import LEASE_MS
from tests import faults, interleaving
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.call_faults import at_calls
from tests.integration.repeated_requests import (
    RepeatedRequest,
    assert_done_once,
    repeated_requests,
)
from tests.integration.write_routes import EXAMPLES
from tests.interleaving import Scheduler, seeds
from tests.stack import Stack

_BULK = "POST /warehouse-positions/bulk"
_ROUTES = (
    "DELETE /products/{id}",
    "POST /exit-documents/{id}/dispatch",
    "POST /pickings",
    "POST /pickings/{id}/cancel",
    "POST /pickings/{id}/picks",
    "POST /receipts/{id}/lines",
    "POST /receipts/{id}/revert",
    "POST /transfer-orders",
    "POST /transfer-orders/{id}/close",
    "POST /transfer-orders/{id}/dispatch",
    "POST /transfer-orders/{id}/picks",
    "POST /transfer-orders/{id}/release",
    _BULK,
    "POST /waves",
    "POST /waves/{id}/release",
)
"""Operations of several transactions."""
_REQUESTS = 3
_CALL_SECONDS = 1.5


@pytest.fixture
def scheduler(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """A scheduler of slow calls; steps are as small as possible."""
    assert stack
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    monkeypatch.setattr(directory, "_clock", lambda: 0.0)
    monkeypatch.setattr(interleaving, "_CALL_SECONDS", _CALL_SECONDS)
    return Scheduler(faults.install(monkeypatch), monkeypatch)


@pytest.mark.parametrize("route", _ROUTES)
def test_write_takes_effect_once_while_repeats_overtake_each_other(
    route: str, stack: Stack, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims are written before the reads of their requests and after them, in turn."""
    requests = repeated_requests(route, stack)
    next(requests).send()  # fill the caches of the environment
    for seed in seeds(interleaving.DEFAULT_SEED_COUNT):
        request = next(requests)
        with monkeypatch.context() as patch:
            if seed % 2:
                patch.setattr(claim, "start", faults.LateClaim)
            answers = scheduler.run([request.send] * _REQUESTS, seed)
        _assert_right(request, stack, answers)


def _assert_right(request: RepeatedRequest, stack: Stack, answers: list[Response]) -> None:
    done = [one for one in answers if one.status == request.example.status]
    others = {one.code for one in answers if one not in done}
    assert others <= {"duplicate_in_flight", "service_unavailable"}
    last = done[0] if done else request.send()
    assert {one.text for one in done} <= {last.text}
    assert_done_once(request, stack, last)


@pytest.mark.parametrize("transaction", [0, 1, 2])
def test_overtaken_request_commits_no_further_step(
    erp: Erp, aws_faults: AwsFaults, clock: Clock, monkeypatch: pytest.MonkeyPatch, transaction: int
) -> None:
    """A user deletes what the repeat has created; the first request does not create it again."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    EXAMPLES[_BULK].prepared(erp)
    body, repeats = EXAMPLES[_BULK].body, list[Response]()

    def overtake() -> None:
        clock.advance(LEASE_MS / 1000)
        repeats.append(erp.post("/warehouse-positions/bulk", body, key="bulk"))
        for position in erp.walk("/warehouse-positions"):
            assert erp.delete(f"/warehouse-positions/{position['id']}").status == 200

    with aws_faults.faulty(at_calls("TransactWriteItems", [transaction], before=overtake)):
        first = erp.post("/warehouse-positions/bulk", body, key="bulk")

    assert (first.status, first.text) == (repeats[0].status, repeats[0].text)
    assert erp.walk("/warehouse-positions") == []
