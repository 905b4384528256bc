"""Imports of inventory counts: each row is a stock adjustment, applied or rejected alone."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from operations.provisioning import set_settings
from shared.kernel.clock import instant
from tests.clock import Clock
from tests.faults import AwsFaults, before_first, kill_after_step
from tests.gateway import Erp
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import report_problems
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.tenant_cache import apply_now
from tests.warehouse_scenario import WarehouseScenario

HEADER = ["item_code", "warehouse", "bin_code", "counted_qty", "expected_qty"]


@pytest.fixture
def yard(yard_with_returns: WarehouseScenario) -> WarehouseScenario:
    return yard_with_returns


def counts(*rows: Sequence[object], more: Sequence[str] = ()) -> bytes:
    """Return a file with counts in YARD: item code, position, counted, expected, other columns."""
    lines = [[code, "YARD", *others] for code, *others in rows]
    return as_csv([[*HEADER, *more], *lines])


def validated(scenario: ImportScenario, content: bytes) -> dict[str, Any]:
    return scenario.import_file("stock_counts", "counts.csv", content)


def there(yard: WarehouseScenario) -> dict[tuple[str, str], float]:
    """Return the stock that is there, by item code and position."""
    rows = yard.erp.walk("/stocks", status="in")
    return {(one["item_code"], one["position"]["bin_code"]): one["qty"] for one in rows}


def test_counts_set_the_stock_to_what_was_counted(
    scenario: ImportScenario, yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("BRICK", 5, "B-01")
    yard.stock("CEMENT", 3, batch="L-1")
    content = counts(
        ["BRICK", "A-01", 12, 10, "Shelf check", ""],
        ["BRICK", "B-01", 0, 5, "", ""],
        ["CEMENT", "A-01", 3, "", "", "L-1"],
        more=["reason", "batch"],
    )

    done = scenario.commit(validated(scenario, content)["id"])

    assert done["documents"] == {"total": 3, "valid": 3, "committed": 3, "skipped": 0}
    assert there(yard) == {("BRICK", "A-01"): 12, ("CEMENT", "A-01"): 3}
    movements = yard.erp.walk("/stock-movements", sort="-created_at")[:2]
    assert sorted((one["type"], one["qty"], one["reason"]) for one in movements) == [
        ("adjustment", 2, "Shelf check"),
        ("adjustment", 5, "inventory count"),
    ]
    assert {one["document"] for one in movements} == {None}
    assert yard.erp.get("/stock-movements").json()["meta"]["total"] == 5, "nothing for a match"
    assert_invariants(stack.store())


def test_quantities_count_the_unit_of_the_row(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    yard.erp.put("/products/1/packaging", {"units": [{"unit": "BOX", "qty": 12}]}).ok()
    yard.stock("BRICK", 24)
    content = counts(
        ["BRICK", "A-01", "2.5", 2, "box"], ["BRICK", "B-01", 1, "", "CRATE"], more=["unit"]
    )

    one = validated(scenario, content)
    scenario.commit(one["id"])

    unknown = "the product has no unit CRATE; it has BOX (12)"
    assert report_problems(scenario, one) == {(3, "unit", unknown)}
    assert there(yard) == {("BRICK", "A-01"): 30}


def test_all_rows_of_the_same_stock_are_rejected_in_whatever_chunks_they_are(
    scenario: ImportScenario, yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 2)
    del yard
    content = counts(
        ["BRICK", "A-01", 1, "", "", ""],
        ["CEMENT", "A-01", 1, "", "L-1", ""],
        ["BRICK", "B-01", 2, "", "", ""],
        ["BRICK", "A-01", 3, "", "", "Disponible"],
        ["CEMENT", "A-01", 1, "", "L-2", ""],
        ["BRICK", "A-01", 4, "", "", "damaged"],
        [" BRICK ", "A-01", "x", "", "", "AVAILABLE"],
        more=["batch", "inventory_status"],
    )

    one = validated(scenario, content)

    same = "is the same stock as in row {}"
    assert report_problems(scenario, one) == {
        (2, "item_code", same.format(5)),
        (5, "item_code", same.format(2)),
        (8, "item_code", same.format(2)),
        (8, "counted_qty", "must be a number"),
    }
    assert one["documents"] == {"total": 7, "valid": 4, "committed": 0, "skipped": 0}


def test_a_row_names_the_row_above_that_has_its_serial(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    del yard
    content = counts(
        ["BRICK", "A-01", "x", "", ""],
        ["DRILL", "A-01", 1, "", "N-1"],
        ["DRILL", "B-01", 1, "", "N-1"],
        more=["serial"],
    )

    one = validated(scenario, content)

    assert report_problems(scenario, one) == {
        (2, "counted_qty", "must be a number"),
        (4, "counted_qty", "serial N-1 is already in row 3"),
    }


def test_stale_rows_are_rejected_with_both_quantities(
    scenario: ImportScenario, yard: WarehouseScenario, aws_faults: AwsFaults, stack: Stack
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("BRICK", 5, "B-01")
    content = counts(["BRICK", "A-01", 12, 9], ["BRICK", "B-01", 6, 5], ["BRICK", "F-01", 7, 0])
    one = validated(scenario, content)
    assert report_problems(scenario, one) == {(2, "expected_qty", "9 expected, 10 there")}

    # Between the validation and the commit, and between the reads of the commit and its write.
    yard.stock("BRICK", 1, "B-01")
    with aws_faults.faulty(
        before_first("TransactWriteItems", lambda: yard.stock("BRICK", 2, "F-01"))
    ):
        done = scenario.commit(one["id"])

    assert report_problems(scenario, done) == {
        (2, "expected_qty", "9 expected, 10 there"),
        (3, "expected_qty", "5 expected, 6 there"),
        (4, "expected_qty", "0 expected, 2 there"),
    }
    assert done["documents"] == {"total": 3, "valid": 0, "committed": 0, "skipped": 0}
    assert there(yard) == {("BRICK", "A-01"): 10, ("BRICK", "B-01"): 6, ("BRICK", "F-01"): 2}
    assert_invariants(stack.store())


def test_stock_that_is_allocated_or_elsewhere_rejects_its_row_only(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock_serials("S-1")
    yard.started(yard.order(("BRICK", 8)))
    content = counts(
        ["BRICK", "A-01", 7, 10, ""],
        ["DRILL", "B-01", 1, "", "S-1"],
        ["DRILL", "B-01", 1, "", "S-2"],
        more=["serial"],
    )

    one = validated(scenario, content)

    assert report_problems(scenario, one) == {
        (2, "counted_qty", "7 counted, 8 allocated of BRICK at A-01"),
        (3, "counted_qty", "serial S-1 is already in stock at YARD A-01"),
    }
    assert scenario.commit(one["id"])["documents"]["committed"] == 1


def test_a_count_brings_goods_with_their_expiry_date(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    yard.stock("CEMENT", 5, batch="L-1", expiry_date="2030-01-31")
    content = counts(
        ["CEMENT", "A-01", 8, "", "L-1", "2030-01-31", ""],
        ["CEMENT", "B-01", 1, "", "L-1", "31/12/2031", ""],
        ["CEMENT", "A-01", 2, "", "L-2", "2032-01-31", ""],
        ["CEMENT", "B-01", 2, "", "L-2", "", ""],
        ["CEMENT", "A-01", 2, "", "L-3", "2020-01-31", ""],
        ["CEMENT", "A-01", 2, "", "L-3", "2020-01-31", "blocked"],
        ["BRICK", "A-01", 2, "", "", "2031-01-31", ""],
        more=["batch", "expiry_date", "inventory_status"],
    )

    one = validated(scenario, content)

    problems = {row: (field, reason) for row, field, reason in report_problems(scenario, one)}
    other = "batch L-1 has the expiry date 2030-01-31 at row 2"
    assert problems.pop(3) == ("expiry_date", other)
    field, reason = problems.pop(6)
    assert (field, reason.startswith("2020-01-31 has passed")) == ("expiry_date", True)
    assert not problems
    scenario.commit(one["id"])
    rows = yard.erp.walk("/stocks", status="in")
    assert {(one["batch_num"], one["qty"], one["expiry_date"]) for one in rows} == {
        ("L-1", 8, "2030-01-31"),
        ("L-2", 2, "2032-01-31"),
        ("L-3", 2, "2020-01-31"),
        (None, 2, "2031-01-31"),
    }


def test_another_expiry_date_of_a_batch_in_stock_rejects_a_row_without_difference(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    yard.stock("CEMENT", 5, batch="L-1", expiry_date="2030-01-31")
    yard.stock("CEMENT", 5, "B-01", batch="L-2")
    content = counts(
        ["CEMENT", "A-01", 5, "", "L-1", "2031-01-31"],
        ["CEMENT", "B-01", 4, "", "L-2", "2031-01-31"],
        more=["batch", "expiry_date"],
    )

    one = validated(scenario, content)

    assert one["status"] == "invalid"
    dated = "batch L-1 of CEMENT is in stock with the expiry date 2030-01-31, 2031-01-31 given"
    undated = (
        "batch L-2 of CEMENT is in stock without an expiry date, 2031-01-31 given; correct the date"
        " of the batch first"
    )
    assert report_problems(scenario, one) == {
        (2, "expiry_date", dated),
        (3, "expiry_date", undated),
    }


@pytest.mark.parametrize(
    "permissions",
    [None, "imports.run inventory.manage", "imports.run inventory.manage approvals.grant"],
)
def test_rows_above_the_limit_need_a_user_who_may_grant_approvals(
    permissions: str | None, scenario: ImportScenario, yard: WarehouseScenario, stack: Stack
) -> None:
    yard.change_settings(approval_adjustment_qty=Decimal(5))
    content = counts(["BRICK", "A-01", 6, 0], ["BRICK", "B-01", 5, 0])
    one = validated(scenario, content)
    assert one["documents"]["valid"] == 2, "it depends on who commits"
    committer = scenario.erp
    if permissions:
        committer = Erp(stack.gateway, stack.user_token(permissions=permissions))

    committer.post(f"/imports/{one['id']}/commit").ok(202)
    scenario.drain_queue()

    done = scenario.get_import(one["id"])
    if permissions and "approvals.grant" in permissions:
        assert there(yard) == {("BRICK", "A-01"): 6, ("BRICK", "B-01"): 5}
        assert done["error_report_url"] is None
    else:
        assert there(yard) == {("BRICK", "B-01"): 5}
        message = (
            "6 of BRICK at A-01 would be adjusted, from 0 to 6; more than 5 needs the approval of a"
            " user with approvals.grant"
        )
        assert report_problems(scenario, done) == {(2, "counted_qty", message)}
        assert done["rows"] == {"total": 2, "valid": 1, "error": 1}
    assert yard.erp.walk("/approvals") == []


def test_a_drop_that_is_committed_automatically_has_nobody_who_may_grant_approvals(
    scenario: ImportScenario, yard: WarehouseScenario
) -> None:
    apply_now(set_settings, "acme", {"commit_drops": True, "approval_adjustment_qty": Decimal(5)})
    content = counts(["BRICK", "A-01", 6, 0], ["BRICK", "B-01", 5, 0])

    scenario.put_file("drop/stock_counts/opening.csv", content)
    scenario.drain_queue()

    assert there(yard) == {("BRICK", "B-01"): 5}
    assert "drop/stock_counts/opening.csv.errors.xlsx" in scenario.files()


def test_a_product_that_had_stock_is_not_taken_as_new_because_its_code_is(
    scenario: ImportScenario,
    yard: WarehouseScenario,
    monkeypatch: pytest.MonkeyPatch,
    stack: Stack,
) -> None:
    """Files of few rows read everything anyway."""
    monkeypatch.setattr("shared.warehouse.stock.adjustment_lines._IN_ONE_READ", 0)
    yard.stock("BRICK", 5)
    yard.adjust(counted_qty=0).ok(201)
    yard.erp.patch("/products/1", {"item_code": "STONE"}).ok()

    one = validated(scenario, counts(["STONE", "A-01", 3, 0], ["STONE", "B-01", 4, 0]))

    assert scenario.commit(one["id"])["documents"]["committed"] == 2
    assert there(yard) == {("STONE", "A-01"): 3, ("STONE", "B-01"): 4}
    assert_invariants(stack.store())


def test_rows_in_many_warehouses_fit_into_a_transaction(
    scenario: ImportScenario, yard: WarehouseScenario, stack: Stack
) -> None:
    """Each warehouse has counters of its own for its stock and its levels."""
    for number in range(20):
        yard.erp.post("/warehouses", {"whs_code": f"W-{number}", "name": "W"}).ok(201)
        position = {"whs_code": f"W-{number}", "bin_code": "A"}
        yard.erp.post("/warehouse-positions", position).ok(201)
    for counted in (1, 2):
        rows = [
            ["BRICK", f"W-{number}", "A", counted, counted - 1, status]
            for number in range(20)
            for status in ("available", "blocked")
        ]
        content = as_csv([[*HEADER, "inventory_status"], *rows])
        done = scenario.commit(validated(scenario, content)["id"])
        assert done["documents"]["committed"] == 40, done
        [total] = yard.erp.walk("/stock-levels", totals="true")
        assert (total["on_hand"], total["available"]) == (40 * counted, 20 * counted)
    assert_invariants(stack.store())


@pytest.fixture
def open_count(yard: WarehouseScenario) -> str:
    """Return the code of a count of A-01, where 10 bricks are, and of B-01, which is empty."""
    yard.stock("BRICK", 10)
    body = {"warehouse_code": "YARD", "positions": ["A-01", "B-01"]}
    code: str = yard.erp.post("/counts", body).ok(201)["code"]
    return code


def _lines(yard: WarehouseScenario, number: int) -> list[tuple[object, ...]]:
    lines = yard.erp.get(f"/counts/{number}").ok()["lines"]
    return [
        (one["bin_code"], one["item_code"], one["serial_number"], one["counted_qty"])
        for one in lines
    ]


def test_rows_with_the_code_of_a_count_fill_its_lines(
    scenario: ImportScenario, yard: WarehouseScenario, open_count: str
) -> None:
    yard.stock("CEMENT", 3, batch="L-1")
    content = counts(
        ["BRICK", "A-01", 8, "", open_count, "", ""],
        ["CEMENT", "A-01", 5, "", "", "L-1", ""],
        ["DRILL", "B-01", 1, "", open_count, "", "S-1"],
        ["DRILL", "B-01", 0, "", open_count, "", "S-2"],
        ["BRICK", "B-01", 2, "", open_count, "", ""],
        more=["count", "batch", "serial"],
    )

    checked = validated(scenario, content)
    assert not report_problems(scenario, checked)
    done = scenario.commit(checked["id"])

    assert done["documents"] == {"total": 5, "valid": 5, "committed": 5, "skipped": 0}
    assert _lines(yard, 1) == [
        ("A-01", "BRICK", None, 8), ("B-01", "DRILL", "S-1", 1), ("B-01", "DRILL", "S-2", 0),
        ("B-01", "BRICK", None, 2),
    ]  # fmt: skip
    assert there(yard) == {("BRICK", "A-01"): 10, ("CEMENT", "A-01"): 5}
    yard.erp.post("/counts/1/finish").ok()
    yard.erp.post("/counts/1/post").ok()
    assert there(yard)["BRICK", "A-01"] == 8


def test_many_rows_for_a_count_are_applied_in_few_transactions(
    scenario: ImportScenario, yard: WarehouseScenario, open_count: str, aws_faults: AwsFaults
) -> None:
    serials = [f"S-{number:03}" for number in range(60)]
    rows = [["DRILL", "B-01", 1, "", open_count, one] for one in serials]
    checked = validated(scenario, counts(*rows, more=["count", "serial"]))
    with aws_faults.recorded() as seen:
        assert scenario.commit(checked["id"])["documents"]["committed"] == len(serials)
    assert seen.operations.count("TransactWriteItems") <= 6
    assert [line[2] for line in _lines(yard, 1)[1:]] == serials


def test_rows_that_a_count_does_not_allow_are_rejected(
    scenario: ImportScenario, yard: WarehouseScenario, open_count: str
) -> None:
    yard.erp.post("/warehouse-positions", {"whs_code": "SHOP", "bin_code": "Z-01"}).ok(201)
    content = as_csv([
        [*HEADER, "count", "serial", "unit"],
        ["BRICK", "YARD", "A-01", 8, "", open_count, "", ""],
        ["BRICK", "YARD", "B-01", 8, 3, open_count, "", ""],
        ["BRICK", "YARD", "F-01", 8, "", "CN-77", "", ""],
        ["BRICK", "SHOP", "A-01", 8, "", open_count, "", ""],
        ["DRILL", "YARD", "B-01", 2, "", open_count, "S-1", ""],
        ["BRICK", "YARD", "N-01", 8, "", open_count, "", "BOX"],
        ["NONE", "YARD", "A-01", 8, "", "CN-X", "", ""],
    ])  # fmt: skip
    checked = validated(scenario, content)
    assert checked["documents"]["valid"] == 1
    assert report_problems(scenario, checked) == {
        (3, "expected_qty", "is not allowed with count"),
        (4, "count", "no count has the code CN-77"),
        (5, "warehouse", "CN-1 counts the warehouse YARD"),
        (6, "counted_qty", "must be 1, the number of serials, or 0; 2 given"),
        (7, "bin_code", "warehouse YARD has no position N-01"),
        (7, "unit", "the product has no unit BOX; it has none"),
        (8, "count", "no count has the code CN-X"),
    }
    yard.erp.post("/counts/1/cancel").ok()
    done = scenario.commit(checked["id"])
    assert done["documents"]["committed"] == 0


def test_rows_whose_stock_has_changed_since_they_were_counted_are_rejected(
    scenario: ImportScenario, yard: WarehouseScenario, open_count: str, clock: Clock
) -> None:
    """Without a time, a row was counted when the count was created."""
    clock.advance(60)
    yard.stock("BRICK", 5)
    clock.advance(60)
    now = instant(int(clock.time() * 1000))
    content = counts(
        ["BRICK", "A-01", 15, "", open_count, "", ""],
        ["BRICK", "A-01", 14, "", open_count, now, "quarantine"],
        ["DRILL", "B-01", 1, "", open_count, "", "available"],
        ["BRICK", "F-01", 1, "", "", now, ""],
        ["BRICK", "B-01", 1, "", open_count, "2020-01-01 09:00", ""],
        more=["count", "counted_at", "inventory_status"],
    )
    content = content.replace(b"DRILL", b"NAILS")
    yard.erp.post("/products", {"item_code": "NAILS", "name": "Nails"}).ok(201)

    checked = validated(scenario, content)
    found = report_problems(scenario, checked)
    assert {(row, name) for row, name, _ in found} == {(5, "counted_at"), (6, "counted_at")}
    clock.advance(60)
    done = scenario.commit(checked["id"])

    assert done["documents"]["committed"] == 2
    [late] = report_problems(scenario, done) - found
    assert late[:2] == (2, "counted_at")
    assert "after it was counted: count it again" in late[2]
    again = counts(["BRICK", "A-01", 14, "", open_count, now], more=["count", "counted_at"])
    assert scenario.commit(validated(scenario, again)["id"])["documents"]["committed"] == 1
    assert ("A-01", "BRICK", None, 14) in _lines(yard, 1)


def test_row_does_not_replace_what_was_counted_later(
    scenario: ImportScenario, yard: WarehouseScenario, open_count: str, clock: Clock
) -> None:
    clock.advance(60)
    early = instant(int(clock.time() * 1000))
    clock.advance(60)
    goods = {"bin_code": "A-01", "item_code": "BRICK", "qty": 14}
    yard.erp.post("/counts/1/lines", goods).ok()
    content = counts(["BRICK", "A-01", 9, "", open_count, early], more=["count", "counted_at"])

    done = scenario.commit(validated(scenario, content)["id"])

    assert done["documents"]["committed"] == 0
    [(row, name, message)] = report_problems(scenario, done)
    assert (row, name) == (2, "counted_at")
    assert "another quantity, counted later" in message
    assert ("A-01", "BRICK", None, 14) in _lines(yard, 1)


def test_rows_wait_for_the_lines_of_a_count_whose_creation_was_interrupted(
    scenario: ImportScenario,
    yard: WarehouseScenario,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 9)
    monkeypatch.setattr("shared.warehouse.counts.counting.MAX_LINES", 6)
    yard.stock_serials(*(f"S{number}" for number in range(6)))
    body = {"warehouse_code": "YARD", "positions": ["A-01"]}
    assert aws_faults.kills(kill_after_step(), lambda: yard.erp.post("/counts", body))
    content = counts(
        ["DRILL", "A-01", 1, "", "CN-1", "S5"], ["BRICK", "A-01", 1, "", "CN-1", ""],
        more=["count", "serial"],
    )  # fmt: skip

    done = scenario.commit(validated(scenario, content)["id"])

    assert done["documents"]["committed"] == 1
    assert len(_lines(yard, 1)) == 6
    assert ("A-01", "DRILL", "S5", 1) in _lines(yard, 1)
    assert report_problems(scenario, done) == {
        (3, "bin_code", "CN-1 has 5000 lines, the most; count it in another count")
    }
