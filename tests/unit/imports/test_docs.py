"""docs/imports.md says what the code does."""

from pathlib import Path
from typing import get_args

import pytest

from shared.identity.tenancy.tenant import PLANS
from shared.integration.imports.files.columns import Layout
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.models import MAX_FILE, MAX_REQUEST_FILE_BYTES, Status
from shared.integration.imports.report.rejected_rows import REPORT_HEADERS
from shared.kernel.spreadsheets.table import MOST_CHARACTERS, MOST_COLUMNS
from shared.warehouse.documents.models import MAX_LINES

PAGE = (Path(__file__).parents[3] / "docs" / "imports.md").read_text(encoding="utf-8")


def columns(layout: Layout) -> str:
    """The table of the columns of a kind."""
    head = f"### {layout.title.en}: `{layout.kind}`\n\n"
    titles = "| Column | En español | Field | What it holds |\n|---|---|---|---|\n"
    rows = [
        f"| {column.header.en}{r' \*' if column.required else ''} | {column.header.es} |"
        f" `{column.field}` | {column.note.en} |\n"
        for column in layout.columns
    ]
    return head + titles + "".join(rows)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: str(layout.kind))
def test_every_column_is_in_the_table_of_its_kind(layout: Layout) -> None:
    section = PAGE.partition(f"### {layout.title.en}: ")
    assert (section[1] + section[2]).startswith(columns(layout) + "\n")


def test_every_status_is_explained() -> None:
    section = PAGE.partition("## What becomes of it\n")[2].partition("`rows` counts")[0]
    named = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
    assert named == list(get_args(Status.__value__))


def test_the_limits_are_those_of_the_code() -> None:
    rows = [
        f"{plan.limits['rows_per_import']:,} ({name.capitalize()})" for name, plan in PLANS.items()
    ]
    for limit in (
        f"| rows | {', '.join(row.replace(',', ' ') for row in rows)} |",
        f"| columns | {MOST_COLUMNS} |",
        f"| characters in a cell | {MOST_CHARACTERS:,} |".replace(",", " "),
        f"| lines of a document | {MAX_LINES:,} |".replace(",", " "),
        f"{MAX_REQUEST_FILE_BYTES // 10**6} MB with the request, {MAX_FILE // 10**6} MB otherwise |",
    ):
        assert limit in PAGE


def test_the_headers_of_the_report_are_named() -> None:
    for words in REPORT_HEADERS:
        assert f"`{words.en}`" in PAGE
