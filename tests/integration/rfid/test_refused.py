"""Requests that are refused, and what a packing order needs before it is completed."""

from typing import Any

import pytest

from shared.warehouse.rfid.models import MAX_TAGS
from tests.cases import each_case
from tests.integration.conftest import BeforeNextCommit
from tests.rfid_scenario import PATH, RfidScenario, bricks
from tests.stack import Stack

_SUBJECT = {"packing_order_id": 1}
_TAGS = bricks(1)


@each_case(
    "case",
    [
        ({"epcs": _TAGS}, ["packing_order_id"]),
        ({**_SUBJECT, "picking_id": 1, "epcs": _TAGS}, ["packing_order_id", "picking_id"]),
        ({**_SUBJECT, "picking_id": "1", "epcs": _TAGS}, ["picking_id", "packing_order_id"]),
        ({"packing_order_id": 99, "epcs": _TAGS}, ["packing_order_id"]),
        ({"handling_unit_id": 99, "epcs": []}, ["epcs", "handling_unit_id"]),
        ({"handling_unit_id": 1, "epcs": _TAGS}, ["handling_unit_id"]),
        ({"picking_id": 99, "epcs": _TAGS}, ["picking_id"]),
        ({"receipt_id": 99, "epcs": _TAGS}, ["receipt_id"]),
        ({"return_id": 99, "epcs": _TAGS}, ["return_id"]),
        ({**_SUBJECT, "epcs": _TAGS * (MAX_TAGS + 1)}, ["epcs"]),
        ({**_SUBJECT, "epcs": [*_TAGS, "", 5, "x" * 129, "3\u0660", "30\n"]},
         [f"epcs.{at}" for at in range(1, 6)]),
    ],
)  # fmt: skip
def test_an_invalid_validation_is_refused(
    gate: RfidScenario, stack: Stack, case: tuple[dict[str, Any], list[str]]
) -> None:
    packing = gate.packing
    if not gate.erp.get("/packing-orders").data:
        order = packing.staged_order(("BRICK", 1))
        gate.erp.delete(f"/handling-units/{packing.unit(order)}")
    before = stack.event_count()

    answer = gate.erp.post(PATH, case[0])

    assert answer.invalid_fields == case[1]
    assert (gate.erp.get(PATH).data, stack.event_count()) == ([], before)


@each_case("subject", ["packing_order", "packing_order:0", "PK-1", "wave:1", "receipt:1:2", ""])
def test_a_filter_by_another_subject_is_refused(gate: RfidScenario, subject: str) -> None:
    answer = gate.erp.get(PATH, query={"subject": subject})
    assert list(answer.problems) == ["subject"]
    assert answer.problems["subject"].startswith("must "), answer.text


def test_a_packing_order_is_completed_after_a_validation_since_its_last_change(
    gate: RfidScenario,
) -> None:
    packing = gate.packing
    gate.yard.change_settings(rfid_required=True)
    order = packing.staged_order(("BRICK", 3))
    unit = packing.unit(order)
    subject = {"packing_order_id": order}
    packing.done(packing.put(unit, "BRICK", 2))
    packing.done(packing.act(unit, "close"))

    def refused(**body: object) -> None:
        answer = packing.complete(order, **body)
        assert (answer.status, answer.code) == (409, "conflict"), answer.text

    refused(short=True, reason="One is broken")
    assert gate.result(subject, *bricks(1))["result"] == "failed"
    assert gate.result({"handling_unit_id": unit}, *bricks(1, 2))["result"] == "passed"
    refused(short=True, reason="One is broken")
    assert gate.result(subject, *bricks(1, 2))["result"] == "passed"
    packing.done(packing.act(unit, "reopen"))
    packing.done(packing.act(unit, "close"))
    refused(short=True, reason="One is broken")
    assert gate.result(subject, *bricks(1, 2))["result"] == "passed"
    assert gate.result(subject, *bricks(1))["result"] == "failed"
    refused()
    packing.done(packing.complete(order, short=True, reason="One is broken"))


@pytest.mark.parametrize("change", ["close", "contents"])
def test_a_validation_of_an_order_that_changes_meanwhile_is_of_the_state_it_has_then(
    gate: RfidScenario, before_next_commit: BeforeNextCommit, change: str
) -> None:
    packing = gate.packing
    gate.yard.change_settings(rfid_required=True)
    order = packing.staged_order(("BRICK", 2))
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 1))
    body = {"item_code": "BRICK", "qty": 1} if change == "contents" else {}
    changed = before_next_commit(lambda: packing.act(unit, change, **body))

    found = gate.result({"packing_order_id": order}, *bricks(1))

    assert changed[0].status == 200
    assert found["result"] == ("passed" if change == "close" else "failed")
    if change == "contents":
        packing.done(packing.act(unit, "close"))
    answer = packing.complete(order, short=True, reason="Later")
    assert answer.status == (200 if change == "close" else 409)
