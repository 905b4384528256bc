"""Open work that explains differences: the newest without acknowledgement, of one position."""

from itertools import count

import pytest

from shared.integration.reconciliations import open_work
from tests.clock import Clock
from tests.faults import AwsFaults, Call, before_each
from tests.reconciliation_scenario import ReconciliationScenario, line


def _transfer(erp: ReconciliationScenario, *, acknowledged: bool = False) -> int:
    """Move one brick to the other warehouse."""
    api = erp.feed.webhooks.erp
    moved = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "A-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "SHOP", "lines": [moved]}
    number = int(api.post("/transfers", body).ok(201)["id"])
    if acknowledged:
        answer = {"sap_status": "success", "doc_entry": number}
        api.post(f"/transfers/{number}/acknowledge", answer).ok()
    return number


def test_acknowledged_transfers_do_not_hide_older_ones(
    erp: ReconciliationScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_work, "_PAGE", 1)
    monkeypatch.setattr(open_work, "MAX_WORKS", 2)
    waiting = []
    for acknowledged in (False, False, False, True, True, True):
        clock.advance(1)
        number = _transfer(erp, acknowledged=acknowledged)
        waiting += [] if acknowledged else [number]
    erp.relay()
    [found] = erp.reconcile(line("BRICK", 10)).differences
    assert [one.id for one in found.open_work] == waiting[-2:]
    monkeypatch.setattr(open_work, "MAX_TRANSFERS", 4)
    [found] = erp.reconcile(line("BRICK", 10)).differences
    assert [one.id for one in found.open_work] == waiting[-1:]


def test_the_newest_of_each_kind_are_looked_at(
    erp: ReconciliationScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_work, "_PAGE", 2)
    monkeypatch.setattr(open_work, "MAX_WORKS", 3)
    for qty in (1, 2, 1, 2):
        clock.advance(1)
        erp.yard.dispatched(BRICK={"qty": qty})
    erp.relay()
    [found] = erp.reconcile(line("BRICK", 10)).differences
    assert [int(one.qty) for one in found.open_work] == [-2, -1, -2]


def test_work_is_that_of_the_position_although_more_ends_meanwhile(
    erp: ReconciliationScenario,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pickings are dispatched and transfers made before each call, some not relayed yet."""
    monkeypatch.setattr(open_work, "_PAGE", 1)
    erp.yard.stock("BRICK", 90)
    for _ in range(3):
        clock.advance(1)
        erp.yard.dispatched(BRICK={"qty": 1})
        _transfer(erp)
    erp.relay()
    turns = count()

    def work(_call: Call) -> None:
        turn = next(turns)
        if turn < 30:
            clock.advance(0.1)
            if turn % 2:
                erp.yard.dispatched(BRICK={"qty": 1})
            else:
                _transfer(erp)
        if turn % 3 == 2:
            erp.relay()

    with aws_faults.faulty(before_each(work)):
        [found] = erp.reconcile(line("BRICK", 100)).differences
    names = [(one.object, one.id) for one in found.open_work]
    assert len(set(names)) == len(names) == found.open_work_total
    assert next(turns) > 15
    assert (found.explained, sum(one.qty for one in found.open_work)) == (True, found.difference)
