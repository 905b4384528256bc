"""The examples of the OpenAPI document, from tools/words/examples.json."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from shared.kernel.json_text import dumps
from shared.warehouse.settings.values import Settings
from tools import words

_EXAMPLES = words.FILE.with_name("examples.json")


@cache
def examples() -> Mapping[str, Any]:
    """Return the examples: name of a model → JSON."""
    found: dict[str, Any] = json.loads(_EXAMPLES.read_text())
    # Settings that the example leaves out have their defaults.
    found["CompanySettings"] = json.loads(dumps(Settings().model_dump())) | found["CompanySettings"]
    return found


def example(model: type[BaseModel]) -> Any:
    """Return the example of a model.

    Raises:
        KeyError: The model has no example.
    """
    if model.__name__ not in examples():
        raise KeyError(f"tools/words/examples.json has no example of {model.__name__}")
    return examples()[model.__name__]


def complete_example(model: type[BaseModel]) -> Any:
    """Return the example of a response: fields that it leaves out have that of the words."""
    names = [field.alias or name for name, field in model.model_fields.items()]
    values = words.examples(names) | example(model)
    return {name: values[name] for name in names if name in values}
