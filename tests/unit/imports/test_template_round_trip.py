"""Templates on their way back: what the service makes of them."""

from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from shared.integration.imports.files.columns import LANGUAGES, Language, Layout, normalize_header
from shared.integration.imports.files.reader import read_file
from shared.integration.imports.files.sample_rows import is_sample
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.templates.template import template
from shared.kernel.spreadsheets.open_table import open_table

EACH = pytest.mark.parametrize(
    ("layout", "language"),
    [(layout, language) for layout in LAYOUTS.values() for language in LANGUAGES],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)


@EACH
def test_the_reader_finds_header_and_sample_row(
    layout: Layout, language: Language, tmp_path: Path
) -> None:
    path = tmp_path / "template.xlsx"
    path.write_bytes(template(layout.kind, language))
    header, row = [row.cells for row in open_table(path, path.name, most_rows=10).rows()]
    assert [layout.by_name[normalize_header(str(cell))] for cell in header] == list(layout.columns)
    fields = [column.field for column in layout.columns]
    assert is_sample(layout, dict(zip(fields, row, strict=True)))


@EACH
def test_a_template_as_it_is_has_no_rows(
    layout: Layout, language: Language, tmp_path: Path
) -> None:
    path = tmp_path / "template.xlsx"
    path.write_bytes(template(layout.kind, language))
    file = read_file(path, path.name, layout.kind, most_rows=10)
    assert file.flaws == ["The file has no rows below its header."]


@EACH
def test_a_template_that_was_filled_in_has_the_rows_of_the_person(
    layout: Layout, language: Language, tmp_path: Path
) -> None:
    book = openpyxl.load_workbook(BytesIO(template(layout.kind, language)))
    row: list[Any] = [f"00{number}" for number in range(len(layout.columns))]
    book.worksheets[0].append(row)
    path = tmp_path / "filled in.xlsx"
    book.save(path)
    file = read_file(path, path.name, layout.kind, most_rows=10)
    assert list(file.flaws) == []
    assert [(row.number, row.cells) for row in file.rows] == [(3, row)]
    assert file.language == language
