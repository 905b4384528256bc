"""The file of words, and what is generated from it."""

import re
from pathlib import Path

import pytest

from shared.integration.imports.files.columns import find_columns
from shared.integration.imports.kinds.column_words import WORDS
from shared.integration.imports.models import ImportKind
from shared.warehouse.documents.vocabulary import TYPES
from tests.cases import each_case
from tests.import_graph import imports_below
from tests.unit.imports.layouts import LAYOUTS
from tools import words
from tools.generated import ROOT
from tools.openapi.declared import operations
from tools.openapi.examples import example
from tools.words.__main__ import texts


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of words of a test."""
    words.words.cache_clear()
    path = tmp_path / "words.toml"
    monkeypatch.setattr(words, "FILE", path)
    monkeypatch.setattr(words, "words", words.words.__wrapped__)
    return path


def test_generated_files_are_current() -> None:
    stale = [name for name, text in texts().items() if (ROOT / name).read_text() != text]
    assert stale == [], "run python -m tools.words"


def test_every_column_of_the_words_is_in_a_file_and_has_words() -> None:
    used = {
        f"{kind}.{column.field}" if f"{kind}.{column.field}" in WORDS else column.field
        for kind, layout in LAYOUTS.items()
        for column in layout.columns
    }
    assert used == WORDS.keys()


def test_every_example_of_the_words_is_in_a_response() -> None:
    responses = [one.response for one in operations() if not isinstance(one.response, str)]
    shown = {name for one in responses for name in one.model_fields if name not in example(one)}
    given = {name for name, entry in words.words()["fields"].items() if "example" in entry}
    assert given >= {"created_at", "source"}
    assert given <= shown


def test_types_of_documents_have_the_words_that_requests_accept() -> None:
    types = {name: labels for kind in TYPES.values() for name, labels in kind.items()}
    assert {name: words.label("values", name) for name in types} == types


def test_no_function_loads_the_words_of_columns_before_an_import_needs_them() -> None:
    graph = imports_below(ROOT)
    found = {name for name in graph if name.startswith("functions.")}
    new = found
    while new:
        new = {one for name in new for one in graph.get(name, ())} - found
        found |= new
    assert "shared.integration.imports.languages" in found
    assert not {name for name in found if name.endswith(("column_words", "value_words"))}
    assert not {name for name in found if name.split(".")[0] == "tools"}


def test_entries_are_sorted(file: Path) -> None:
    file.write_text('[fields.width]\nes = "Ancho"\n[fields.height]\nes = "Alto"\n')
    with pytest.raises(ValueError, match=r"\[fields\] height: stands after width"):
        words.words()


@each_case(
    ("text", "problem"),
    [
        ('[fields.width]\ndesciption = "Across."', "[fields] width: desciption is unknown"),
        ('[fields.width]\ncolumn.help = "A"', "[fields] width: a column needs es, help, example"),
        ('[texts]\nhome.fr = "Accueil"', "[texts] home: fr is unknown"),
    ],
)
def test_entry_that_is_wrong_is_reported(file: Path, text: str, problem: str) -> None:
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(problem)):
        words.words()


def test_property_that_is_described_twice_is_reported(file: Path) -> None:
    file.write_text('[fields.width]\nschemas."Rack, Bay" = "A"\nschemas."Bay, Door" = "B"\n')
    with pytest.raises(ValueError, match=r"describes Bay\.width twice"):
        words.descriptions()


@each_case(
    ("kind", "header", "field"),
    [
        ("entry_documents", "Provider code", "partner_code"),
        ("entry_documents", "Código de proveedor", "partner_code"),
        ("entry_documents", "Provider name", "partner_name"),
        ("entry_documents", "Nombre de proveedor", "partner_name"),
        ("exit_documents", "Client code", "partner_code"),
        ("exit_documents", "Código de cliente", "partner_code"),
        ("exit_documents", "Client name", "partner_name"),
        ("exit_documents", "Nombre de cliente", "partner_name"),
        ("transfer_orders", "Serials", "expected_series"),
        ("transfer_orders", "Números de serie", "expected_series"),
        ("returns", "Client code", "partner_code"),
        ("returns", "Código de cliente", "partner_code"),
        ("returns", "Exit document", "exit_document_id"),
        ("returns", "Documento de salida", "exit_document_id"),
        ("products", "Managed by serial", "man_ser_num"),
    ],
)
def test_former_headers_are_recognized(kind: ImportKind, header: str, field: str) -> None:
    assert find_columns([header], LAYOUTS[kind]).fields == {field}
