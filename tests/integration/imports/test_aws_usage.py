"""What imports ask of AWS: calls and write units per row, and no call per row."""

from collections import Counter
from collections.abc import Sequence

import pytest

from shared.integration.imports.files.columns import ImportKind
from tests.bench.meter import metered
from tests.faults import AwsFaults, Recording
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv
from tests.warehouse_scenario import WarehouseScenario

ROWS = 1000
_CONSTANT = 30
"""Calls that do not depend on the rows: tokens, the import itself, its file, its end."""


def recorded(
    desk: ImportDesk, aws_faults: AwsFaults, kind: ImportKind, rows: Sequence[Sequence[object]]
) -> tuple[Recording, Recording, float]:
    """Import rows: the calls of the validation, those of the commit, its write units."""
    with aws_faults.recorded() as validation:
        one = desk.imported(kind, "rows.csv", as_csv(rows))
    assert one["rows"]["valid"] == len(rows) - 1, one
    with aws_faults.recorded() as commit, metered(aws_faults) as units:
        done = desk.commit(one["id"])
    assert done["status"] == "committed", done
    return validation, commit, units.writes


def products(note: str) -> list[list[object]]:
    header: list[object] = ["item_code", "name", "barcode", "type"]
    rows: list[list[object]] = [
        [f"P-{n:04d}", f"Product {n}", f"84000{n:06d}", note] for n in range(ROWS)
    ]
    return [header, *rows]


def test_a_thousand_products(desk: ImportDesk, aws_faults: AwsFaults) -> None:
    single = {"item_code": "S", "name": "Product 0", "barcode": "84000000000", "type": "goods"}
    desk.erp.post("/products", single | {"item_code": "FIRST"})
    with metered(aws_faults) as alone:
        desk.erp.post("/products", single)

    header: list[object] = ["sku", "name"]
    _, least, _ = recorded(desk, aws_faults, "products", [header, ["ONE", "Of one row"]])
    allowed = ROWS / 20 + len(least.calls)

    validation, commit, writes = recorded(desk, aws_faults, "products", products("goods"))
    assert len(validation.calls) <= _CONSTANT
    assert len(commit.calls) <= allowed, Counter(commit.operations)
    assert writes / ROWS <= 1.2 * alone.writes

    # Once more, with something else in each: nothing is read or written one by one either.
    validation, commit, writes = recorded(desk, aws_faults, "products", products("tools"))
    assert len(validation.calls) <= _CONSTANT
    assert len(commit.calls) <= allowed + ROWS / 100, Counter(commit.operations)

    # And once more, with nothing new.
    _, _, writes = recorded(desk, aws_faults, "products", products("tools")[:201])
    assert writes <= 200 / 2


@pytest.fixture
def goods(yard: WarehouseScenario) -> WarehouseScenario:
    """Twenty products and forty positions more."""
    for number in range(20):
        body = {"item_code": f"G-{number}", "name": f"Good {number}"}
        assert yard.erp.post("/products", body).status == 201
    for number in range(40):
        body = {"whs_code": "YARD", "bin_code": f"P-{number}"}
        assert yard.erp.post("/warehouse-positions", body).status == 201
    return yard


def test_a_thousand_order_lines(
    desk: ImportDesk, goods: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    del goods
    header = [
        "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    ]  # fmt: skip
    rows = [
        [f"SO-{n // 5}", "sale_order", "2026-03-01", "C-1", "YARD", f"G-{n % 20}", n + 1]
        for n in range(ROWS)
    ]
    validation, commit, _ = recorded(desk, aws_faults, "exit_documents", [header, *rows])
    # Each chunk reads what its rows name, a hundred in a call, and is written down.
    assert len(validation.calls) <= _CONSTANT
    assert Counter(validation.operations)["BatchGetItem"] <= ROWS / 5 / 100 + 2
    transactions = Counter(commit.operations)["TransactWriteItems"]
    assert transactions <= ROWS / 5 / 24 + 3
    assert len(commit.calls) <= 4 * transactions + _CONSTANT


def test_transfer_orders(desk: ImportDesk, goods: WarehouseScenario, aws_faults: AwsFaults) -> None:
    del goods
    header = ["external_ref", "from_warehouse", "to_warehouse", "item_code", "qty"]
    rows = [[f"TR-{n // 2}", "YARD", "SHOP", f"G-{n % 20}", 1] for n in range(200)]
    validation, commit, _ = recorded(desk, aws_faults, "transfer_orders", [header, *rows])
    assert len(validation.calls) <= _CONSTANT
    transactions = Counter(commit.operations)["TransactWriteItems"]
    assert transactions <= 100 / 19 + 4
    assert len(commit.calls) <= 4 * transactions + _CONSTANT


def test_pick_faces(desk: ImportDesk, goods: WarehouseScenario, aws_faults: AwsFaults) -> None:
    del goods
    header = ["item_code", "warehouse_code", "bin_code", "minimum"]
    rows = [[f"G-{n % 20}", "YARD", f"P-{n // 5}", n] for n in range(200)]
    validation, commit, _ = recorded(desk, aws_faults, "pick_faces", [header, *rows])
    assert len(validation.calls) <= _CONSTANT
    transactions = Counter(commit.operations)["TransactWriteItems"]
    assert transactions <= 200 / 24 + 4
    assert len(commit.calls) <= 4 * transactions + _CONSTANT
