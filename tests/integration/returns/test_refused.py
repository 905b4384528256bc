"""Refused requests on returns name every problem, and change nothing."""

from typing import Any

import pytest

from tests.cases import each_case
from tests.return_scenario import ReturnScenario
from tests.stack import Stack


def test_every_problem_of_a_new_return_is_reported(scenario: ReturnScenario) -> None:
    answer = scenario.erp.post(
        "/returns",
        {
            "exit_document_id": 999,
            "external_ref": "",
            "warehouse_code": "MOON",
            "lines": [
                {"item_code": "NONE", "qty": 1, "reason": "bored"},
                {"item_code": "BRICK", "qty": 0, "batch": "L1", "external_ref": "1"},
                {"item_code": "DRILL", "qty": 2, "serials": ["S-1"], "external_ref": "1"},
                {"item_code": "HAULAGE", "qty": 1},
            ],
        },
    )
    assert set(answer.problems) == {
        "external_ref", "lines.0.reason", "lines.1.qty", "exit_document_id", "warehouse_code",
        "lines.0.item_code", "lines.1.batch", "lines.2.serials", "lines.3.item_code",
        "lines.2.external_ref",
    }  # fmt: skip
    assert answer.code == "validation_failed"


def test_more_than_was_dispatched_is_refused_with_the_quantities(
    scenario: ReturnScenario, stack: Stack
) -> None:
    scenario.expected(("BRICK", 7))
    with stack.unchanged():
        answer = scenario.draft(("BRICK", 2), ("BRICK", 2), ("CEMENT", 5), ("DRILL", 3.0))

    assert answer.blocked == {
        "lines.1.qty": f"4 of BRICK to return; 10 dispatched with EX-{scenario.order}, 7 returned,"
        " 3 left"
    }


def test_serial_that_did_not_leave_or_came_back_is_refused(scenario: ReturnScenario) -> None:
    scenario.yard.stock("DRILL", 1, serial="S-9")
    scenario.expected(
        lines=[{"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}],
    )

    answer = scenario.draft(
        lines=[{"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-9"]}],
    )

    assert answer.blocked == {
        "lines.0.serials.0": "serial S-1 of DRILL was returned already",
        "lines.0.serials.1": f"serial S-9 of DRILL did not leave with EX-{scenario.order}",
    }


def test_serial_that_a_return_has_received_is_not_received_by_it_again(
    scenario: ReturnScenario,
) -> None:
    scenario.yard.change_settings(blind_returns=True)
    blind = {"exit_document_id": None, "warehouse_code": "YARD", "partner_code": "C-1"}
    announced = [{"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"]}]
    unnamed = [{"item_code": "DRILL", "qty": 2}]
    for serial, lines, more in (("S-3", unnamed, blind), ("S-1", announced, {})):
        drill = {"item_code": "DRILL", "qty": 1, "serials": [serial]}
        quarantined = {"inventory_status": "quarantine", "serial": serial}
        number = scenario.expected(lines=lines, **more)
        scenario.receive(number, drill).ok()
        scenario.yard.adjust("DRILL", "B-01", **quarantined, decrease=1).ok(201)

        answer = scenario.receive(number, drill)

        assert answer.blocked == {
            "lines.0.serials.0": f"serial {serial} of DRILL was received with RT-{number} already"
        }


def test_document_that_is_not_dispatched_has_nothing_to_return(scenario: ReturnScenario) -> None:
    scenario.yard.stock("BRICK", 5)
    order = scenario.yard.order(("BRICK", 5))
    scenario.yard.picked(order, qty=5)

    answer = scenario.draft(("BRICK", 1), exit_document_id=order)

    assert "0 dispatched" in answer.blocked["lines.0.qty"]


@each_case(
    ("allowed", "body", "code", "fields"),
    [
        (False, {"warehouse_code": "YARD", "partner_code": "C-1"}, "rule_blocked",
         {"exit_document_id"}),
        (False, {}, "validation_failed",
         {"exit_document_id", "warehouse_code", "partner_code"}),
        (True, {"warehouse_code": "YARD"}, "validation_failed", {"partner_code"}),
    ],
)  # fmt: skip
def test_blind_return_needs_the_setting_and_its_fields(
    scenario: ReturnScenario, *, allowed: bool, body: dict[str, Any], code: str, fields: set[str]
) -> None:
    scenario.yard.change_settings(blind_returns=allowed)
    answer = scenario.draft(("BRICK", 100), exit_document_id=None, **body)
    assert set(answer.blocked if code == "rule_blocked" else answer.problems) == fields


def test_every_problem_of_an_arrival_is_reported(scenario: ReturnScenario, stack: Stack) -> None:
    number = scenario.expected(("BRICK", 1), ("CEMENT", 1), ("DRILL", 1))
    with stack.unchanged():
        answer = scenario.receive(
            number,
            {"qty": 1, "bin_code": "D-01"},
            {"qty": 1, "item_code": "CEMENT", "bin_code": "X-01"},
            {"qty": 1, "item_code": "DRILL", "bin_code": "NONE"},
            {"qty": 1, "item_code": "HAULAGE", "serials": ["S-1"]},
            {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]},
            {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]},
            {"qty": 1, "item_code": "CEMENT", "batch": "L2", "expiry_date": "2030-01-01"},
            {"qty": -1, "item_code": "CEMENT", "batch": "L2", "expiry_date": "2030-01-02"},
        )

    assert set(answer.problems) == {
        "lines.7.qty", "lines.0.bin_code", "lines.1.bin_code", "lines.1.batch", "lines.2.bin_code",
        "lines.2.serials", "lines.3.item_code", "lines.5.serials.0", "lines.6.batch",
        "lines.7.expiry_date",
    }  # fmt: skip


def test_arrival_that_the_stock_refuses_changes_nothing(
    scenario: ReturnScenario, stack: Stack
) -> None:
    first = scenario.expected(("DRILL", 1))
    scenario.receive(first, {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]}).ok()
    scenario.yard.stock("CEMENT", 1, batch="L1")
    scenario.yard.change_settings(blind_returns=True)
    blind = {"exit_document_id": None, "warehouse_code": "YARD", "partner_code": "C-1"}
    number = scenario.expected(("DRILL", 1), ("CEMENT", 1), **blind)
    with stack.unchanged():
        answer = scenario.receive(
            number,
            {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]},
            {"qty": 1, "item_code": "CEMENT", "batch": "L1", "expiry_date": "2031-01-01"},
        )
        assert set(answer.problems) == {"lines.0.serials.0", "lines.1.expiry_date"}

        answer = scenario.receive(
            number,
            {"qty": 1, "item_code": "DRILL", "serials": ["S-1"], "bin_code": "X-01"},
            {"qty": 1, "item_code": "DRILL", "serials": ["S-2", "S-3"]},
        )
        assert set(answer.problems) == {"lines.0.bin_code", "lines.0.serials.0", "lines.1.serials"}


def test_more_than_announced_is_received_within_what_was_dispatched(
    scenario: ReturnScenario,
) -> None:
    other, number = scenario.expected(("BRICK", 6)), scenario.expected(("BRICK", 1))
    assert scenario.receive(number, {"qty": 4}).status == 200

    answer = scenario.receive(number, {"qty": 1})
    assert answer.blocked["lines.0.qty"].endswith("6 returned, 4 left")
    assert scenario.receive(other, {"qty": 2}).status == 200
    scenario.done(other, "finish")
    assert scenario.receive(number, {"qty": 4}).status == 200, "the short finish frees 4"
    scenario.done(number, "finish")
    assert scenario.draft(("BRICK", 1)).code == "rule_blocked"


def test_cancelled_return_reserves_nothing(scenario: ReturnScenario) -> None:
    whole = [{"item_code": "DRILL", "qty": 3, "serials": ["S-1", "S-2", "S-3"]}]
    number = scenario.expected(lines=whole)
    assert scenario.draft(lines=whole).code == "rule_blocked"
    scenario.done(number, "cancel")
    scenario.expected(lines=whole)


def test_other_serials_than_announced_are_received_if_they_left(scenario: ReturnScenario) -> None:
    number = scenario.expected(lines=[{"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}])
    other = {"qty": 1, "item_code": "DRILL", "serials": ["S-3"]}
    assert scenario.receive(number, other).status == 200
    assert (
        scenario.draft(lines=[{"item_code": "DRILL", "qty": 1, "serials": ["S-3"]}]).code
        == "rule_blocked"
    )
    refused = scenario.receive(number, {"qty": 1, "item_code": "DRILL", "serials": ["S-9"]})
    assert refused.code == "rule_blocked"
    scenario.done(number, "finish")
    scenario.expected(lines=[{"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}])


def test_every_problem_of_dispositions_is_reported(scenario: ReturnScenario, stack: Stack) -> None:
    number = scenario.received(
        {"qty": 2},
        {"qty": 2, "item_code": "CEMENT", "batch": "L1"},
        {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]},
    )
    with stack.unchanged():
        answer = scenario.decide(
            number,
            {"qty": 1, "action": "burn"},
            {"qty": 1, "action": "scrap", "bin_code": "B-01"},
            {"qty": 1, "action": "restock", "bin_code": "X-01"},
            {"qty": 1, "action": "restock", "item_code": "HAULAGE"},
            {"qty": 1, "action": "restock", "item_code": "CEMENT"},
            {"qty": 1, "action": "scrap", "item_code": "DRILL"},
        )
        assert set(answer.problems) == {
            "lines.0.action", "lines.1.bin_code", "lines.2.bin_code", "lines.3.item_code",
            "lines.4.batch", "lines.5.serials",
        }  # fmt: skip
        answer = scenario.decide(
            number,
            {"qty": 1, "action": "scrap"},
            {"qty": 2, "action": "quarantine"},
            {"qty": 1, "action": "scrap", "item_code": "CEMENT", "batch": "L2"},
            {"qty": 1, "action": "scrap", "item_code": "DRILL", "serials": ["S-2"]},
        )
        assert set(answer.problems) == {"lines.1.qty", "lines.2.qty", "lines.3.serials.0"}
        answer = scenario.decide(
            number,
            {"qty": 2, "action": "restock", "bin_code": "X-01"},
            {"qty": 1, "action": "scrap", "bin_code": 5},
            {"qty": 1, "action": "burn"},
            {"qty": 1, "action": "scrap", "item_code": "HAULAGE"},
            {"qty": 3, "action": "quarantine", "item_code": "CEMENT", "batch": "L1"},
        )
        assert set(answer.problems) == {
            "lines.0.bin_code", "lines.1.bin_code", "lines.1.qty", "lines.2.action",
            "lines.3.item_code", "lines.4.qty",
        }, "goods are counted in the lines that name theirs"  # fmt: skip
        answer = scenario.decide(number, *[{"qty": 9, "action": "burn"}] * 7)
        assert set(answer.problems) == {"lines"}


def test_expired_goods_are_received_and_not_restocked(scenario: ReturnScenario) -> None:
    correction = {
        "item_code": "CEMENT",
        "batch": "L1",
        "expiry_date": "2020-01-31",
        "reason": "Old",
    }
    number = scenario.expected(("CEMENT", 3))
    assert scenario.receive(number, {"qty": 3, "item_code": "CEMENT", "batch": "L1"}).status == 200
    assert scenario.erp.post("/stock-adjustments", correction, key="k").status in {200, 201}
    scenario.done(number, "finish")
    goods = {"qty": 1, "item_code": "CEMENT", "batch": "L1"}

    assert set(scenario.decide(number, {**goods, "action": "restock"}).problems) == {
        "lines.0.action"
    }
    assert scenario.decide(number, {**goods, "action": "return_to_provider"}).status == 200
    assert scenario.decide(number, {**goods, "qty": 2, "action": "scrap"}).status == 200


@pytest.mark.parametrize("action", ["restock", "quarantine", "scrap", "return_to_provider"])
def test_goods_that_left_quarantine_are_not_decided_on(
    scenario: ReturnScenario, stack: Stack, action: str
) -> None:
    number = scenario.received({"qty": 2}, {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]})
    found = {"inventory_status": "quarantine", "to_status": "damaged"}
    scenario.yard.adjust("BRICK", "B-01", **found, qty=1).ok(201)
    scenario.yard.adjust("DRILL", "B-01", **found, serial="S-1").ok(201)
    with stack.unchanged():
        for line in (
            {"qty": 2, "action": action},
            {"qty": 1, "item_code": "DRILL", "serials": ["S-1"], "action": action},
        ):
            answer = scenario.decide(number, line)
            assert (answer.status, answer.code) == (409, "conflict"), answer.text
    assert scenario.decide(number, {"qty": 1, "action": action}).status == 200


def test_request_with_too_many_goods_is_refused(scenario: ReturnScenario) -> None:
    serials = [f"X-{number}" for number in range(20)]
    scenario.yard.change_settings(blind_returns=True)
    number = scenario.expected(
        ("DRILL", 20), exit_document_id=None, warehouse_code="YARD", partner_code="C-1"
    )
    line = {"item_code": "DRILL", "qty": 20, "serials": serials}
    answer = scenario.receive(number, line, {"item_code": "DRILL", "qty": 1, "serials": ["Y"]})
    assert set(answer.problems) == {"lines"}
    assert scenario.receive(number, line).status == 200
