"""What levels, totals and lists show of holds, until the instant at which these expire."""

from functools import partial
from typing import Any

import pytest

from operations.verify import verify_tenant
from shared.kernel.clock import milliseconds_of
from shared.kernel.db.records import Record
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import StaleState
from shared.kernel.json_text import dumps, loads
from shared.kernel.validation import check
from shared.warehouse.holds import service, views
from shared.warehouse.holds.models import HoldDraft, HoldExpiry, HoldParameters, StoredHold
from tests.clock import Clock
from tests.stack import Stack
from tests.stock_invariants import read_state
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _hold(stack: Stack, *lines: tuple[str, float], **body: Any) -> Record[StoredHold]:
    goods = [{"item_code": item_code, "qty": qty} for item_code, qty in lines]
    sent = {"warehouse_code": "YARD", "ttl_seconds": 60, "lines": goods, **body}
    draft = check(HoldDraft, loads(dumps(sent)))
    return run_transaction(stack.store(), lambda tx: service.create_hold(tx, draft)).record


def _figures(yard: WarehouseScenario, **query: str) -> list[tuple[str, float, float]]:
    rows = yard.erp.walk("/stock-levels", **query)
    return [(one["item_code"], one["held"], one["sellable"]) for one in rows]


def _move_to(clock: Clock, moment_ms: int) -> None:
    """Set a frozen clock to a moment."""
    clock.advance(moment_ms / 1000 - clock.time() + 0.0001)


def test_held_goods_can_be_sold_from_the_instant_at_which_the_hold_expires(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.stock("BRICK", 10)
    yard.erp.post("/stock-adjustments", {
        "item_code": "BRICK", "warehouse": "SHOP", "bin_code": "A-01", "increase": 5,
        "reason": "Found",
    }).ok(201)  # fmt: skip
    first = _hold(stack, ("BRICK", 3), ("BRICK", 1)).entity
    expires_ms = milliseconds_of(first.expires_at)
    _hold(stack, ("BRICK", 2), ttl_seconds=61)
    [before] = yard.erp.walk("/stock-levels", warehouse="YARD")

    def shown() -> list[Any]:
        return [
            _figures(yard, warehouse="YARD"),
            _figures(yard, totals="true"),
            [
                [item for item, *_ in _figures(yard, sellable_below=below, **query)]
                for below in ("5", "9")
                for query in ({"warehouse": "YARD"}, {"item_code": "BRICK", "warehouse": "YARD"})
            ],
            [[one.id for one in _listed(stack, status, clock)] for status in ("active", "expired")],
        ]

    held = [[("BRICK", 6, 4)], [("BRICK", 6, 9)], [["BRICK"]] * 4, [[2, 1], []]]
    free = [[("BRICK", 2, 8)], [("BRICK", 2, 13)], [[], [], ["BRICK"], ["BRICK"]], [[2], [1]]]
    assert shown() == held
    _move_to(clock, expires_ms - 1)
    assert shown() == held
    _move_to(clock, expires_ms)
    assert shown() == free
    _move_to(clock, expires_ms + 1)
    assert shown() == free
    [after] = yard.erp.walk("/stock-levels", warehouse="YARD")
    assert after["updated_at"] == before["updated_at"]
    assert len(_stored_holds(stack)) == 2  # it needs no write

    yard.order(("BRICK", 1))

    assert len(_stored_holds(stack)) == 1
    assert _figures(yard, warehouse="YARD") == [("BRICK", 2, 7)]
    _verify()


def test_level_whose_holds_have_all_expired_is_filtered_by_what_can_be_sold(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.stock("BRICK", 10)
    hold = _hold(stack, ("BRICK", 4)).entity

    def listed() -> list[int]:
        queries: list[dict[str, str]] = [{}, {"totals": "true"}, {"item_code": "BRICK"}]
        return [len(_figures(yard, sellable_below="9", **query)) for query in queries]

    assert listed() == [1, 1, 1]
    _move_to(clock, milliseconds_of(hold.expires_at))
    assert listed() == [0, 0, 0]


def _verify() -> None:
    assert not [one for one in verify_tenant("acme").listed if "user" not in one.subject]


def _stored_holds(stack: Stack) -> list[Any]:
    [level] = [one for one in read_state(stack.unsorted_items()).levels if one.whs_code == "YARD"]
    return level.holds


def _listed(stack: Stack, status: str, clock: Clock, **query: Any) -> list[Any]:
    now_ms = int(clock.time() * 1000)
    parameters = HoldParameters.model_validate({"status": status, **query})
    page = service.list_holds(stack.store(), parameters, now_ms)
    shown = [views.hold_at(now_ms)(record) for record in page.records]
    assert {one.status for one in shown} <= {status}
    assert page.total == len(shown)
    return shown


def test_extended_and_released_hold_changes_what_can_be_sold(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.stock("BRICK", 10)
    hold = _hold(stack, ("BRICK", 3)).entity
    twin = _hold(stack, ("BRICK", 3)).entity
    assert twin.expires_at == hold.expires_at

    longer = check(HoldExpiry, {"ttl_seconds": 90})
    run_transaction(stack.store(), lambda tx: service.extend_hold(tx, hold.id, longer))
    _move_to(clock, milliseconds_of(hold.expires_at))
    assert _figures(yard) == [("BRICK", 3, 7)]
    run_transaction(stack.store(), lambda tx: service.release_hold(tx, hold.id))
    assert _figures(yard) == [("BRICK", 0, 10)]
    for ended in (hold.id, twin.id):
        with pytest.raises(StaleState):
            run_transaction(stack.store(), partial(service.release_hold, number=ended))
        with pytest.raises(StaleState):
            run_transaction(
                stack.store(), partial(service.extend_hold, number=ended, expiry=longer)
            )


def test_hold_that_another_clock_has_dropped_from_its_level_has_expired(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    yard.stock("BRICK", 10)
    hold = _hold(stack, ("BRICK", 3)).entity
    clock.advance(60)
    yard.order(("BRICK", 1))
    clock.advance(-30)

    with pytest.raises(StaleState, match="expired"):
        run_transaction(stack.store(), lambda tx: service.release_hold(tx, hold.id))
    clock.advance(30)


def test_hold_of_many_products_is_held_whole(
    stack: Stack, yard: WarehouseScenario, clock: Clock
) -> None:
    clock.freeze()
    for number in range(40):
        yard.erp.post("/products", {"item_code": f"P-{number}", "name": "Part"}).ok(201)
        yard.stock(f"P-{number}", 2)
    hold = _hold(stack, *((f"P-{number}", 2) for number in range(40))).entity
    assert {held for _, held, _ in _figures(yard)} == {2}

    run_transaction(stack.store(), lambda tx: service.release_hold(tx, hold.id))

    assert {held for _, held, _ in _figures(yard)} == {0}
    _verify()
