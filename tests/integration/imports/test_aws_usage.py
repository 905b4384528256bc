"""AWS calls and write units of imports: no call per row.

A transaction of a commit has at most MAX_PLANNED_ACTIONS actions: 16 products, 15 documents of
five lines, 15 pick faces or 10 transfer orders.
"""

from collections import Counter
from collections.abc import Sequence

import pytest

from shared.integration.imports.models import ImportKind
from tests.cases import each_case
from tests.dynamodb.meter import metered
from tests.faults import AwsFaults, Recording
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv
from tests.sampling import is_complete
from tests.warehouse_scenario import WarehouseScenario

ROWS = 1000 if is_complete() else 200
COUNTED_ROWS = 500 if is_complete() else 100
_CONSTANT = 30
"""Calls that do not depend on the rows: for tokens, the import record and the file."""


def record_import(
    scenario: ImportScenario,
    aws_faults: AwsFaults,
    kind: ImportKind,
    rows: Sequence[Sequence[object]],
) -> tuple[Recording, Recording, float]:
    """Import rows; return the calls of validation and commit, and the write units of the commit."""
    with aws_faults.recorded() as validation:
        one = scenario.import_file(kind, "rows.csv", as_csv(rows))
    assert one["rows"]["valid"] == len(rows) - 1, one
    with aws_faults.recorded() as commit, metered(aws_faults) as units:
        done = scenario.commit(one["id"])
    assert done["status"] == "committed", done
    return validation, commit, units.writes


def products(note: str) -> list[list[object]]:
    header: list[object] = ["item_code", "name", "barcode", "type"]
    rows: list[list[object]] = [
        [f"P-{n:04d}", f"Product {n}", f"84000{n:06d}", note] for n in range(ROWS)
    ]
    return [header, *rows]


def test_products_need_no_call_per_row(scenario: ImportScenario, aws_faults: AwsFaults) -> None:
    single = {"item_code": "S", "name": "Product 0", "barcode": "84000000000", "type": "goods"}
    scenario.erp.post("/products", single | {"item_code": "FIRST"})
    with metered(aws_faults) as single_request:
        scenario.erp.post("/products", single)

    header: list[object] = ["sku", "name"]
    _, least, _ = record_import(scenario, aws_faults, "products", [header, ["ONE", "Of one row"]])
    allowed = ROWS / 16 + len(least.calls)

    validation, commit, writes = record_import(scenario, aws_faults, "products", products("goods"))
    assert len(validation.calls) <= _CONSTANT
    assert len(commit.calls) <= allowed, Counter(commit.operations)
    assert writes / ROWS <= 1.2 * single_request.writes

    # An import that changes all products needs no call per row either.
    validation, commit, writes = record_import(scenario, aws_faults, "products", products("tools"))
    assert len(validation.calls) <= _CONSTANT
    assert len(commit.calls) <= allowed + ROWS / 100, Counter(commit.operations)

    # An import that changes nothing writes almost nothing.
    _, _, writes = record_import(scenario, aws_faults, "products", products("tools")[:201])
    assert writes <= 200 / 2


@pytest.fixture
def goods(yard_with_returns: WarehouseScenario) -> WarehouseScenario:
    """Add 20 products and 40 positions."""
    for number in range(20):
        body = {"item_code": f"G-{number}", "name": f"Good {number}"}
        assert yard_with_returns.erp.post("/products", body).status == 201
    for number in range(40):
        body = {"whs_code": "YARD", "bin_code": f"P-{number}"}
        assert yard_with_returns.erp.post("/warehouse-positions", body).status == 201
    return yard_with_returns


def test_documents_need_no_call_per_row(
    scenario: ImportScenario, goods: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    del goods
    header = [
        "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    ]  # fmt: skip
    rows = [
        [f"SO-{n // 5}", "sale_order", "2026-03-01", "C-1", "YARD", f"G-{n % 20}", n + 1]
        for n in range(ROWS)
    ]
    validation, commit, _ = record_import(scenario, aws_faults, "exit_documents", [header, *rows])
    # Each chunk reads the items of its rows, 100 in a call.
    assert len(validation.calls) <= _CONSTANT
    assert Counter(validation.operations)["BatchGetItem"] <= ROWS / 5 / 100 + 2
    transactions = Counter(commit.operations)["TransactWriteItems"]
    # The levels of the 20 products, the item of the outbox, and 6 documents.
    assert transactions <= ROWS / 5 / 6 + 3
    assert len(commit.calls) <= 4 * transactions + _CONSTANT


def test_transfer_orders_need_no_call_per_row(
    scenario: ImportScenario, goods: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    del goods
    header = ["external_ref", "from_warehouse", "to_warehouse", "item_code", "qty"]
    rows = [[f"TR-{n // 2}", "YARD", "SHOP", f"G-{n % 20}", 1] for n in range(200)]
    validation, commit, _ = record_import(scenario, aws_faults, "transfer_orders", [header, *rows])
    assert len(validation.calls) <= _CONSTANT
    transactions = Counter(commit.operations)["TransactWriteItems"]
    assert transactions <= 100 / 10 + 3
    assert len(commit.calls) <= 4 * transactions + _CONSTANT


def count_rows(rows: int, *, per_product: int, counted: int) -> list[list[object]]:
    """Return counts of so many rows, each at a position of its own."""
    table: list[list[object]] = [
        ["item_code", "warehouse", "bin_code", "counted_qty", "expected_qty"]
    ]
    for number in range(rows):
        product = f"C-{number // per_product}"
        table.append([product, "YARD", f"C-{number}", counted, counted - 1])
    return table


@each_case("per_product", [1, 5])
def test_counts_need_no_call_per_row(
    per_product: int, scenario: ImportScenario, aws_faults: AwsFaults
) -> None:
    """The least favourable opening stock: nothing that a row names was named before."""
    reset = scenario.stack.take_snapshot()
    WarehouseScenario.with_master_data(scenario.erp, "YARD")
    rows = COUNTED_ROWS
    goods: list[list[object]] = [["sku", "name"]]
    goods += [[f"C-{number}", "Good"] for number in range(rows)]
    scenario.commit(scenario.import_file("products", "goods.csv", as_csv(goods))["id"])
    for number in range(rows):
        position = {"whs_code": "YARD", "bin_code": f"C-{number}"}
        scenario.erp.post("/warehouse-positions", position).ok(201)

    for counted in (1, 2):
        content = count_rows(rows, per_product=per_product, counted=counted)
        validation, commit, _ = record_import(scenario, aws_faults, "stock_counts", content)
        assert dynamodb_calls(validation) <= _CONSTANT + 8 * rows / 100
        assert dynamodb_calls(commit) <= _CONSTANT + 12 * rows / 100, Counter(commit.operations)
    reset()
    scenario.take_messages()


def dynamodb_calls(recorded: Recording) -> int:
    """Return how many of the calls are to DynamoDB."""
    reads = {"GetItem", "BatchGetItem", "Query", "UpdateItem", "PutItem", "TransactWriteItems"}
    return sum(operation in reads for operation in recorded.operations)


def test_pick_faces_need_no_call_per_row(
    scenario: ImportScenario, goods: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    del goods
    header = ["item_code", "warehouse_code", "bin_code", "minimum"]
    rows = [[f"G-{n % 20}", "YARD", f"P-{n // 5}", n] for n in range(200)]
    validation, commit, _ = record_import(scenario, aws_faults, "pick_faces", [header, *rows])
    assert len(validation.calls) <= _CONSTANT
    transactions = Counter(commit.operations)["TransactWriteItems"]
    assert transactions <= 200 / 15 + 3
    assert len(commit.calls) <= 4 * transactions + _CONSTANT
