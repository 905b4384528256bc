"""Descriptions of the properties of all schemas, from `tools/words/words.toml`.

A description of a field holds in every schema, unless there is one for the schema, which holds for
`SchemaDetail`, too. A property whose pydantic field or schema has a description of its own keeps it
and needs none there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tools.openapi.schemas import Schema


def with_descriptions(document: Schema, descriptions: Mapping[str, str]) -> Schema:
    """Return the document with a description of every property of every object schema.

    Raises:
        ValueError: Properties have no description, or descriptions have no property; names all.
    """
    writer = _Writer(descriptions)
    components = document["components"]
    others = {key: value for key, value in components.items() if key != "schemas"}
    described: Schema = writer.describe(document | {"components": others})
    described["components"]["schemas"] = {
        name: writer.describe(schema, name) for name, schema in components["schemas"].items()
    }
    writer.ensure_complete()
    return described


class _Writer:
    def __init__(self, descriptions: Mapping[str, str]) -> None:
        self._descriptions = descriptions
        self._missing: dict[str, None] = {}
        self._used: set[str] = set()

    def describe(self, node: Any, schema: str = "") -> Any:
        """Return a part of the document, `schema` being the name of the component around it."""
        if isinstance(node, list):
            return [self.describe(entry, schema) for entry in node]
        if not isinstance(node, dict):
            return node
        inner = {name: self.describe(value, schema) for name, value in node.items()}
        if "properties" in inner:
            inner["properties"] = {
                name: field
                if "description" in field
                else {**field, "description": self._text(schema, name)}
                for name, field in inner["properties"].items()
            }
        return inner

    def _text(self, schema: str, name: str) -> str:
        own = f"{schema}.{name}" if schema else name
        # A detail has the fields of the rows of its list.
        for key in (own, f"{schema.removesuffix('Detail')}.{name}", name):
            if key in self._descriptions:
                self._used.add(key)
                return self._descriptions[key]
        self._missing[own] = None
        return ""

    def ensure_complete(self) -> None:
        """Raise ValueError unless all properties have a description and all descriptions a use."""
        unused = self._descriptions.keys() - self._used
        problems = [
            *_problem("These properties have no description", self._missing),
            *_problem("No property needs these descriptions", sorted(unused)),
        ]
        if problems:
            raise ValueError(" ".join(problems))


def _problem(text: str, names: Iterable[str]) -> list[str]:
    listed = ", ".join(names)
    return [f"{text}: {listed}."] if listed else []
