"""The page of words and the field map of docs/guides/integrating.md are as in OpenAPI."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.warehouse.documents.vocabulary import PRIORITIES, TYPES
from tools.words import descriptions

ROOT = Path(__file__).parents[2]
PAGE = "\n".join(
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("guides/integrating.md", "reference/words.md")
)
DOCUMENT: dict[str, Any] = json.loads(
    (ROOT / "docs/reference/openapi.json").read_text(encoding="utf-8")
)
SCHEMAS = DOCUMENT["components"]["schemas"]

_NOT_WORDS = {"sort", "lang", "format", "size", "include"}
"""Parameters whose values OpenAPI explains: sort orders, languages of templates, formats and sizes
of labels, what is added to the feed of changes."""

type Rows = list[list[str]]


def tables(header: str) -> Rows:
    """Return the cells of all tables of the two pages with a header."""
    rows: Rows = []
    for part in PAGE.split(header + "\n")[1:]:
        lines = part.partition("\n\n")[0].splitlines()[1:]
        rows += [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return rows


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def words() -> dict[str, list[str]]:
    """Return the values of each word of the page of words."""
    found = defaultdict[str, list[str]](list)
    names: list[str] = []
    for word, value, _, _ in tables("| Word | Value | Meaning | Next |"):
        names = quoted(word) or names
        for name in names:
            found[name] += quoted(value)
    return found


def elsewhere() -> dict[str, str]:
    """Return the text of the page that explains each word that this page only links."""
    return {
        name: (ROOT / "docs/reference" / re.findall(r"\]\(([\w./-]+\.md)", page)[0]).read_text(
            "utf-8"
        )
        for word, page in tables("| Word | Page |")
        for name in quoted(word)
    }


def enum_values(node: Any) -> Iterator[str]:
    """Yield the values of all enums of a part of the document."""
    if isinstance(node, list):
        for entry in node:
            yield from enum_values(entry)
    elif isinstance(node, dict) and str(node.get("name")) not in _NOT_WORDS:
        if isinstance(node.get("enum"), list):
            yield from map(str, node["enum"])
        yield from enum_values(list(node.values()))


def explained() -> dict[str, set[str]]:
    """Return the values of each word that the pages explain."""
    here = {name: set(values) for name, values in words().items()}
    return here | {name: _values(name) & _named(text) for name, text in elsewhere().items()}


def _named(text: str) -> set[str]:
    """Return the words in backticks; `.changed` after `client.created` is `client.changed`."""
    found, subject = set[str](), ""
    for word in quoted(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        subject = subject if word.startswith(".") else word.partition(".")[0]
        found.add(subject + word if word.startswith(".") else word)
    return found


def _values(name: str) -> set[str]:
    """Return the values of a schema, or of a property of a schema."""
    schema, _, field = name.partition(".")
    node = SCHEMAS[schema]["properties"][field] if field else SCHEMAS[schema]
    return {str(value) for value in node.get("items", node)["enum"]}


def test_each_named_enum_is_explained_with_exactly_its_values() -> None:
    named = {name: set(map(str, one["enum"])) for name, one in SCHEMAS.items() if "enum" in one}

    known = explained()
    assert {name: known.get(name) for name in named} == named
    others = known.keys() - named.keys() - elsewhere().keys()
    assert others == {"Modules"}
    assert known["Modules"] == SCHEMAS["Modules"]["properties"].keys()


def test_each_value_of_the_document_is_explained() -> None:
    known = set[str]().union(*explained().values())
    parts = [DOCUMENT[part] for part in ("paths", "components")]

    assert set(enum_values(parts)) - known == {"me"}  # stands for the id of the caller


def test_words_have_each_value_once() -> None:
    assert {
        name: values for name, values in words().items() if len(set(values)) < len(values)
    } == {}


def test_next_values_are_values_of_the_word() -> None:
    names, wrong = list[str](), list[str]()
    for word, _, _, following in tables("| Word | Value | Meaning | Next |"):
        names = quoted(word) or names
        wrong += [value for value in quoted(following) if value not in words()[names[0]]]

    assert wrong == []


@pytest.mark.parametrize("kind", ["entry", "exit"])
def test_types_have_their_display_names(kind: Any) -> None:
    meanings: dict[str, str] = {}
    named: list[str] = []
    for word, cell, meaning, _ in tables("| Word | Value | Meaning | Next |"):
        named = quoted(word) or named
        if named == [f"{kind.title()}Type"]:
            meanings |= dict.fromkeys(quoted(cell), meaning)

    assert {key: meanings[key] for key in TYPES[kind]} == {
        key: f"{english}, *{spanish}*" for key, (english, spanish) in TYPES[kind].items()
    }


def test_priorities_have_all_their_names() -> None:
    rows = [row for row in tables("| Word | Value | Meaning | Next |") if row[1] in _priorities()]
    shown = {
        name.lower(): int(re.findall(r"\d", meaning)[0])
        for _, value, meaning, _ in rows
        for name in (*quoted(value), *quoted(meaning), *re.findall(r"\d", meaning))
    }

    assert shown == PRIORITIES


def _priorities() -> set[str]:
    return {f"`{value}`" for value in SCHEMAS["Priority"]["enum"]}


def fields() -> list[tuple[list[str], list[str]]]:
    rows = tables("| In requests | In responses | |")
    return [(quoted(sent), quoted(shown)) for sent, shown, _ in rows]


def test_fields_of_the_map_exist() -> None:
    names = [name for sent, shown in fields() for name in (*sent, *shown)]
    names += re.findall(r"`([A-Z]\w+\.\w+)`", PAGE)
    missing = [
        name
        for name in names
        if name.partition(".")[2]
        not in SCHEMAS.get(name.partition(".")[0], {}).get("properties", {})
    ]

    assert missing == []
    assert len(fields()) > 10


def test_map_has_every_pair_of_the_descriptions() -> None:
    """Descriptions say "Responses call it `x`" and "Requests call it `y`"."""
    pairs = {
        (sent.rpartition(".")[2], shown.rpartition(".")[2])
        for row_sent, row_shown in fields()
        for sent in row_sent
        for shown in row_shown
    }
    described = set[tuple[str, str]]()
    for name, text in descriptions().items():
        field = name.rpartition(".")[2]
        for side, other in re.findall(
            r"(Responses|Requests|Stock adjustments) (?:call|show|name|send)"
            r"(?: it| them| the person)? (?:it )?(?:in|as|with)? ?`(\w+)`",
            text,
        ):
            described.add((field, other) if side == "Responses" else (other, field))

    assert len(described) > 10
    assert described - pairs == set()
