"""docs/imports.md agrees with the code."""

from pathlib import Path
from typing import get_args

from shared.identity.tenancy.tenant import PLANS
from shared.integration.imports.models import (
    MAX_FILE_BYTES,
    MAX_REQUEST_FILE_BYTES,
    ImportStatus,
    megabytes,
)
from shared.integration.imports.report.rejected_rows import REPORT_HEADERS
from shared.kernel.spreadsheets.table import MAX_CELL_CHARACTERS, MAX_COLUMNS
from shared.warehouse.documents.models import MAX_LINES

PAGE = (Path(__file__).parents[3] / "docs" / "imports.md").read_text(encoding="utf-8")


def test_the_page_explains_every_status() -> None:
    section = PAGE.partition("## Statuses\n")[2].partition("`rows` counts")[0]
    named = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
    assert named == list(get_args(ImportStatus.__value__))


def test_the_page_has_the_limits_of_the_code() -> None:
    rows = [
        f"{plan.limits['rows_per_import']:,} ({name.capitalize()})" for name, plan in PLANS.items()
    ]
    for limit in (
        f"| rows | {', '.join(row.replace(',', ' ') for row in rows)} |",
        f"| columns | {MAX_COLUMNS}, besides the three of an error report |",
        f"| characters in a cell | {MAX_CELL_CHARACTERS:,} |".replace(",", " "),
        f"| lines of a document | {MAX_LINES:,} |".replace(",", " "),
        f"| `POST /imports` | files up to {megabytes(MAX_REQUEST_FILE_BYTES)} |",
        f"| `POST /imports/uploads` | files up to {megabytes(MAX_FILE_BYTES)} |",
        f"| size of a file | {megabytes(MAX_REQUEST_FILE_BYTES)} in a request,",
    ):
        assert limit in PAGE


def test_the_page_names_the_headers_of_the_report() -> None:
    for header in REPORT_HEADERS:
        assert f"`{header.en}`" in PAGE
