"""Templates that are uploaded, unchanged or filled in."""

from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl

from shared.integration.imports.files.columns import normalize_header
from shared.integration.imports.files.reader import read_file
from shared.integration.imports.files.sample_rows import is_sample_row
from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind
from shared.integration.imports.template import template
from shared.kernel.spreadsheets.open_table import open_table
from tests.unit.imports.layouts import EACH_KIND_AND_LANGUAGE, LAYOUTS


@EACH_KIND_AND_LANGUAGE
def test_an_unchanged_template_has_a_known_header_and_no_data_rows(
    kind: ImportKind, language: Language, tmp_path: Path
) -> None:
    path = tmp_path / "template.xlsx"
    path.write_bytes(template(kind, language))
    header, row = [row.cells for row in open_table(path, path.name).rows()]
    assert [LAYOUTS[kind].by_header[normalize_header(str(cell))] for cell in header] == list(
        LAYOUTS[kind].columns
    )
    fields = [column.field for column in LAYOUTS[kind].columns]
    assert is_sample_row(LAYOUTS[kind], dict(zip(fields, row, strict=True)))
    file = read_file(path, path.name, kind, max_rows=10)
    assert file.structure_errors == ["The file has no data rows below the header."]


@EACH_KIND_AND_LANGUAGE
def test_a_filled_in_template_has_the_rows_of_the_user(
    kind: ImportKind, language: Language, tmp_path: Path
) -> None:
    book = openpyxl.load_workbook(BytesIO(template(kind, language)))
    row: list[Any] = [f"00{number}" for number in range(len(LAYOUTS[kind].columns))]
    book.worksheets[0].append(row)
    path = tmp_path / "filled in.xlsx"
    book.save(path)
    file = read_file(path, path.name, kind, max_rows=10)
    assert list(file.structure_errors) == []
    assert [(row.number, row.cells) for row in file.rows] == [(3, row)]
    assert file.language == language
