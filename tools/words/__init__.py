"""The words of the interface, the console and the import files, from `words.toml`."""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

type Entries = Mapping[str, Mapping[str, Any]]

FILE = Path(__file__).parent / "words.toml"
LANGUAGES = ("en", "es")
_COLUMNS_ONLY = frozenset({"count", "line_external_ref"})
"""Names of columns of imports that no screen of the console shows."""
_OF_FIELDS = {*LANGUAGES, "hint", "description", "schemas", "example", "column"}


@cache
def words() -> Mapping[str, Entries]:
    """Return the sections of the file; white space in a text is one space.

    Raises:
        ValueError: Entries are not sorted, which would make merges harder, or a part is misspelt.
    """
    sections: dict[str, Entries] = _spaced(tomllib.loads(FILE.read_text(encoding="utf-8")))
    problems = [
        f"[{section}] {problem}"
        for section, entries in sections.items()
        for problem in _problems(entries, _OF_FIELDS if section == "fields" else LANGUAGES)
    ]
    if problems:
        raise ValueError("\n".join([f"{FILE.name}:", *problems]))
    return sections


def _problems(entries: Entries, parts: Collection[str]) -> Iterator[str]:
    for before, name in pairwise(entries):
        if name < before:
            yield f"{name}: stands after {before}"
    for name, entry in entries.items():
        yield from (f"{name}: {part} is unknown" for part in entry if part not in parts)
        if "column" in entry and not {"es", "help", "example"} <= {*entry, *entry["column"]}:
            yield f"{name}: a column needs es, help, example"


def _spaced(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: _spaced(inner) for name, inner in node.items()}
    return " ".join(node.split()) if isinstance(node, str) else node


def humanized(name: str) -> str:
    """Return a name of the interface as English words, as `humanized` of the console does."""
    spaced = re.sub("[_-]", " ", name)
    return spaced[:1].upper() + spaced[1:]


def descriptions() -> dict[str, str]:
    """Return the descriptions of properties: `name` or `Schema.name` → text.

    Raises:
        ValueError: The file describes a property twice.
    """
    found: dict[str, str] = {}
    for field, entry in words()["fields"].items():
        if "description" in entry:
            found[field] = entry["description"]
        for schemas, text in entry.get("schemas", {}).items():
            for name in (f"{schema}.{field}" for schema in schemas.split(", ")):
                if name in found:
                    raise ValueError(f"{FILE.name} describes {name} twice.")
                found[name] = text
    return found


def of_console(language: str) -> dict[str, dict[str, str]]:
    """Return the tables of the console in a language: table → name → words, if it has any."""
    # The console shows the parts of objects by their own names.
    fields = {
        name: entry
        for name, entry in words()["fields"].items()
        if "." not in name and name not in _COLUMNS_ONLY
    }
    hints = {name: entry["hint"] for name, entry in fields.items() if "hint" in entry}
    tables = {**words(), "fields": fields, "hints": hints}
    order = ("texts", "subjects", "fields", "hints", "values", "actions", "errors")
    return {
        table: {name: entry[language] for name, entry in tables[table].items() if language in entry}
        for table in order
    }


def examples(fields: Iterable[str]) -> dict[str, Any]:
    """Return the examples of those of the fields that have one."""
    entries = words()["fields"]
    return {
        field: entries[field]["example"] for field in fields if "example" in entries.get(field, {})
    }


def label(section: str, name: str) -> tuple[str, str]:
    """Return what an entry is called in English and in Spanish."""
    entry = words()[section][name]
    return entry.get("en", humanized(name)), entry["es"]


def columns() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the columns of import files: the name, and header, help and example in each language.

    The name is that of the field, or `kind.field` for a kind of import with words of its own.
    """
    for field, entry in words()["fields"].items():
        if "column" not in entry:
            continue
        own = {key: one for key, one in entry["column"].items() if key not in ("help", "example")}
        for name, more in {"": {}, **own}.items():
            column = {**entry, **entry["column"], **more}
            pairs = [label("fields", field), _pair(column["help"]), _pair(column["example"])]
            yield f"{name}.{field}" if name else field, pairs


def _pair(text: str | Mapping[str, str]) -> tuple[str, str]:
    return (text, text) if isinstance(text, str) else (text["en"], text["es"])
