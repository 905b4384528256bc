"""Requests that are refused, with the field they name."""

from typing import Any

import pytest

from shared.warehouse.packing import actions, contents_rules
from tests.cases import each_case
from tests.gateway import Response
from tests.packing_scenario import ORDERS, UNITS, PackingScenario


def _assert_refused(answer: Response, status: int, code: str, field: str | None = None) -> None:
    """Assert that a response is a refusal that names a field."""
    assert (answer.status, answer.code) == (status, code), answer.text
    if field is not None:
        assert [one["field"] for one in answer.json()["errors"]] == [field], answer.text


@each_case(
    "body",
    [
        ({}, ["exit_document_id"]),
        ({"exit_document_id": 1, "picking_ids": [1]}, ["exit_document_id"]),
        ({"exit_document_id": 99}, ["exit_document_id"]),
        ({"exit_document_id": 0}, ["exit_document_id"]),
        ({"picking_ids": []}, ["picking_ids"]),
        ({"picking_ids": [1, 99, 98]}, ["picking_ids.1", "picking_ids.2"]),
        ({"picking_ids": [1, 1]}, ["picking_ids.1"]),
        ({"picking_ids": [1, "x", 99]}, ["picking_ids.1", "picking_ids.2"]),
        ({"picking_ids": list(range(1, 22))}, ["picking_ids"]),
        ({"exit_document_id": 1, "station": 5}, ["station"]),
    ],
)
def test_invalid_packing_order_is_refused(
    packing: PackingScenario, body: tuple[dict[str, Any], list[str]]
) -> None:
    if not packing.erp.get("/exit-documents").data:
        packing.staged(("BRICK", 1))
    answer = packing.erp.post(ORDERS, body[0])
    assert answer.invalid_fields[: len(body[1])] == body[1]
    assert packing.erp.get(ORDERS).data == []


def test_goods_that_are_not_staged_cannot_be_packed(packing: PackingScenario) -> None:
    yard = packing.yard
    document, first = packing.staged(("BRICK", 1))
    _, second = packing.staged(("BRICK", 2))
    yard.stock("BRICK", 9)
    started_document = yard.order(("BRICK", 1))
    started = yard.started(started_document)
    cancelled = yard.started(yard.order(("BRICK", 1)))
    yard.act(cancelled, "cancel")
    empty = yard.started(yard.order(("CEMENT", 1)))
    yard.act(empty, "finalize", shortage_reason="other")

    def create(**body: object) -> Response:
        return packing.erp.post(ORDERS, body)

    def refuse(answer: Response, field: str) -> None:
        _assert_refused(answer, 422, "validation_failed", field)

    refuse(create(picking_ids=[started]), "picking_ids.0")
    refuse(create(picking_ids=[first, cancelled]), "picking_ids.1")
    refuse(create(picking_ids=[empty]), "picking_ids.0")
    refuse(create(picking_ids=[first, second]), "picking_ids.1")
    refuse(create(exit_document_id=started_document), "exit_document_id")
    assert packing.dispatch(document).status == 200
    refuse(create(picking_ids=[first]), "picking_ids.0")
    refuse(create(exit_document_id=document), "exit_document_id")
    yard.act(second, "revert")
    refuse(create(picking_ids=[second]), "picking_ids.0")
    assert packing.erp.get(ORDERS).data == []


def test_a_picking_has_one_active_packing_order(packing: PackingScenario) -> None:
    document, picking = packing.staged(("BRICK", 1))
    order = packing.order(document)["id"]

    for body in ({"exit_document_id": document}, {"picking_ids": [picking]}):
        _assert_refused(packing.erp.post(ORDERS, body), 409, "conflict")
    reverted = packing.yard.act(picking, "revert")
    _assert_refused(reverted, 409, "conflict")
    assert "its goods are in PK-1; cancel that first" in reverted.text
    _assert_refused(packing.dispatch(document), 409, "conflict")
    assert packing.shown(order)["status"] == "open"


def test_units_stand_on_three_levels_in_open_units_of_the_same_order(
    packing: PackingScenario,
) -> None:
    order = packing.staged_order(("BRICK", 1))
    other = packing.staged_order(("BRICK", 1))
    pallet = packing.unit(order, "pallet")
    tote = packing.unit(order, "tote", parent_id=pallet)
    carton = packing.unit(order, parent_id=tote)

    for parent in (carton, carton + 1, 99):
        answer = packing.create_unit(order, parent_id=parent)
        _assert_refused(answer, 422, "validation_failed", "parent_id")
    answer = packing.create_unit(other, parent_id=pallet)
    _assert_refused(answer, 422, "validation_failed", "parent_id")
    _assert_refused(packing.create_unit(order, "box"), 422, "validation_failed", "type")
    for unit in (pallet, tote):
        _assert_refused(packing.act(unit, "close"), 409, "conflict")
        _assert_refused(packing.erp.delete(f"{UNITS}/{unit}"), 409, "conflict")
    packing.done(packing.act(carton, "close"))
    _assert_refused(packing.act(carton, "close"), 409, "stale_state")
    packing.done(packing.act(tote, "close"))
    _assert_refused(packing.create_unit(order, parent_id=tote), 409, "stale_state")
    _assert_refused(packing.act(carton, "reopen"), 409, "stale_state")
    _assert_refused(packing.erp.delete(f"{UNITS}/{carton}"), 409, "stale_state")
    _assert_refused(packing.act(pallet, "reopen"), 409, "conflict")
    assert packing.shown(order)["units_count"] == 3


def test_more_than_is_staged_or_inside_is_refused(packing: PackingScenario) -> None:
    document = packing.staged_lots(
        ("BRICK", 5, {}),
        ("CEMENT", 1, {"batch": "L1"}),
        ("CEMENT", 1, {"batch": "L2"}),
        ("DRILL", 2, {"serials": ["S1", "S2"]}),
    )
    order = packing.order(document)["id"]
    unit = packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 4))
    packing.done(packing.put(unit, "DRILL", 1, serials=["S1"]))
    before = packing.shown(order)

    blocked = {
        "qty": [packing.put(unit, "BRICK", 1.5), packing.remove(unit, "BRICK", 5)],
        "item_code": [packing.put(unit, "NONE", 1), packing.remove(unit, "CEMENT", 1)],
        "batch": [
            packing.put(unit, "CEMENT", 1, batch="L3"), packing.put(unit, "BRICK", 1, batch="L1"),
            packing.remove(unit, "BRICK", 1, batch="L1"),
        ],
        "serials": [
            packing.put(unit, "DRILL", 1, serials=["S1"]),
            packing.put(unit, "DRILL", 1, serials=["S3"]),
            packing.remove(unit, "DRILL", 1, serials=["S2"]),
        ],
    }  # fmt: skip
    for field, answers in blocked.items():
        for answer in answers:
            _assert_refused(answer, 422, "rule_blocked", field)
    assert [answer.json()["message"] for answer in blocked["serials"]] == [
        "serials: S1 is already packed",
        "serials: S3 is not staged for PK-1",
        "serials: S2 is not in HU-1",
    ]
    wrong = {
        "batch": [packing.put(unit, "CEMENT", 1)],
        "serials": [
            packing.put(unit, "DRILL", 1), packing.put(unit, "DRILL", 2, serials=["S2"]),
            packing.put(unit, "DRILL", 2, serials=["S2", "S2"]),
            packing.put(unit, "BRICK", 1, serials=["S2"]), packing.remove(unit, "DRILL", 1),
        ],
        "qty": [packing.put(unit, "BRICK", 0), packing.remove(unit, "BRICK", -1)],
    }  # fmt: skip
    for field, answers in wrong.items():
        for answer in answers:
            _assert_refused(answer, 422, "validation_failed", field)
    assert packing.shown(order) == before


def test_a_closed_unit_takes_nothing_and_gives_nothing(packing: PackingScenario) -> None:
    order = packing.staged_order(("BRICK", 2))
    unit, other = packing.unit(order), packing.unit(order)
    packing.done(packing.put(unit, "BRICK", 1))
    _assert_refused(packing.erp.delete(f"{UNITS}/{unit}"), 409, "conflict")
    _assert_refused(packing.act(unit, "reopen"), 409, "conflict")
    packing.done(packing.act(unit, "close"))

    _assert_refused(packing.put(unit, "BRICK", 1), 409, "stale_state")
    _assert_refused(packing.remove(unit, "BRICK", 1), 409, "stale_state")

    packing.done(packing.put(other, "BRICK", 1))
    _assert_refused(packing.complete(order), 409, "conflict")
    packing.done(packing.act(other, "close", weight_kg=1))
    packing.done(packing.complete(order))
    assert packing.shown(order)["weight_kg"] == 1
    for answer in (
        packing.act(unit, "reopen"), packing.create_unit(order), packing.complete(order),
        packing.remove(unit, "BRICK", 1), packing.erp.delete(f"{UNITS}/{unit}"),
    ):  # fmt: skip
        _assert_refused(answer, 409, "stale_state")


def test_a_packing_order_has_limits(
    packing: PackingScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MAX_UNITS", 2)
    for name, most in (("CONTENTS", 1), ("ORDER_CONTENTS", 2), ("SERIALS", 1)):
        monkeypatch.setattr(contents_rules, f"MAX_{name}", most)
    document = packing.staged_lots(
        ("BRICK", 2, {}),
        ("CEMENT", 2, {"batch": "L1"}),
        ("DRILL", 2, {"serials": ["S1", "S2"]}),
    )
    order = packing.order(document)["id"]
    first, second = packing.unit(order), packing.unit(order)
    _assert_refused(packing.create_unit(order), 409, "conflict")
    packing.done(packing.put(first, "BRICK", 1))
    _assert_refused(packing.put(first, "CEMENT", 1), 422, "rule_blocked", "item_code")
    packing.done(packing.put(first, "BRICK", 1))
    answer = packing.put(second, "DRILL", 2, serials=["S1", "S2"])
    _assert_refused(answer, 422, "rule_blocked", "serials")
    packing.done(packing.put(second, "CEMENT", 1))
    monkeypatch.setattr(contents_rules, "MAX_CONTENTS", 9)
    answer = packing.put(second, "DRILL", 1, serials=["S1"])
    _assert_refused(answer, 422, "rule_blocked", "item_code")
