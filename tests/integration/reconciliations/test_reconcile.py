"""Reconciliations: what differs from the stock, and what explains it."""

import random
from io import BytesIO
from itertools import count

import pytest
from openpyxl import load_workbook

from shared.integration.reconciliations import comparison, movements, service
from shared.integration.reconciliations.models import (
    KEPT_DAYS,
    StockDifference,
    StoredReconciliation,
)
from shared.kernel.config import config
from shared.kernel.errors import Gone, NotFound, ServiceUnavailable, ValidationFailed
from shared.kernel.events.feed import CHUNK_SECONDS
from tests.clock import Clock
from tests.faults import AwsFaults, Call, before_each
from tests.reconciliation_scenario import ReconciliationScenario, line


def _quantities(one: StockDifference) -> tuple[int, int, int]:
    return int(one.theirs), int(one.ours), int(one.difference)


def test_equal_quantities_are_counted(erp: ReconciliationScenario) -> None:
    position = erp.relay()
    found = erp.reconcile(line("BRICK", 10), line("CEMENT", 10, "L1"), line("CEMENT", 5, "L2"))
    assert (found.status, found.compared, found.equal, found.total) == ("completed", 3, 3, 0)
    assert found.position == position


def test_differences_come_with_the_largest_first(erp: ReconciliationScenario) -> None:
    found = erp.reconcile(line("BRICK", 11), line("CEMENT", 14, "L1"), line("CEMENT", 3, "L2"))
    assert [(one.batch, *_quantities(one)) for one in found.differences] == [
        ("L1", 14, 10, -4), ("L2", 3, 5, 2), (None, 11, 10, -1),
    ]  # fmt: skip
    assert not any(one.explained for one in found.differences)
    assert (found.compared, found.equal, found.total) == (3, 0, 3)


def test_a_line_without_a_batch_counts_all_batches(erp: ReconciliationScenario) -> None:
    assert erp.reconcile(line("CEMENT", 15)).total == 0


def test_a_unit_is_counted_in_base_units(erp: ReconciliationScenario) -> None:
    units = {"units": [{"unit": "BOX", "qty": 5}]}
    api = erp.feed.webhooks.erp
    [brick] = api.get("/products", query={"item_code": "BRICK"}).data
    api.put(f"/products/{brick['id']}/packaging", units).ok()
    erp.relay()
    assert erp.reconcile(line("BRICK", 2, unit="box")).total == 0


def test_what_a_complete_list_lacks_is_zero(erp: ReconciliationScenario) -> None:
    found = erp.reconcile(line("CEMENT", 10, "L1"), complete=True)
    assert [(one.item_code, one.batch, int(one.ours)) for one in found.differences] == [
        ("BRICK", None, 10), ("CEMENT", "L2", 5),
    ]  # fmt: skip
    assert found.equal == 1
    everywhere = erp.reconcile(complete=True, warehouse_code=None)
    assert [(one.item_code, *_quantities(one)[:2]) for one in everywhere.differences] == [
        ("CEMENT", 0, 15), ("BRICK", 0, 10),
    ]  # fmt: skip
    assert erp.reconcile(complete=True, warehouse_code="SHOP").total == 0


def test_movements_after_the_position_explain_a_difference(
    erp: ReconciliationScenario, clock: Clock
) -> None:
    position = erp.relay()
    erp.yard.stock("BRICK", 2)
    clock.advance(120)
    erp.yard.stock("BRICK", 1)
    until = erp.relay()
    found = erp.reconcile(line("BRICK", 10), line("CEMENT", 12), position=position)
    bricks, cement = sorted(found.differences, key=lambda one: one.item_code)
    assert _quantities(bricks) == (10, 13, 3)
    assert bricks.explained
    expected = erp.movements(position, until)["BRICK", "YARD", None]
    assert {one.id: one.qty for one in bricks.movements} == expected
    assert not cement.explained
    assert cement.movements == []


def test_a_movement_before_the_position_explains_nothing(
    erp: ReconciliationScenario, clock: Clock
) -> None:
    erp.yard.stock("BRICK", 3)
    position = erp.relay()
    clock.advance(120)
    erp.yard.stock("CEMENT", 1, batch="L1")
    erp.relay()
    [difference] = erp.reconcile(line("BRICK", 10), position=position).differences
    assert (difference.movements, difference.explained) == ([], False)


def test_a_movement_that_was_relayed_late_is_behind_the_position(
    erp: ReconciliationScenario, clock: Clock
) -> None:
    before = erp.relay()
    erp.yard.stock("BRICK", 3)
    clock.advance(40)
    erp.yard.stock("CEMENT", 1, batch="L1")
    position = erp.relay(late=1)
    assert position == before + 1
    erp.relay()
    clock.advance(120)
    erp.yard.stock("CEMENT", 1, batch="L2")
    erp.relay()
    [difference] = erp.reconcile(line("BRICK", 10), position=position).differences
    assert difference.explained
    [difference] = erp.reconcile(line("BRICK", 10), position=position + 1).differences
    assert not difference.explained


def _planted(erp: ReconciliationScenario, chance: random.Random, codes: list[str]) -> None:
    """Change the stock of each product, some of them several times, and one batch."""
    changes = [
        (code, chance.randint(1, 9) * (1 if at == 0 else chance.choice((1, -1))))
        for code in codes
        for at in range(chance.randint(1, 3))
    ]
    chance.shuffle(changes)
    for code, qty in changes:
        change = {"increase": qty} if qty > 0 else {"decrease": -qty}
        erp.yard.adjust(code, **change).ok(201)


def _is_of_the_feed(
    erp: ReconciliationScenario, found: StoredReconciliation, theirs: dict[str, int]
) -> None:
    """Assert that figures and movements are those of the feed up to the position."""
    assert found.after_position is not None
    expected = erp.movements(found.after_position, found.position)
    changed = {code for code, _, _ in expected} & set(theirs)
    sums = {code: sum(expected[code, "YARD", None].values()) for code in changed}
    assert {one.item_code for one in found.differences} == {
        code for code, qty in sums.items() if qty
    }
    for one in found.differences:
        moved = expected[one.item_code, "YARD", None]
        assert one.ours == theirs[one.item_code] + sums[one.item_code]
        assert one.explained
        assert {each.id: each.qty for each in one.movements} == moved


def test_planted_differences_are_explained_by_exactly_their_movements(
    erp: ReconciliationScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    chance = random.Random(63)  # noqa: S311 - repeatable choices
    api = erp.feed.webhooks.erp
    theirs = {f"P{number:03d}": chance.randint(30, 60) for number in range(100)}
    for code in theirs:
        api.post("/products", {"item_code": code, "name": code}).ok(201)
    place = {"warehouse": "YARD", "bin_code": "A-01"}
    stocks = [{"item_code": code, "increase": qty, **place} for code, qty in theirs.items()]
    api.post("/stock-adjustments", {"reason": "opening", "lines": stocks}).ok(201)
    clock.advance(50)
    position = erp.relay()
    _planted(erp, chance, list(theirs)[:50])
    erp.relay(late=20)
    clock.advance(90)
    _planted(erp, chance, list(theirs)[50:])
    erp.relay()
    writes = count(1)

    def write(_call: Call) -> None:
        erp.yard.stock(f"P{next(writes) % 100:03d}", 1)
        erp.relay()

    lines = [line(code, qty) for code, qty in theirs.items()]
    with aws_faults.faulty(before_each(write)):
        found = erp.reconcile(*lines, position=position)
    assert found.total >= 90
    assert found.position > position + 200
    _is_of_the_feed(erp, found, theirs)


def test_batches_are_of_one_position_though_their_stock_moves(
    erp: ReconciliationScenario, aws_faults: AwsFaults
) -> None:
    position = erp.relay()
    api, turns = erp.feed.webhooks.erp, count()

    def write(_call: Call) -> None:
        turn = next(turns)
        if turn > 40:
            return
        if turn % 3 == 2:
            erp.yard.stock("CEMENT", 1, batch="L1")
        else:
            places = ("A-01", "B-01") if turn % 3 == 0 else ("B-01", "A-01")
            moved = {"item_code": "CEMENT", "qty": 3, "batch": "L2"}
            ends = dict(zip(("from_bin", "to_bin"), places, strict=True))
            body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [moved | ends]}
            api.post("/transfers", body).ok(201)
        erp.relay()

    with aws_faults.faulty(before_each(write)):
        found = erp.reconcile(line("CEMENT", 10, "L1"), line("CEMENT", 5, "L2"), position=position)
    [difference] = found.differences
    assert difference.batch == "L1"
    moved = erp.movements(position, found.position)["CEMENT", "YARD", "L1"]
    assert difference.difference == sum(moved.values()) > 0
    assert {one.id for one in difference.movements} == set(moved)


def test_unacknowledged_work_explains_a_difference(erp: ReconciliationScenario) -> None:
    erp.yard.dispatched(BRICK={"qty": 4})
    erp.relay()
    [difference] = erp.reconcile(line("BRICK", 10)).differences
    assert difference.difference == -4
    assert difference.explained
    [work] = difference.open_work
    assert (work.object, int(work.qty), work.code) == ("picking", -4, f"PKG-{work.id}")
    erp.feed.webhooks.erp.post(f"/pickings/{work.id}/synchronize").ok()
    [difference] = erp.reconcile(line("BRICK", 10)).differences
    assert (difference.open_work, difference.explained) == ([], False)


def test_picked_goods_are_on_hand_until_they_are_dispatched(erp: ReconciliationScenario) -> None:
    erp.yard.picked(erp.yard.order(("BRICK", 4)), qty=4)
    erp.relay()
    assert erp.reconcile(line("BRICK", 10)).total == 0


def test_receipts_and_transfers_are_open_work(erp: ReconciliationScenario) -> None:
    api = erp.feed.webhooks.erp
    order = {
        "external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01",
        "partner_code": "P-1", "warehouse_code": "YARD",
        "lines": [{"item_code": "BRICK", "qty": 6}],
    }  # fmt: skip
    document = api.post("/entry-documents", order, key="po").id
    receipt = api.post("/receipts", {"document_id": document}).ok(201)["id"]
    api.post(f"/receipts/{receipt}/start").ok()
    goods = {"item_code": "BRICK", "qty": 6, "bin_code": "A-01"}
    api.post(f"/receipts/{receipt}/lines", goods).ok()
    api.post(f"/receipts/{receipt}/finalize").ok()
    ends = {"from_bin": "A-01", "to_bin": "A-01"}
    body = {
        "from_warehouse": "YARD", "to_warehouse": "SHOP",
        "lines": [{"item_code": "BRICK", "qty": 2, **ends}],
    }  # fmt: skip
    transfer = api.post("/transfers", body).ok(201)["id"]
    erp.relay()
    [difference] = erp.reconcile(line("BRICK", 10)).differences
    assert difference.explained
    assert [(str(one.object), one.id, int(one.qty)) for one in difference.open_work] == [
        ("receipt", receipt, 6), ("transfer", transfer, -2),
    ]  # fmt: skip
    found = erp.reconcile(line("BRICK", 0), warehouse_code="SHOP").differences
    assert [(str(one.object), int(one.qty)) for one in found[0].open_work] == [("transfer", 2)]


def test_the_newest_work_of_a_difference_is_shown(
    erp: ReconciliationScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "MAX_SHOWN", 2)
    moved = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "A-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "SHOP", "lines": [moved]}
    erp.feed.webhooks.erp.post("/transfers", body).ok(201)
    for qty in (2, 3):
        clock.advance(1)
        erp.yard.dispatched(BRICK={"qty": qty})
    erp.relay()
    [found] = erp.reconcile(line("BRICK", 10)).differences
    assert [int(one.qty) for one in found.open_work] == [-2, -3]
    assert (found.open_work_total, found.explained) == (3, True)


def test_work_on_several_batches_is_one_of_the_product(
    erp: ReconciliationScenario, clock: Clock
) -> None:
    api = erp.feed.webhooks.erp
    for batches in (("L1",), ("L2",), ("L1", "L2")):
        clock.advance(1)
        lines = [
            {"item_code": "CEMENT", "qty": 1, "batch": one, "from_bin": "A-01", "to_bin": "A-01"}
            for one in batches
        ]
        body = {"from_warehouse": "YARD", "to_warehouse": "SHOP", "lines": lines}
        api.post("/transfers", body).ok(201)
    erp.relay()
    [found] = erp.reconcile(line("CEMENT", 15)).differences
    assert [(one.id, int(one.qty)) for one in found.open_work] == [(1, -1), (2, -1), (3, -2)]
    assert found.explained
    [found] = erp.reconcile(line("CEMENT", 10, "L1")).differences
    assert [(one.id, int(one.qty)) for one in found.open_work] == [(1, -1), (3, -1)]
    assert found.explained


def test_a_complete_list_of_more_than_a_request_reads_is_refused(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp.relay()
    products = len({one["id"] for one in erp.feed.webhooks.erp.get("/products").data})
    monkeypatch.setattr(service, "MAX_PLACES", products)
    assert erp.reconcile(complete=True).total == 2
    assert erp.reconcile(line("BRICK", 10, warehouse_code="YARD"), warehouse_code=None).total == 0
    with pytest.raises(ValidationFailed) as refused:
        erp.reconcile(line("NONE", 1, warehouse_code="YARD"), complete=True, warehouse_code=None)
    assert [one.field for one in refused.value.problems] == ["lines.0.item_code", "complete"]
    with pytest.raises(ValidationFailed) as refused:
        erp.reconcile(complete=True, warehouse_code="NONE")
    assert [one.field for one in refused.value.problems] == ["warehouse_code"]


def test_an_expired_position_is_gone(erp: ReconciliationScenario, clock: Clock) -> None:
    erp.yard.stock("BRICK", 1)
    position = erp.relay()
    clock.advance(CHUNK_SECONDS + 60)
    with pytest.raises(Gone) as refused:
        erp.reconcile(line("BRICK", 10), position=position)
    assert refused.value.extra["latest"]["position"] == position
    with pytest.raises(Gone):
        erp.reconcile(line("BRICK", 10), position=position + 1, epoch=1)


def test_all_problems_come_at_once(erp: ReconciliationScenario) -> None:
    with pytest.raises(ValidationFailed) as refused:
        erp.reconcile(
            line("NONE", 1),
            line("BRICK", -1),
            line("BRICK", 1, "L1"),
            line("CEMENT", 1, "L1", warehouse_code="SHOP"),
            line("CEMENT", 1, "L1"),
            line("CEMENT", 1, "L1"),
            line("CEMENT", 1),
            line("BRICK", 1, unit="BOX"),
            position=erp.relay() + 1,
        )
    found = {one.field: one.message for one in refused.value.problems}
    assert set(found) == {
        "lines.0.item_code", "lines.1.qty", "lines.2.batch", "lines.3.warehouse_code",
        "lines.5.batch", "lines.6.batch", "lines.7.unit", "position",
    }  # fmt: skip
    assert found["lines.5.batch"] == "this stock is counted by lines.4 already"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"warehouse_code": "NONE"}, {"warehouse_code"}),
        ({"warehouse_code": None}, {"lines.0.warehouse_code"}),
        ({"lines": []}, {"lines"}),
        ({"position": -1}, {"position"}),
    ],
)
def test_an_invalid_request_names_its_fields(
    erp: ReconciliationScenario, body: dict[str, object], fields: set[str]
) -> None:
    lines = [] if "lines" in body else [line("BRICK", 1)]
    with pytest.raises(ValidationFailed) as refused:
        erp.reconcile(*lines, **{name: one for name, one in body.items() if name != "lines"})
    assert {one.field for one in refused.value.problems} == fields


def test_nothing_is_changed_in_the_stock(erp: ReconciliationScenario) -> None:
    erp.relay()
    before = erp.feed.head
    erp.reconcile(line("BRICK", 7))
    erp.relay()
    assert erp.feed.head == before


def test_more_differences_than_are_shown_are_in_a_workbook(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "MAX_DIFFERENCES", 2)
    erp.yard.stock("CEMENT", 1, batch="=L3")
    erp.relay()
    found = erp.reconcile(complete=True, warehouse_code=None)
    assert (found.total, len(found.differences), found.workbook) == (2, 2, None)
    lines = [line("BRICK", 11), line("CEMENT", 14, "L1"), line("CEMENT", 3, "=L3")]
    found = erp.reconcile(*lines)
    assert (found.total, len(found.differences)) == (3, 2)
    assert found.workbook
    content = erp.context.files.read(found.workbook)
    sheet = load_workbook(BytesIO(content)).active
    assert sheet
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows == [
        ["item_code", "warehouse_code", "batch", "theirs", "ours", "difference", "explained"],
        ["CEMENT", "YARD", "L1", 14, 10, -4, False],
        ["CEMENT", "YARD", "=L3", 3, 1, -2, False],
        ["BRICK", "YARD", None, 11, 10, -1, None],
    ]
    assert sheet["C3"].data_type == "s"
    url = erp.context.workbook_url(found.workbook, "RC-2.xlsx")
    assert url
    assert found.workbook in url


def test_a_reconciliation_is_kept_for_a_time(erp: ReconciliationScenario, clock: Clock) -> None:
    found = erp.reconcile(line("BRICK", 9))
    assert service.get_reconciliation(erp.feed.store, found.id).entity == found
    clock.advance(KEPT_DAYS * 86_400 + 1)
    with pytest.raises(NotFound):
        service.get_reconciliation(erp.feed.store, found.id)


def test_what_the_relay_has_not_appended_yet_is_waited_for(
    erp: ReconciliationScenario, aws_faults: AwsFaults
) -> None:
    position = erp.relay()
    erp.yard.stock("BRICK", 2)
    reads = count(1)

    def relay_late(call: Call) -> None:
        if config().outbox_table in call.request.get("RequestItems", {}) and next(reads) == 2:
            erp.relay()

    with aws_faults.faulty(before_each(relay_late)):
        found = erp.reconcile(line("BRICK", 10), position=position)
    assert found.position == position + 1
    assert found.differences[0].explained


def test_figures_are_not_given_while_the_relay_stands_still(erp: ReconciliationScenario) -> None:
    erp.yard.stock("BRICK", 2)
    with pytest.raises(ServiceUnavailable):
        erp.reconcile(line("BRICK", 10))


def test_a_product_that_moved_too_often_is_not_explained(
    erp: ReconciliationScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = erp.relay()
    for _ in range(3):
        erp.yard.stock("BRICK", 1)
    erp.yard.stock("CEMENT", 2, batch="L1")
    clock.advance(120)
    erp.relay()
    lines = [line("BRICK", 10), line("CEMENT", 10, "L1")]
    monkeypatch.setattr(movements, "MAX_OF_PRODUCT", 2)
    bricks, cement = erp.reconcile(*lines, position=position).differences
    assert (bricks.explained, bricks.movements_total, cement.explained) == (False, 0, True)
    monkeypatch.setattr(movements, "MAX_OF_PRODUCT", 3)
    monkeypatch.setattr(movements, "MAX_MOVEMENTS", 3)
    bricks, cement = erp.reconcile(*lines, position=position).differences
    assert (bricks.explained, cement.explained) == (True, False)


def test_movements_that_may_precede_a_position_are_looked_for_within_a_limit(
    erp: ReconciliationScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The relay was late once: what was committed before the position may be behind it."""
    for _ in range(2):
        clock.advance(1)
        erp.yard.stock("BRICK", 1)
    clock.advance(1)
    for batch in ("L1", "L2"):
        erp.yard.stock("CEMENT", 1, batch=batch)
    position = erp.relay()
    erp.yard.stock("CEMENT", 1, batch="L2")
    clock.advance(120)
    erp.yard.stock("BRICK", 3)
    erp.relay()
    clock.advance(120)
    erp.yard.stock("CEMENT", 4, batch="L1")
    erp.relay()
    lines = [line("BRICK", 12), line("CEMENT", 11, "L1"), line("CEMENT", 6, "L2")]

    def explained() -> dict[str, bool]:
        found = erp.reconcile(*lines, position=position).differences
        return {f"{one.item_code} {one.batch}": one.explained for one in found}

    assert set(explained().values()) == {True}
    monkeypatch.setattr(movements, "MAX_ENTRIES", 2)
    assert explained() == {"BRICK None": False, "CEMENT L1": True, "CEMENT L2": True}


def test_the_newest_movements_of_a_difference_are_shown(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "MAX_SHOWN", 2)
    position = erp.relay()
    for qty in (1, 2, 3):
        erp.yard.stock("BRICK", qty)
    erp.relay()
    [found] = erp.reconcile(line("BRICK", 10), position=position).differences
    assert [int(one.qty) for one in found.movements] == [2, 3]
    assert (found.movements_total, found.explained) == (3, True)
