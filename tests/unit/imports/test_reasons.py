"""Every message that can be a reason in an error report has a Spanish text."""

import ast
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource

import pytest

from shared.integration.imports.report.reasons import _SPANISH, reason_in
from tests.cases import each_case

# The modules of the rules that a file can violate.
_MODULES = (
    "shared.kernel.fields",
    "shared.warehouse.catalog.lines",
    "shared.warehouse.catalog.models",
    "shared.warehouse.catalog.rules",
    "shared.warehouse.catalog.service",
    "shared.warehouse.catalog.unit_quantities",
    "shared.warehouse.documents.rules",
    "shared.warehouse.documents.vocabulary",
    "shared.warehouse.master_data.named_codes",
    "shared.warehouse.pick_faces.rules",
    "shared.warehouse.returns.rules",
    "shared.warehouse.stock.batches",
    "shared.warehouse.transfer_orders.rules",
    "shared.integration.imports.files.cells",
    "shared.integration.imports.files.row_groups",
    "shared.integration.imports.kinds.importer",
    "shared.integration.imports.kinds.returns",
    "shared.integration.imports.part_files",
    "shared.integration.imports.validation",
)
_ELSEWHERE = {
    "must be an e-mail address",
    "is the same GTIN as gtins.7.gtin",
    "is the same unit as units.7.unit",
    "must be 7, as 7 counts, or not be sent",
    "must have 7, which the GTIN 7 names",
    "must not be named twice",
    "serial 7 is already in 7",
    "7 different serials given, qty is 7; they must be equal",
    "row 7 has 7 and may belong to this document; add it or remove the row",
    "product 7 is 7managed by batch",
}
"""Messages of fields that no file has, and those that are composed of two."""


def _text(node: ast.AST) -> str | None:
    """Return a literal text, with 7 in the place of each value."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or "7" for part in parts)
        case _:
            return None


def _messages(source: str) -> Iterator[str]:
    """Yield the messages of problems in a module."""
    for node in ast.walk(ast.parse(source)):
        found: ast.AST | None = None
        match node:
            case ast.Call(func=ast.Name(id="Problem" | "PydanticCustomError"), args=[_, found, *_]):
                pass
            case ast.Call(func=ast.Name(id="RowProblem"), args=[_, _, found]):
                pass
            case ast.Call(func=ast.Name(id="TextRule"), args=[_, found]):
                pass
            case ast.Assign(targets=[ast.Name(id="message")], value=found):
                pass
            case _:
                continue
        if text := _text(found):
            yield text


@pytest.mark.parametrize("module", _MODULES)
def test_each_message_of_a_rule_has_a_spanish_text(module: str) -> None:
    untranslated = {
        message
        for message in _messages(getsource(import_module(module)))
        if (" " in message and message[0].islower()) or message[0] == "7"
        if message not in _ELSEWHERE and reason_in("es", message) == message
    }
    assert untranslated == set()


@each_case("english", _SPANISH)
def test_values_of_a_message_are_in_its_translation(english: str) -> None:
    assert _SPANISH[english].count("{}") == english.count("{}")
    values = [f"V{number}" for number in range(english.count("{}"))]
    assert reason_in("es", english.format(*values)) == _SPANISH[english].format(*values)
    assert reason_in("en", english.format(*values)) == english.format(*values)


def test_values_may_have_braces_and_line_breaks() -> None:
    assert reason_in("es", "no product has the code {A}\n{B}") == (
        "ningún artículo tiene el código {A}\n{B}"
    )
    assert reason_in("es", "The company is closed.") == "The company is closed."
