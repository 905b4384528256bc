"""The dlt example knows all quantities of the lists that it loads; dlt itself is not installed."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.kernel.json_text import loads
from tests.openapi import generated_texts

SOURCE = Path(__file__).parents[2] / "examples" / "dlt_stowage.py"


def constants() -> dict[str, Any]:
    """The constants of the example."""
    tree = ast.parse(SOURCE.read_text())
    return {
        node.targets[0].id: eval(ast.unparse(node.value))  # noqa: S307 - literals of this project
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def numbers(node: Any, schemas: dict[str, Any], name: str = "") -> Iterator[str]:
    """Yield the names of fields that are decimals, at any depth."""
    if isinstance(node, list):
        for one in node:
            yield from numbers(one, schemas, name)
    elif isinstance(node, dict):
        if "number" in (node.get("type") or ()):
            yield name
        if "$ref" in node:
            yield from numbers(schemas[node["$ref"].split("/")[-1]], schemas, name)
        for field, one in node.get("properties", {}).items():
            yield from numbers(one, schemas, field)
        for key in ("anyOf", "oneOf", "items"):
            yield from numbers(node.get(key), schemas, name)


def test_quantities_are_the_decimals_of_the_lists() -> None:
    document = loads(generated_texts()["docs/reference/openapi.json"])
    schemas, found = document["components"]["schemas"], constants()
    pages = [document["paths"][path]["get"]["responses"]["200"] for path in found["LISTS"].values()]
    rows = [page["content"]["application/json"]["schema"] for page in pages]
    assert found["QUANTITIES"] == {*numbers(rows, schemas)}
