"""Refused actions on transfer orders name the status, and change nothing."""

import pytest

from tests.gateway import Erp
from tests.people import add_user
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import PATH, TransferScenario

PICK = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}


WRONG_ARRIVALS: list[tuple[dict[str, object], str]] = [
    ({"item_code": "SAND"}, "item_code"),
    ({"item_code": "NAIL"}, "item_code"),
    ({"item_code": None}, "item_code"),
    ({"qty": 0}, "qty"),
    ({"qty": -1}, "qty"),
    ({"qty": 1e30}, "qty"),
    ({"qty": 0.0000001}, "qty"),
    ({"bin_code": "Z-99"}, "bin_code"),
    ({"bin_code": "X-01"}, "bin_code"),
    ({"bin_code": "D-01"}, "bin_code"),
    ({"bin_code": "Y-ONLY"}, "bin_code"),
    ({"batch": "L1"}, "batch"),
    ({"serials": ["S1"]}, "serials"),
    ({"item_code": "CEMENT"}, "batch"),
    ({"item_code": "DRILL"}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1"]}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1", "S1"]}, "serials.1"),
    ({"item_code": "DRILL", "serials": ["S9"]}, "serials.0"),
    ({"item_code": "DRILL", "qty": 31, "serials": [f"S{n}" for n in range(31)]}, "serials"),
]


def test_picker_is_required_only_when_a_client_releases(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    first, second = (transfer_scenario.draft(("BRICK", 1)).id for _ in range(2))
    add_user(31, "Ana Núñez")
    add_user(9, "Bo Lind")
    ana = Erp(stack.gateway, stack.user_token(permissions="transfer-orders.manage", sub="31"))

    refused = transfer_scenario.act(first, "release")
    released = ana.post(f"{PATH}/{first}/release")
    named = transfer_scenario.done(second, "release", picker_id=9)

    assert list(refused.problems) == ["picker_id"]
    assert released.status == 200
    operators = [
        transfer_scenario.erp.get(f"/pickings/{order['picking_id']}").data["operator"]
        for order in (released.data, named)
    ]
    assert operators == [{"id": 31, "name": "Ana Núñez"}, {"id": 9, "name": "Bo Lind"}]


@pytest.fixture
def underway(transfer_scenario: TransferScenario) -> tuple[TransferScenario, int]:
    """An order in transit: 4 bricks, 3 cement of batch L1, and the drills S1 and S2."""
    transfer_scenario.erp.post("/products", {"item_code": "NAIL", "name": "Nail"})
    transfer_scenario.erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "Y-ONLY"})
    transfer_scenario.yard.stock("BRICK", 9)
    transfer_scenario.yard.stock("CEMENT", 9, batch="L1")
    transfer_scenario.yard.stock_serials("S1", "S2", "S9")
    number = transfer_scenario.order(("BRICK", 4), ("CEMENT", 3), ("DRILL", 2))
    transfer_scenario.pick(number, "BRICK", 4)
    transfer_scenario.pick(number, "CEMENT", 3, batch="L1")
    transfer_scenario.pick(number, "DRILL", 2, serials=["S1", "S2"])
    transfer_scenario.done(number, "dispatch")
    return transfer_scenario, number


def test_invalid_arrival_is_refused_and_changes_nothing(
    underway: tuple[TransferScenario, int], stack: Stack
) -> None:
    transfer_scenario, number = underway
    with stack.unchanged():
        for line, field in WRONG_ARRIVALS:
            right = {"item_code": "BRICK", "qty": 1}
            found = transfer_scenario.receive(number, right, {**right, **line}).problems
            assert f"lines.1.{field}" in found, line
            assert all(name.startswith("lines.1.") for name in found), line
        for body, fields in (
            ({}, {"lines"}),
            ({"lines": []}, {"lines"}),
            ({"final": False}, {"lines"}),
            (
                {"final": 1, "lines": [{"qty": 0}]},
                {"final", "lines.0.item_code", "lines.0.qty", "lines.0.bin_code"},
            ),
        ):
            assert set(transfer_scenario.act(number, "receive", **body).problems) == fields


def test_receiving_more_than_in_transit_is_refused(
    underway: tuple[TransferScenario, int], stack: Stack
) -> None:
    transfer_scenario, number = underway
    transfer_scenario.receive(number, {"item_code": "DRILL", "qty": 1, "serials": ["S1"]})
    with stack.unchanged():
        answer = transfer_scenario.receive(
            number,
            {"item_code": "BRICK", "qty": 3},
            {"item_code": "BRICK", "qty": 2},
            {"item_code": "CEMENT", "qty": 1, "batch": "L2"},
            {"item_code": "DRILL", "qty": 1, "serials": ["S1"]},
        )
        assert (answer.status, answer.code) == (409, "conflict")
        assert answer.conflicts == {
            "lines.1.qty": "2 of BRICK received, 1 in transit",
            "lines.2.qty": "1 of CEMENT, batch L2 received, 0 in transit",
            "lines.3.serials": "serial S1 of DRILL is not in transit",
        }
        assert answer.json()["message"] == (
            "More is received than TO-1 has in transit: 2 of BRICK received, 1 in transit;"
            " 1 of CEMENT, batch L2 received, 0 in transit; serial S1 of DRILL is not in transit."
        )
    assert_invariants(stack.store())


def test_pick_that_was_not_allocated_changes_nothing(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 9)
    transfer_scenario.yard.stock("BRICK", 9, "B-01")
    transfer_scenario.yard.stock_serials("S1", "S2")
    number = transfer_scenario.order(("BRICK", 4), ("DRILL", 1))
    with stack.unchanged():
        for body, field in (
            ({"qty": 5}, "qty"),
            ({"bin_code": "B-01"}, "bin_code"),
            ({"item_code": "CEMENT"}, "item_code"),
            ({"item_code": "DRILL"}, "serials"),
            ({"item_code": "DRILL", "serials": ["S9"]}, "serials"),
        ):
            answer = transfer_scenario.act(number, "picks", **{**PICK, **body})
            assert list(answer.problems) == [field]
