"""Update expressions that set, add to or remove whole attributes, without the parser of moto."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

_ACTION = re.compile(r"(#?\w+)(?:\s*=?\s*(:\w+))?")


class PlainUpdate(NamedTuple):
    """The new attributes of an item; None removes one. Takes the place of moto's tree."""

    item: Item
    attributes: dict[str, DynamoType | None]

    def validate(self) -> "PlainUpdate":
        return self

    def normalize(self) -> None:
        pass

    def execute(self) -> None:
        dict.update(self.item.attrs, self.attributes)
        for name in [name for name, value in self.attributes.items() if value is None]:
            del self.item.attrs[name]


def plain_update(
    text: str, item: Item, table: Table, **call: Mapping[str, Any] | None
) -> PlainUpdate | None:
    """Return an update; None for one that moto has to process, or to refuse."""
    names = call["expression_attribute_names"] or {}
    values = call["expression_attribute_values"] or {}
    types = {one["AttributeName"]: one["AttributeType"] for one in table.attr}
    new: dict[str, DynamoType | None] = {}
    for kind, named, placeholder in _changes(text):
        name = names.get(named, "") if named.startswith("#") else named
        value = DynamoType(values[placeholder]) if placeholder in values else None
        if kind == "ADD" and value:
            present = item.attrs.get(name, DynamoType({"N": "0"}))
            value = present + value if value.is_number() and present.is_number() else None
        fits = kind == "REMOVE" if value is None else types.get(name, value.type) == value.type
        is_empty_key = name in types and value is not None and not value.value
        if not fits or is_empty_key or not name or name in new or name in table.table_key_attrs:
            return None
        new[name] = value
    return PlainUpdate(item, new) if new else None


@lru_cache(4_096)
def _changes(text: str) -> Sequence[tuple[str, str, str]]:
    """Return clause, attribute and value of each action; none if an action does anything else."""
    start, *parts = re.split(r"\b(SET|ADD|REMOVE) ", text)
    clauses = list(zip(parts[::2], parts[1::2], strict=True))
    actions = [(kind, one.strip()) for kind, listed in clauses for one in listed.split(",")]
    found = [(kind, m[1], m[2]) for kind, one in actions if (m := _ACTION.fullmatch(one))]
    words = ReservedKeywords.get_reserved_keywords()
    is_once = not start and len(dict(clauses)) == len(clauses)
    is_plain = len(found) == len(actions) and not any(name.upper() in words for _, name, _ in found)
    return found if is_once and is_plain else ()
