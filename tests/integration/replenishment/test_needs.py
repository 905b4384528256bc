"""Which pick faces are below their minimum, and what is proposed for them."""

from datetime import UTC, datetime

import pytest

from shared.warehouse.stock import repository
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.replenishment_scenario import ReplenishmentScenario
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("consistent_stock")

_DAY = 86_400


def test_pick_face_below_its_minimum_is_shown_with_what_fills_it(
    replenishment: ReplenishmentScenario,
) -> None:
    yard = replenishment.yard
    yard.stock("BRICK", 4, "F-01")
    yard.stock("BRICK", 30, "A-01")
    yard.stock("BRICK", 25, "R-01")

    assert replenishment.needs() == [
        {
            "pick_face": 1, "item_code": "BRICK", "bin_code": "F-01", "qty": 4, "minimum": 10,
            "maximum": 50, "needed": 46, "transfer_id": None,
            "proposals": [
                {"from_bin_code": "R-01", "batch_num": None, "qty": 25},
                {"from_bin_code": "A-01", "batch_num": None, "qty": 21},
            ],
        }
    ]  # fmt: skip


def test_pick_face_with_its_minimum_or_without_one_needs_nothing(
    replenishment: ReplenishmentScenario,
) -> None:
    replenishment.yard.stock("BRICK", 10, "F-01")
    replenishment.yard.stock("CEMENT", 5, "A-01", batch="L1")
    replenishment.face("CEMENT", "F-02", None, 20)
    assert replenishment.needs() == []


def test_what_pickings_have_allocated_there_is_needed_too(
    replenishment: ReplenishmentScenario,
) -> None:
    yard = replenishment.yard
    yard.stock("BRICK", 12, "F-01")
    yard.picking(yard.order(("BRICK", 5)))
    yard.stock("BRICK", 60, "R-01")
    [need] = replenishment.needs()
    assert (need["qty"], need["needed"]) == (7, 43)


def test_minimum_is_filled_up_without_a_maximum(replenishment: ReplenishmentScenario) -> None:
    replenishment.face("BRICK", "F-01", 8, None)
    [need] = replenishment.needs()
    assert (need["needed"], need["proposals"]) == (8, [])


def test_what_expires_first_is_proposed_before_what_lies_at_a_reserve(
    replenishment: ReplenishmentScenario,
) -> None:
    yard = replenishment.yard
    replenishment.face("BRICK", "F-01", None, None)
    replenishment.face("CEMENT", "F-02", 5, 10)
    yard.stock("CEMENT", 4, "R-01", batch="L2", expiry_date="2030-02-01")
    yard.stock("CEMENT", 3, "A-01", batch="L1", expiry_date="2030-01-01")
    yard.stock("CEMENT", 9, "B-01", batch="L2", expiry_date="2030-02-01")
    assert replenishment.proposals() == [
        ("A-01", "L1", 3), ("R-01", "L2", 4), ("B-01", "L2", 3)
    ]  # fmt: skip


def test_stock_that_cannot_be_picked_from_a_pick_face_is_not_proposed(
    replenishment: ReplenishmentScenario,
) -> None:
    yard = replenishment.yard
    yard.stock("BRICK", 7, "A-01", inventory_status="quarantine")
    yard.stock("BRICK", 7, "F-02")
    position = replenishment.position("B-01")
    for closed in ("is_blocked", "disabled"):
        yard.erp.patch(f"/warehouse-positions/{position}", {closed: False}).ok()
    yard.stock("BRICK", 7, "B-01")
    assert replenishment.proposals() == [("B-01", None, 7)]
    for closed in ("is_blocked", "disabled"):
        yard.erp.patch(f"/warehouse-positions/{position}", {closed: True}).ok()
        assert replenishment.proposals() == []
        yard.erp.patch(f"/warehouse-positions/{position}", {closed: False}).ok()


def test_nothing_is_proposed_for_a_blocked_pick_face(replenishment: ReplenishmentScenario) -> None:
    yard = replenishment.yard
    yard.stock("BRICK", 7, "A-01")
    position = replenishment.position("F-01")
    yard.erp.patch(f"/warehouse-positions/{position}", {"is_blocked": True}).ok()
    assert replenishment.proposals() == []


def test_expired_stock_counts_only_if_the_setting_allows_it(
    replenishment: ReplenishmentScenario, clock: Clock, stack: Stack
) -> None:
    clock.freeze_in_new_window(_DAY)
    yard, today = replenishment.yard, str(datetime.fromtimestamp(clock.time(), UTC).date())
    for bin_code in ("A-01", "F-01"):
        yard.stock("BRICK", 7, bin_code, expiry_date=today)
    [need] = replenishment.needs()
    assert (need["qty"], len(need["proposals"])) == (7, 1)
    clock.advance(_DAY)
    replenishment.erp = stack.erp()
    [need] = replenishment.needs()
    assert (need["qty"], need["proposals"]) == (0, [])
    yard.change_settings(expired_stock="allow")
    [need] = replenishment.needs()
    assert (need["qty"], len(need["proposals"])) == (7, 1)


def test_two_pick_faces_are_not_proposed_the_same_stock(
    replenishment: ReplenishmentScenario,
) -> None:
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.yard.stock("BRICK", 60, "A-01")
    found = [[one["qty"] for one in need["proposals"]] for need in replenishment.needs()]
    assert found == [[50], [10]]


def test_proposals_fit_into_one_transfer(replenishment: ReplenishmentScenario) -> None:
    yard = replenishment.yard
    replenishment.face("BRICK", "F-01", None, None)
    replenishment.face("DRILL", "F-02", 35, 40)
    for number in range(36):
        yard.stock("DRILL", 1, "A-01", serial=f"S{number:02d}")
    assert replenishment.proposals() == [("A-01", None, 30)]
    [created] = replenishment.replenish()
    yard.erp.post(f"/transfers/{created['transfer_id']}/execute").ok()
    assert replenishment.proposals() == [("A-01", None, 6)]


def test_pages_lead_to_every_pick_face(replenishment: ReplenishmentScenario) -> None:
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.face("BRICK", "B-01", 5, 20)
    erp, found = replenishment.erp, []
    response = erp.get("/replenishments", query={"warehouse": "YARD", "per_page": 2})
    assert response.json()["meta"] == {"after": 0, "last": 2}
    found += response.data
    response = erp.follow(response.json()["links"]["next"])
    assert response.json() == {
        "data": response.data, "links": {"next": None}, "meta": {"after": 2, "last": 3}
    }  # fmt: skip
    found += response.data
    assert [one["pick_face"] for one in found] == [1, 2, 3]


def test_stock_beyond_the_first_rows_is_read_when_they_are_not_enough(
    replenishment: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.replenishment.needs._ROWS", 1)
    yard = replenishment.yard
    for bin_code in ("A-01", "B-01", "R-01"):
        yard.stock("BRICK", 20, bin_code)
    assert sum(qty for _, _, qty in replenishment.proposals()) == 50


def test_rows_at_a_blocked_position_do_not_hide_others(
    replenishment: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.replenishment.needs._ROWS", 1)
    monkeypatch.setattr("shared.warehouse.replenishment.needs._ROUNDS", 2)
    yard = replenishment.yard
    replenishment.face("BRICK", "F-01", None, None)
    replenishment.face("DRILL", "F-02", 1, 2)
    for number in range(3):
        yard.stock("DRILL", 1, "B-01", serial=f"S{number}")
    yard.stock("DRILL", 1, "A-01", serial="S9")
    path = f"/warehouse-positions/{replenishment.position('B-01')}"
    yard.erp.patch(path, {"is_blocked": True}).ok()
    assert replenishment.proposals() == [("A-01", None, 1)]


def test_unknown_warehouse_is_named(replenishment: ReplenishmentScenario) -> None:
    response = replenishment.erp.get("/replenishments", query={"warehouse": "NOWHERE"})
    assert response.problems == {"warehouse": "no warehouse has the code NOWHERE"}


def test_reading_takes_four_round_trips(
    replenishment: ReplenishmentScenario, aws_faults: AwsFaults
) -> None:
    yard = replenishment.yard
    replenishment.face("BRICK", "F-02", 5, 20)
    replenishment.face("CEMENT", "F-02", 5, 20)
    yard.stock("BRICK", 1, "F-01")
    yard.stock("BRICK", 100, "R-01")
    yard.stock("CEMENT", 100, "R-01", batch="L1")
    replenishment.replenish(pick_face_ids=[2])
    replenishment.needs()  # fill the caches of the environment
    with aws_faults.recorded() as seen:
        assert [bool(one["proposals"]) for one in replenishment.needs()] == [True, False, True]
    assert seen.round_trips <= 4


def test_no_more_is_proposed_than_fits_if_the_capacity_is_enforced(
    replenishment: ReplenishmentScenario,
) -> None:
    """45 of bricks are needed; 10 more pieces fit, then none."""
    yard = replenishment.yard
    yard.stock("BRICK", 5, "F-01")
    yard.stock("CEMENT", 5, "F-01", batch="L1")
    yard.stock("BRICK", 60, "R-01")
    path = f"/warehouse-positions/{replenishment.position('F-01')}"
    yard.erp.patch(path, {"capacity_units": 20}).ok()
    assert replenishment.proposals() == [("R-01", None, 45)]

    yard.change_settings(capacity="enforce")

    assert replenishment.proposals() == [("R-01", None, 10)]
    assert replenishment.needs()[0]["needed"] == 45
    yard.erp.patch(path, {"capacity_units": 9}).ok()
    assert replenishment.proposals() == []
    created = replenishment.post().ok(200)
    assert (created["created"], [one["needed"] for one in created["unfilled"]]) == ([], [45])


def test_stock_at_a_pick_face_counts_though_the_product_has_more_rows_than_are_read(
    replenishment: ReplenishmentScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.stock.service._MANY_FREE", 1)
    read = repository.free_rows
    monkeypatch.setattr(repository, "FREE_PAGE", 1)
    monkeypatch.setattr(repository, "free_rows", lambda *place, **_whole: read(*place))
    yard = replenishment.yard
    for bin_code in ("R-01", "A-01", "F-01"):
        yard.stock("BRICK", 20, bin_code)
    assert replenishment.needs() == []


@pytest.mark.parametrize("place", [("YARD", "A-01"), ("PORT", "F-01")])
def test_serial_that_has_left_a_pick_face_takes_no_room(
    replenishment: ReplenishmentScenario,
    stack: Stack,
    place: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The index of positions still has it there. Warehouses use the same codes of positions."""
    yard, (warehouse, bin_code) = replenishment.yard, place
    yard.erp.post("/warehouses", {"whs_code": "PORT", "name": "Port"}).ok(201)
    yard.erp.post("/warehouse-positions", {"whs_code": "PORT", "bin_code": "F-01"}).ok(201)
    yard.change_settings(capacity="enforce")
    path = f"/warehouse-positions/{replenishment.position('F-01')}"
    yard.erp.patch(path, {"capacity_units": 20}).ok()
    yard.stock("DRILL", 1, "F-01", serial="S1")
    yard.stock("BRICK", 60, "R-01")
    assert replenishment.proposals() == [("R-01", None, 19)]
    shown = repository.listed_at(stack.store(), 1, "F-01", 10)
    monkeypatch.setattr(repository, "listed_at", lambda *_: shown)

    yard.adjust("DRILL", "F-01", decrease=1, serial="S1").ok(201)
    yard.stock("DRILL", 1, bin_code, serial="S1", warehouse=warehouse)

    assert replenishment.proposals() == [("R-01", None, 20)]


def test_serial_in_another_warehouse_does_not_count_at_a_position_of_the_same_code(
    replenishment: ReplenishmentScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index of free stock still has it in YARD."""
    yard = replenishment.yard
    yard.erp.post("/warehouses", {"whs_code": "PORT", "name": "Port"}).ok(201)
    yard.erp.post("/warehouse-positions", {"whs_code": "PORT", "bin_code": "F-02"}).ok(201)
    replenishment.face("DRILL", "F-02", 1)
    yard.stock("DRILL", 1, "F-02", serial="S1")
    product = yard.erp.get("/products", query={"item_code": "DRILL"}).data[0]["id"]
    shown = repository.free_rows(stack.store(), product, 1, None, whole=True)
    monkeypatch.setattr(repository, "free_rows", lambda *_, **__: shown)

    yard.adjust("DRILL", "F-02", decrease=1, serial="S1").ok(201)
    yard.stock("DRILL", 1, "F-02", serial="S1", warehouse="PORT")

    assert [need["item_code"] for need in replenishment.needs()] == ["BRICK", "DRILL"]
