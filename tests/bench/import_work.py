"""The cost of committing an import, compared with single requests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.integration.imports.context import ImportContext
from shared.integration.imports.files.reader import read_file
from shared.integration.imports.files.row_groups import RowGrouper
from shared.integration.imports.models import FileLocation, StoredImport
from shared.integration.imports.validation import chunks, validate_groups
from shared.kernel.db.store import Store
from shared.kernel.queue import Queue
from shared.kernel.tenant_files import TenantFiles
from tests.bench.report import Row, Table
from tests.dynamodb.meter import metered
from tests.dynamodb.request_cost import Gauge, Reading
from tests.faults import install
from tests.import_scenario import ImportScenario
from tests.stack import deployed

MAX_ROWS = 100_000
COMMITTED, QUICK_COMMITTED = 10_000, 960


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Commit a file."""
    return [_commit(QUICK_COMMITTED if quick else COMMITTED)]


def validate(path: Path) -> int:
    """Validate a file of products as the worker does, and return the number of valid rows."""
    tenant = Tenant("acme", "active", "enterprise", MODULES, "https://acme.example/api/v1")
    no_client: Any = None  # the validation of products makes no calls
    context = ImportContext(
        tenant,
        Store(no_client, slug="acme", table="", outbox=""),
        TenantFiles(no_client, "", "acme"),
        TenantFiles(no_client, "", "acme"),
        Queue(""),
    )
    stored = StoredImport(
        id=1,
        kind="products",
        status="validating",
        way="request",
        created_at="",
        updated_at="",
        source=FileLocation(bucket="work", name=""),
    )
    file = read_file(path, path.name, "products", max_rows=MAX_ROWS)
    assert not file.structure_errors
    grouper = RowGrouper(file, "products", "UTC")
    valid = 0
    for chunk in chunks(grouper.groups()):
        validate_groups(context, stored, grouper, chunk)
        valid += sum(not group.problems for group in chunk)
    return valid


def _commit(rows: int) -> Table:
    table = Table(
        "Committing an import",
        ["products", "AWS calls", "rows per call", "write units per row", "of a single POST"],
        "The AWS calls of the worker for creating the products of a file, compared with a single"
        " POST /products of the same product with an Idempotency-Key.",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = install(patch)
        with deployed(patch) as stack:
            gauge, scenario = Gauge(stack, aws_faults), ImportScenario(stack)
            single = gauge.read("/products", _product(0)).units.writes
            number = scenario.import_file("products", "products.csv", _csv(rows))["id"]
            reading = Reading()
            with aws_faults.recorded() as seen, metered(aws_faults) as units:
                done = scenario.commit(number)
            reading.add(seen, units)
            assert done["documents"]["committed"] == rows
    each = reading.units.writes / rows
    cells = [
        f"{rows:,}",
        f"{reading.calls:,}",
        f"{rows / reading.calls:.1f}",
        f"{each:.1f}",
        f"{each / single:.2f}",
    ]
    table.rows.append(Row(cells))
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
