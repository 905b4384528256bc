"""What a transfer order does not allow is refused with its state, and nothing changes."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.stack import Stack
from tests.stock_invariants import prove
from tests.transfer_scenario import PATH, TransferScenario

ACTS: dict[str, dict[str, Any]] = {
    "release": {"picker_id": 7},
    "picks": {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"},
    "finish-picking": {},
    "dispatch": {},
    "receive": {"lines": [{"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}]},
    "close": {"reason": "Lost"},
    "cancel": {},
}
WAY = (
    "draft", "released", "picking", "picked", "in_transit", "receiving", "received", "closed",
)  # fmt: skip
NEEDS = {
    "release": ("draft",),
    "picks": ("released", "picking"),
    "finish-picking": ("picking",),
    "dispatch": ("picked",),
    "receive": ("in_transit", "receiving"),
    "close": ("received",),
    "cancel": ("draft", "released", "picking"),
}
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "draft": ("release", ACTS["release"]),
    "released": ("picks", ACTS["picks"]),
    "picking": ("finish-picking", {}),
    "picked": ("dispatch", {}),
    "in_transit": (
        "receive",
        {"lines": [{"item_code": "BRICK", "qty": 0.5, "bin_code": "A-01"}]},
    ),
    "receiving": ("receive", {"final": True}),
    "received": ("close", {"reason": "Lost"}),
}
"""How an order of 4 bricks, of which one is picked, comes out of each state."""


def stored(stack: Stack) -> list[Any]:
    """All that is stored but the numbers drawn for what was not made."""
    return [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]


def problems(answer: Response) -> dict[str, str]:
    assert answer.status == 422, answer.text
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def _ensure_refused(transfer_scenario: TransferScenario, number: int, state: str) -> None:
    """Every act that the state does not allow is refused, with the state in its message."""
    for act, allowed in NEEDS.items():
        if state in allowed:
            continue
        answer = transfer_scenario.act(number, act, **ACTS[act])
        further = state == "cancelled" or WAY.index(state) > max(map(WAY.index, allowed))
        assert (answer.status, answer.code) == (409, "stale_state" if further else "conflict"), act
        assert f"TO-{number} is {state};" in answer.json()["message"]


def test_every_state_allows_what_leads_on_and_no_more(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.draft(("BRICK", 4)).data["id"]

    for state in WAY:
        before, events = stored(stack), len(stack.events())
        _ensure_refused(transfer_scenario, number, state)
        assert (stored(stack), len(stack.events())) == (before, events)
        if state in STEPS:
            act, body = STEPS[state]
            transfer_scenario.done(number, act, **body)
    assert transfer_scenario.shown(number)["status"] == "closed"
    prove(stack.store())


def test_a_cancelled_order_allows_nothing(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    number = transfer_scenario.draft(("BRICK", 4)).data["id"]
    transfer_scenario.done(number, "cancel")

    _ensure_refused(transfer_scenario, number, "cancelled")
    prove(stack.store())


def test_its_picking_is_not_worked_on_by_itself(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    picking = transfer_scenario.shown(transfer_scenario.order(("BRICK", 4)))["picking_id"]
    before = stored(stack)

    for act, body in (
        ("start", None), ("picks", ACTS["picks"]), ("finalize", {}), ("cancel", None),
        ("revert", None),
    ):  # fmt: skip
        answer = transfer_scenario.erp.post(f"/pickings/{picking}/{act}", body)
        assert (answer.status, answer.code) == (409, "conflict")
    assert stored(stack) == before


def test_only_a_client_that_releases_must_name_the_picker(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    first, second = (
        transfer_scenario.draft(("BRICK", 1)).data["id"],
        transfer_scenario.draft(("BRICK", 1)).data["id"],
    )
    token = stack.user_token(permissions="transfer-orders.manage", sub="31")
    ana = Erp(stack.gateway, token)

    refused = transfer_scenario.act(first, "release")
    released = ana.post(f"{PATH}/{first}/release")
    named = transfer_scenario.done(second, "release", picker_id=9)

    assert list(problems(refused)) == ["picker_id"]
    assert released.status == 200
    operators = [
        transfer_scenario.erp.get(f"/pickings/{order['picking_id']}").data["operator"]
        for order in (released.data, named)
    ]
    assert operators == [{"id": 31, "name": None}, {"id": 9, "name": None}]


def test_acts_need_their_permission_and_their_module(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    number = transfer_scenario.draft(("BRICK", 1)).data["id"]
    clerk = Erp(stack.gateway, stack.user_token(permissions="inventory.manage"))
    reader = stack.erp(scopes=["transfers:read"])

    for act, body in ACTS.items():
        denied = clerk.post(f"{PATH}/{number}/{act}", body)
        assert (denied.status, denied.code) == (403, "forbidden")
        unscoped = reader.post(f"{PATH}/{number}/{act}", body)
        assert (unscoped.status, unscoped.code) == (403, "missing_scope")


def test_the_orders_of_others_are_not_there(
    transfer_scenario: TransferScenario, beta: Erp, stack: Stack
) -> None:
    number = transfer_scenario.draft(("BRICK", 1)).data["id"]
    before = stored(stack)

    for act, body in ACTS.items():
        for caller, wanted in ((beta, number), (transfer_scenario.erp, number + 1)):
            answer = caller.post(f"{PATH}/{wanted}/{act}", body)
            assert (answer.status, answer.code) == (404, "not_found")
    assert stored(stack) == before


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
    ({"item_code": "DRILL", "qty": 41, "serials": [f"S{n}" for n in range(41)]}, "serials"),
]


@pytest.fixture
def underway(transfer_scenario: TransferScenario) -> tuple[TransferScenario, int]:
    """An order of 4 bricks, 3 of the cement L1 and 2 drills, S1 and S2, on its way."""
    transfer_scenario.erp.post("/products", {"item_code": "NAIL", "name": "Nail"})
    transfer_scenario.erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "Y-ONLY"})
    transfer_scenario.yard.stock("BRICK", 9)
    transfer_scenario.yard.stock("CEMENT", 9, batch="L1")
    for serial in ("S1", "S2", "S9"):
        transfer_scenario.yard.stock("DRILL", 1, serial=serial)
    number = transfer_scenario.order(("BRICK", 4), ("CEMENT", 3), ("DRILL", 2))
    transfer_scenario.pick(number, "BRICK", 4)
    transfer_scenario.pick(number, "CEMENT", 3, batch="L1")
    transfer_scenario.pick(number, "DRILL", 2, serials=["S1", "S2"])
    transfer_scenario.done(number, "dispatch")
    return transfer_scenario, number


def test_a_wrong_arrival_is_named_and_nothing_comes_in(
    underway: tuple[TransferScenario, int], stack: Stack
) -> None:
    transfer_scenario, number = underway
    before = stored(stack)

    for line, field in WRONG_ARRIVALS:
        wrong = {"item_code": "BRICK", "qty": 1, **line}
        told = problems(transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 1}, wrong))
        assert f"lines.1.{field}" in told, line
        assert all(name.startswith("lines.1.") for name in told), line
    for body, fields in (
        ({}, {"lines"}),
        ({"lines": []}, {"lines"}),
        ({"final": False}, {"lines"}),
        (
            {"final": 1, "lines": [{"qty": 0}]},
            {"final", "lines.0.item_code", "lines.0.qty", "lines.0.bin_code"},
        ),
    ):
        assert set(problems(transfer_scenario.act(number, "receive", **body))) == fields
    assert stored(stack) == before


def test_more_than_was_dispatched_never_comes_in(
    underway: tuple[TransferScenario, int], stack: Stack
) -> None:
    transfer_scenario, number = underway
    transfer_scenario.receive(number, {"item_code": "DRILL", "qty": 1, "serials": ["S1"]})
    before = stored(stack)

    for lines, told in (
        ([{"item_code": "BRICK", "qty": 5}], "only 4 of BRICK is in transit"),
        (
            [{"item_code": "BRICK", "qty": 3}, {"item_code": "BRICK", "qty": 2}],
            "only 1 of BRICK is in transit",
        ),
        (
            [{"item_code": "CEMENT", "qty": 1, "batch": "L2"}],
            "only 0 of CEMENT, batch L2 is in transit",
        ),
        (
            [{"item_code": "DRILL", "qty": 1, "serials": ["S1"]}],
            "serial S1 of DRILL has arrived already",
        ),
    ):
        answer = transfer_scenario.receive(number, *lines)
        assert (answer.status, answer.code) == (409, "conflict")
        assert told in answer.json()["message"]
    assert stored(stack) == before
    prove(stack.store())


def test_wrong_fields_of_the_other_acts_are_named(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    number = transfer_scenario.draft(("BRICK", 1)).data["id"]
    before = stored(stack)

    for act, body, field in (
        ("release", {"picker_id": 0}, "picker_id"),
        ("release", {"picker_id": "7"}, "picker_id"),
        ("picks", {**ACTS["picks"], "qty": 0}, "qty"),
        ("picks", {**ACTS["picks"], "qty": 1e30}, "qty"),
        ("dispatch", {"seal_number": ""}, "seal_number"),
        ("dispatch", {"vehicle_plate": "X" * 33}, "vehicle_plate"),
        ("dispatch", {"carrier_id": 1.5}, "carrier_id"),
        ("close", {"reason": " "}, "reason"),
    ):
        assert list(problems(transfer_scenario.act(number, act, **body))) == [field]
    assert stored(stack) == before


def test_picks_that_were_not_allocated_change_nothing(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 9)
    transfer_scenario.yard.stock("BRICK", 9, "B-01")
    for serial in ("S1", "S2"):
        transfer_scenario.yard.stock("DRILL", 1, serial=serial)
    number = transfer_scenario.order(("BRICK", 4), ("DRILL", 1))
    before = stored(stack)

    for body, field in (
        ({"qty": 5}, "qty"),
        ({"bin_code": "B-01"}, "bin_code"),
        ({"item_code": "CEMENT"}, "item_code"),
        ({"item_code": "DRILL"}, "serials"),
        ({"item_code": "DRILL", "serials": ["S9"]}, "serials"),
    ):
        answer = transfer_scenario.act(number, "picks", **{**ACTS["picks"], **body})
        assert list(problems(answer)) == [field]
    assert stored(stack) == before


# At the same instant


def _at_once(*sends: Callable[[], Response]) -> list[Response]:
    barrier = Barrier(len(sends))

    def run(send: Callable[[], Response]) -> Response:
        barrier.wait()
        return send()

    with ThreadPoolExecutor(len(sends)) as pool:
        return list(pool.map(run, sends))


def _codes(answers: list[Response]) -> list[str]:
    return sorted("ok" if answer.status == 200 else answer.code for answer in answers)


@pytest.fixture
def overlapping(aws_faults: AwsFaults) -> None:
    """Each AWS call lasts, so that the requests really meet."""
    aws_faults.latency = 0.01


@pytest.mark.usefixtures("overlapping")
def test_an_order_is_released_once_however_many_release_it(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.draft(("BRICK", 4)).data["id"]

    answers = _at_once(*[lambda: transfer_scenario.act(number, "release", picker_id=7)] * 4)

    assert _codes(answers) == ["ok", *["stale_state"] * 3]
    assert transfer_scenario.level("BRICK", "YARD") == (10, 4, 6, 0)
    assert len(transfer_scenario.erp.walk("/pickings")) == 1
    prove(stack.store())


@pytest.mark.usefixtures("overlapping")
def test_release_against_cancel_ends_cancelled(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    for _ in range(3):
        number = transfer_scenario.draft(("BRICK", 4)).data["id"]

        release, cancel = _at_once(
            lambda number=number: transfer_scenario.act(number, "release", picker_id=7),  # type: ignore[misc]
            lambda number=number: transfer_scenario.act(number, "cancel"),  # type: ignore[misc]
        )

        assert cancel.status == 200
        assert release.status == 200 or release.code == "stale_state"
        assert transfer_scenario.shown(number)["status"] == "cancelled"
        assert transfer_scenario.level("BRICK", "YARD") == (10, 0, 10, 0)
    prove(stack.store())


@pytest.mark.usefixtures("overlapping")
def test_goods_arrive_once_however_many_receive_them(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.underway(("BRICK", 3))

    answers = _at_once(
        *[lambda: transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 1})] * 5
    )

    codes = _codes(answers)
    assert codes[-3:] == ["ok"] * 3 or codes.count("ok") == 3
    assert set(codes) <= {"ok", "stale_state", "conflict"}
    assert transfer_scenario.shown(number)["status"] == "received"
    assert transfer_scenario.level("BRICK", "SHOP") == (3, 0, 3, 0)
    told = [event for event in stack.events() if event["type"]["S"] == "transfer.received"]
    assert len(told) == 1
    prove(stack.store())


@pytest.mark.usefixtures("overlapping")
def test_a_pick_against_cancel_leaves_nothing_behind(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.order(("BRICK", 4))

    pick, cancel = _at_once(
        lambda: transfer_scenario.act(number, "picks", **ACTS["picks"]),
        lambda: transfer_scenario.act(number, "cancel"),
    )

    assert cancel.status == 200
    assert pick.status == 200 or pick.code == "stale_state"
    assert transfer_scenario.shown(number)["status"] == "cancelled"
    assert transfer_scenario.level("BRICK", "YARD") == (10, 0, 10, 0)
    prove(stack.store())
