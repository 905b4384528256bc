"""The API changes only on purpose: paths, parameters, schemas, codes and statuses.

`interface.json` is docs/openapi.json without prose. After an intended change of the API,
regenerate it with `python -m tests.contract.test_interface_is_unchanged`.
"""

import json
from pathlib import Path
from typing import Any

_PUBLISHED = Path(__file__).parent / "interface.json"
_DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"
_PROSE = {"description", "summary", "title", "example", "examples", "tags"}


def without_prose(node: Any, *, is_map_of_names: bool = False) -> Any:
    """Return a part of an OpenAPI document without descriptions, examples and tags.

    `is_map_of_names` means that the keys are names of properties or schemas, not keywords.
    """
    if isinstance(node, list):
        return [without_prose(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        # The scopes of a security scheme are a map of names to descriptions.
        name: sorted(value)
        if name == "scopes" and not is_map_of_names
        else without_prose(value, is_map_of_names=name in {"properties", "schemas", "headers"})
        for name, value in node.items()
        if is_map_of_names or name not in _PROSE
    }


def _current() -> Any:
    document = json.loads(_DOCUMENT.read_text())
    return without_prose({name: document[name] for name in ("paths", "components")})


def test_paths_parameters_schemas_codes_and_statuses_are_as_published() -> None:
    assert _current() == json.loads(_PUBLISHED.read_text())


if __name__ == "__main__":
    _PUBLISHED.write_text(json.dumps(_current(), indent=1, sort_keys=True) + "\n")
