"""Undo of received goods of a return."""

import pytest

from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.between_calls import before_each_call
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

BRICKS = {"item_code": "BRICK", "qty": 3, "bin_code": "B-01"}
DRILL = {"item_code": "DRILL", "qty": 1, "serials": ["S-1"], "bin_code": "B-01"}


def test_goods_leave_the_stock_and_the_return_is_expected_again(
    scenario: ReturnScenario, stack: Stack
) -> None:
    number = scenario.expected(("BRICK", 2), ("BRICK", 2), ("DRILL", 1))
    scenario.receive(number, {**BRICKS, "qty": 6}, DRILL).ok()

    shown = scenario.done(number, "lines/undo", lines=[BRICKS])
    assert [line["received_qty"] for line in shown["lines"]] == [2, 1, 1]
    assert scenario.stock("BRICK") == [("B-01", "quarantine", 3)]
    scenario.done(number, "lines/undo", lines=[BRICKS])
    shown = scenario.done(number, "lines/undo", lines=[DRILL])

    assert (shown["status"], shown["operator"]) == ("expected", None)
    moved = scenario.erp.walk("/stock-movements", document_type="return", document_id=number)
    assert {row["type"] for row in moved} == {"return_receipt", "receipt_undone"}
    scenario.receive(number, DRILL).ok()
    assert_invariants(stack.store())
    other = scenario.expected(("BRICK", 6))
    assert scenario.act(other, "lines/undo", lines=[BRICKS]).code == "conflict"


def test_only_received_goods_that_are_still_there_are_undone(
    scenario: ReturnScenario, stack: Stack
) -> None:
    number = scenario.expected(("BRICK", 3), ("DRILL", 1))
    scenario.receive(number, BRICKS, DRILL).ok()
    found = {"inventory_status": "quarantine", "to_status": "damaged"}
    scenario.yard.adjust("BRICK", "B-01", **found, qty=1).ok(201)
    scenario.yard.adjust("DRILL", "B-01", **found, serial="S-1").ok(201)
    with stack.unchanged():
        more = [{**BRICKS, "qty": 4}, {**DRILL, "serials": ["S-2"]}, {**BRICKS, "bin_code": "Z"}]
        answer = scenario.act(number, "lines/undo", lines=more)
        assert set(answer.problems) == {"lines.0.qty", "lines.1.serials.0", "lines.2.bin_code"}
        for line in (BRICKS, DRILL):
            answer = scenario.act(number, "lines/undo", lines=[line])
            assert answer.code == "conflict"
            assert "damaged at YARD B-01" in answer.text


@pytest.mark.parametrize(
    ("path", "line"),
    [("lines/undo", BRICKS), ("dispositions", {"item_code": "BRICK", "qty": 3, "action": "scrap"})],
)
def test_goods_that_another_request_takes_are_refused_by_the_return_as_it_is_then(
    scenario: ReturnScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    path: str,
    line: dict[str, object],
) -> None:
    number = scenario.expected(("BRICK", 4))
    scenario.receive(number, {**BRICKS, "qty": 4}).ok()
    if path == "dispositions":
        scenario.done(number, "finish")
    answers: list[Response] = []

    def take() -> Response:
        return scenario.act(number, path, lines=[line])

    for meanwhile in before_each_call(
        stack, aws_faults, lambda: answers.append(take()), take,
        family=f"goods taken by {path}", every=1, at_least=3,
    ):  # fmt: skip
        meanwhile.ok()
        assert set(answers[-1].problems) == {"lines.0.qty"}, answers[-1].text
