"""Validates a file of products in a process of its own.

Writes the number of valid rows, the seconds of processor time and the peak memory in MB.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.integration.imports.context import ImportContext
from shared.integration.imports.files.reader import read_file
from shared.integration.imports.files.row_groups import RowGrouper
from shared.integration.imports.models import FileLocation, StoredImport
from shared.integration.imports.validation import chunks, validate_groups
from shared.kernel.company import Company
from shared.kernel.db.store import Store
from shared.kernel.queue import Queue
from shared.kernel.tenant_files import TenantFiles
from tests.unit.spreadsheets.memory_probe import peak_mb


def _validate(path: Path) -> int:
    """Validate a file of products as the worker does, and return the number of valid rows."""
    tenant = Tenant("acme", "active", "enterprise", MODULES, "https://acme.example/api/v1")
    no_client: Any = None  # the validation of products makes no calls
    files = TenantFiles(no_client, "", "acme")
    store = Store(no_client, company=Company("acme"), table="", outbox="")
    context = ImportContext(tenant, store, files, files, Queue(""))
    stored = StoredImport(
        id=1, kind="products", status="validating", way="request", created_at="", updated_at="",
        source=FileLocation(bucket="work", name=""),
    )  # fmt: skip
    file = read_file(path, path.name, "products", max_rows=100_000)
    assert not file.structure_errors
    grouper = RowGrouper(file, "products", "UTC")
    valid = 0
    for chunk in chunks(grouper.groups()):
        validate_groups(context, stored, grouper, chunk)
        valid += sum(not group.problems for group in chunk)
    return valid


if __name__ == "__main__":
    began = time.process_time()
    valid_rows = _validate(Path(sys.argv[1]))
    json.dump([valid_rows, time.process_time() - began, peak_mb()], sys.stdout)
