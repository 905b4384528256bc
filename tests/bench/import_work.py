"""What validating and committing an import costs, against a plain reader and single requests."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.integration.imports.models import Source, StoredImport
from shared.integration.imports.reading import read_file
from shared.integration.imports.units import Units
from shared.integration.imports.validating import chunks, examine
from shared.integration.imports.workspace import Workspace
from shared.kernel.db.store import Store
from shared.kernel.queue import Queue
from shared.kernel.tenant_files import Folder
from tests.bench.import_reading import openpyxl_loop, peak_of, write_xlsx
from tests.bench.meter import metered
from tests.bench.report import Row, Table, at_most
from tests.bench.request_cost import Gauge, Reading
from tests.faults import install
from tests.import_desk import ImportDesk
from tests.stack import deployed

ROWS, QUICK_ROWS = 100_000, 10_000
COMMITTED, QUICK_COMMITTED = 10_000, 960
VALIDATION_BOUND = 1 / 5
MEMORY_BOUND_MB = 512
WRITES_BOUND = 1.2
CALLS_BOUND = 1 / 20

_TURNS = 3


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Validate a large file, and commit a smaller one."""
    return [
        _validation(QUICK_ROWS if quick else ROWS),
        _commit(QUICK_COMMITTED if quick else COMMITTED),
    ]


def _validation(rows: int) -> Table:
    table = Table(
        "Validating an import",
        ["rows", "openpyxl alone ms", "parse and validate ms", "ratio", "peak MB"],
        "The worker's own way from the file to the verdict on every row, but for what it writes"
        " down, against openpyxl's read-only loop over values of the same file that does nothing"
        " else. CPU time, one run of openpyxl, the best of three of ours. Peak is all memory of a"
        " fresh process.",
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "products.xlsx"
        write_xlsx(path, rows)
        ours = min(_elapsed(path) for _ in range(_TURNS))
        began = time.process_time()
        openpyxl_loop(path)
        plain = time.process_time() - began
        peak = peak_of("tests.bench.import_child", path)
    text, holds = at_most(ours / plain, VALIDATION_BOUND, "{:.3g}")
    cells = [f"{rows:,}", f"{plain * 1000:,.0f}", f"{ours * 1000:,.0f}", f"{ours / plain:.3f}"]
    verdict = holds and peak <= MEMORY_BOUND_MB
    table.rows.append(Row([*cells, str(peak)], f"{text}, {MEMORY_BOUND_MB} MB", verdict))
    return table


def _elapsed(path: Path) -> float:
    began = time.process_time()
    validate(path)
    return time.process_time() - began


def validate(path: Path) -> int:
    """Validate a file of products as the worker does; how many rows are valid."""
    tenant = Tenant("acme", "active", "enterprise", MODULES, "https://acme.example/api/v1")
    nowhere: Any = None  # products are looked up when they are committed, not before
    space = Workspace(
        tenant,
        Store(nowhere, slug="acme", table="", outbox=""),
        Folder(nowhere, "", "acme"),
        Folder(nowhere, "", "acme"),
        Queue(""),
    )
    one = StoredImport(
        id=1,
        kind="products",
        status="validating",
        way="request",
        created_at="",
        updated_at="",
        source=Source(bucket="work", name=""),
    )
    file = read_file(path, path.name, "products", most_rows=ROWS)
    assert not file.flaws
    units = Units(file, "products", "UTC")
    valid = 0
    for chunk in chunks(units.all()):
        examine(space, one, units, chunk)
        valid += sum(not unit.problems for unit in chunk)
    return valid


def _commit(rows: int) -> Table:
    table = Table(
        "Committing an import",
        ["products", "AWS calls", "rows per call", "write units per row", "of a single POST"],
        "All that the worker asks of AWS to create the products of a file, against a single"
        " POST /products with an Idempotency-Key of the same product.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = install(patch)
        with deployed(patch) as stack:
            gauge, desk = Gauge(stack, aws_faults), ImportDesk(stack)
            single = gauge.read("/products", _product(0)).units.writes
            number = desk.imported("products", "products.csv", _csv(rows))["id"]
            reading = Reading()
            with aws_faults.recorded() as seen, metered(aws_faults) as units:
                done = desk.commit(number)
            reading.add(seen, units)
            assert done["documents"]["committed"] == rows
    each = reading.units.writes / rows
    writes, cheap = at_most(each / single, WRITES_BOUND, "{:.3g}")
    calls, few = at_most(reading.calls / rows, CALLS_BOUND, "{:.3g}")
    cells = [
        f"{rows:,}",
        f"{reading.calls:,}",
        f"{rows / reading.calls:.1f}",
        f"{each:.1f}",
        f"{each / single:.2f}",
    ]
    bound = f"calls per row {calls}, write units {writes} of a POST"
    table.rows.append(Row(cells, bound, cheap and few))
    return table


def _product(number: int) -> dict[str, str]:
    return {
        "item_code": f"SKU-{number:06}",
        "name": f"Hammer drill {number}, with case",
        "barcode": f"84{number:011}",
        "type": "goods",
        "sales_unit": "UN",
    }


def _csv(rows: int) -> bytes:
    def lines() -> Iterator[str]:
        yield ";".join(_product(0))
        for number in range(1, rows + 1):
            yield ";".join(_product(number).values())

    return "\n".join(lines()).encode()
