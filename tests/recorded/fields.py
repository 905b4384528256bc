"""The fields of what is stored, each with its default: `python -m tests.recorded.fields`.

Stored JSON leaves out what has its default, so what a default was is written nowhere else. The
command adds new fields. It changes none: what a field without a default, or with another one, would
mean in stored data is to be decided by hand.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from shared.kernel.fields import Stored
from tests.integration.unknown_fields import models

_PATH = Path(__file__).with_name("fields.json")

type Fields = dict[str, dict[str, list[Any]]]
"""Model → its fields → a list with the default; an empty one if the field has none."""


def recorded() -> Fields:
    """Return the fields of this release and of those before."""
    fields: Fields = json.loads(_PATH.read_text())
    return fields


def current() -> Fields:
    """Return the fields of this commit."""
    return {model.__name__: fields_of(model) for model in models()}


def fields_of(model: type[Stored]) -> dict[str, list[Any]]:
    """Return the fields of a model."""
    return {
        name: []
        if field.is_required()
        else [to_jsonable_python(field.get_default(call_default_factory=True))]
        for name, field in model.model_fields.items()
    }


def changed(before: Mapping[str, Mapping[str, list[Any]]], now: Fields) -> list[str]:
    """Return what of the fields `before` has another default now, or one that it did not have."""
    return [
        f"{model}.{name}"
        for model, fields in before.items()
        for name, default in fields.items()
        if now.get(model, {}).get(name, default) != default
    ]


def main() -> None:
    """Add new fields to the file; those that are gone stay, so that none comes back as another."""
    before, now = recorded(), current()
    merged = {
        model: dict(sorted({**now.get(model, {}), **before.get(model, {})}.items()))
        for model in sorted(before.keys() | now.keys())
    }
    lines = (f"{json.dumps(model)}: {json.dumps(fields)}" for model, fields in merged.items())
    _PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
