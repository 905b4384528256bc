"""Every property and tag of the OpenAPI document has a description that says something."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.openapi import generated_texts
from tools.openapi import document
from tools.openapi.descriptions import with_descriptions

_FILLERS = {"a", "an", "the", "of", "for", "in", "its", "this", "is", "are"}


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    """The generated document."""
    found: dict[str, Any] = json.loads(generated_texts()["docs/reference/openapi.json"])
    return found


def _properties(node: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield path, name and schema of every property of every object schema, also of inline ones."""
    if isinstance(node, list):
        for entry in node:
            yield from _properties(entry, path)
    if isinstance(node, dict):
        for name, field in node.get("properties", {}).items():
            yield f"{path}/{name}", name, field
        for name, inner in node.items():
            yield from _properties(inner, f"{path}/{name}")


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[a-z]+", text.lower())) - _FILLERS
    return {word.removesuffix("s") for word in words}


def test_every_property_has_a_description(built: dict[str, Any]) -> None:
    found = list(_properties(built))
    assert {name for _, name, _ in found} >= {"item_code", "data", "digits", "kty", "error"}
    assert [path for path, _, field in found if not field.get("description")] == []


def test_no_description_only_repeats_the_name(built: dict[str, Any]) -> None:
    repeated = {
        path: field["description"]
        for path, name, field in _properties(built)
        if _words(field["description"]) <= _words(name)
    }
    assert repeated == {}


def test_every_tag_has_a_description(built: dict[str, Any]) -> None:
    used = {
        tag
        for item in [*built["paths"].values(), *built["webhooks"].values()]
        for route in item.values()
        for tag in route["tags"]
    }
    described = {tag["name"]: tag["description"] for tag in built["tags"]}
    assert described.keys() == used
    assert all(_words(text) - _words(name) for name, text in described.items())


def _document(**schemas: Any) -> dict[str, Any]:
    return {"paths": {}, "components": {"schemas": schemas}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_all_missing_and_unused_descriptions_are_reported_together() -> None:
    content = {"schema": _object(wheel={})}
    given = _document(Rack=_object(height={}, width={})) | {"paths": {"/trucks": content}}

    with pytest.raises(ValueError, match="no description") as raised:
        with_descriptions(given, {"Truck.height": "Height.", "depth": "Depth."})

    assert str(raised.value) == (
        "These properties have no description: wheel, Rack.height, Rack.width."
        " No property needs these descriptions: Truck.height, depth."
    )


def test_tag_without_description_and_description_without_tag_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renamed = {"Yards" if tag == "Waves" else tag: text for tag, text in document._TAGS.items()}
    monkeypatch.setattr(document, "_TAGS", renamed)

    with pytest.raises(ValueError, match=re.escape("['Waves', 'Yards']")):
        document.build("1.0.0")
