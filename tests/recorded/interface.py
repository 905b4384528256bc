"""The OpenAPI document of the last release, without what people read in it."""

import json
import lzma
import re
from functools import cache
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_PATH = Path(__file__).with_name("interface.json.xz")
_PROSE = {"description", "summary", "title", "example", "examples", "tags", "x-enum-varnames"}
_NAMES = {"properties", "schemas", "headers", "webhooks"}
"""Keywords whose keys are names, not keywords."""


def current() -> dict[str, Any]:
    """Return the OpenAPI document of this commit."""
    document: dict[str, Any] = json.loads((_ROOT / "docs/reference/openapi.json").read_text())
    return document


@cache
def recorded() -> dict[str, Any]:
    """Return the recorded document; its `version` is that of the release."""
    document: dict[str, Any] = json.loads(lzma.decompress(_PATH.read_bytes()))
    return document


def last_release() -> str:
    """Return the newest version in the changelog."""
    found = re.search(r"^## \[(\d+\.\d+\.\d+)\]", _changelog(), re.MULTILINE)
    assert found is not None
    return found[1]


def record() -> None:
    """Record the document of this commit, which must be a release: nothing is unreleased."""
    unreleased = _changelog().partition("## [Unreleased]")[2].partition("\n## [")[0]
    if unreleased.strip():
        raise SystemExit("CHANGELOG.md has unreleased changes: record when you release them.")
    write(last_release(), current())


def write(version: str, document: dict[str, Any]) -> None:
    """Write the file: the same bytes for the same document."""
    kept = {name: document[name] for name in ("paths", "webhooks", "components")}
    text = json.dumps(
        {"version": version, **_without_prose(kept)}, separators=(",", ":"), sort_keys=True
    )
    _PATH.write_bytes(lzma.compress(text.encode(), preset=9))


def _changelog() -> str:
    return (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _without_prose(node: Any, *, is_map_of_names: bool = False) -> Any:
    if isinstance(node, list):
        return [_without_prose(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        name: _without_prose(value, is_map_of_names=not is_map_of_names and name in _NAMES)
        for name, value in node.items()
        if is_map_of_names or name not in _PROSE
    }
