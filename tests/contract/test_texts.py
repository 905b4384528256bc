"""Every text of every body and query is normalized; codes have no hidden characters."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from shared.identity.users.models import TotpConfirmation
from tools.openapi.declared import operations

pytestmark = pytest.mark.usefixtures("stack")

_CODES = re.compile(
    r"(item|whs|warehouse|bin|partner|card)_code|sku|barcode|from_warehouse|to_warehouse|from_bin"
    r"|to_bin|destination_bin|batch(_num)?|expected_(batches|series)|serials?|external_ref|code"
)
_SECRETS = {"password", "new_password", "current_password", "otp"}
"""Fields that are not stored as text: passwords have a normalization of their own."""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation and in their fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    for part in get_args(getattr(annotation, "__value__", annotation)):
        yield from _models(part)


def _fields(*, queries: bool) -> dict[tuple[str, str], TypeAdapter[Any]]:
    """Return the fields of all bodies, and of all queries if asked, by model and name."""
    roots = [one.body for one in operations()]
    roots += [one.parameters for one in operations()] if queries else []
    models = {model for root in roots if root for model in _models(root)}
    return {
        (model.__name__, name): TypeAdapter(info.rebuild_annotation())
        for model in models - {TotpConfirmation}
        for name, info in model.model_fields.items()
        if name not in _SECRETS
    }


def _accepted(adapter: TypeAdapter[Any], text: str) -> list[str]:
    """Return the text as the field keeps it, if the field takes a text or a list of texts."""
    for value in (text, [text]):
        try:
            kept = adapter.validate_python(value, strict=True)
        except ValidationError:
            continue
        found = kept if isinstance(kept, list) else [kept]
        return [one for one in found if isinstance(one, str)]
    return []


def test_every_text_is_normalized() -> None:
    kept = {
        field: [found for text in texts for found in _accepted(adapter, text)]
        for field, adapter in _fields(queries=True).items()
        for texts in [("Cafe\u0301", "https://example.com/Cafe\u0301", "e\u0301")]
    }
    assert sum(map(bool, kept.values())) > 150
    wrong = {
        field for field, texts in kept.items() for one in texts
        if not unicodedata.is_normalized("NFC", one)
    }  # fmt: skip
    assert wrong == set()


@pytest.mark.parametrize("text", ["A\u202eB", "A\u2066B", "A\x07B"])
def test_no_text_has_control_or_directional_characters(text: str) -> None:
    wrong = {field for field, adapter in _fields(queries=True).items() if _accepted(adapter, text)}
    assert wrong == set()


def test_no_code_of_a_body_has_hidden_characters() -> None:
    codes = {
        field: adapter
        for field, adapter in _fields(queries=False).items()
        if _CODES.fullmatch(field[1])
    }
    assert len(codes) > 40
    assert {field for field, adapter in codes.items() if not _accepted(adapter, "A-1")} == set()
    assert {field for field, adapter in codes.items() if _accepted(adapter, "A\u200bB")} == set()
