"""Random changes of the items of an export that somebody hostile could make."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

from operations.moved_items import from_json, to_json
from operations.stored_collections import COLLECTIONS
from operations.tenant_import.item_checks import are_together, problems_of
from operations.tenant_import.line_checks import RefusedLine, checked_line
from shared.kernel.db.items import AttributeMap, from_attributes, pack, to_attributes, unpack
from shared.kernel.db.records import HEAD, OWN_ATTRIBUTES, Record, schema_of
from shared.kernel.json_text import dumps, loads
from tests.integration.moving.crafted_exports import Line

type Group = list[AttributeMap]
"""Items that are checked together."""

_VALUES: tuple[Any, ...] = (
    None, "", "x", "0", "A" * 3000, "2026-13-45", "2026-02-03", "2026-01-01T00:00:00.000Z",
    "ä\u0301", -1, 0, 1, 2, 10**12, 10**24, -(10**15), 0.5, 1e-9, True, False, [], {}, [1], ["x"],
    {"1": 2}, "[]", "{}", '{"a":1}', "1e999999", "NaN",
)  # fmt: skip
_ATTRIBUTES: tuple[AttributeMap, ...] = (
    {"S": "x"}, {"S": "0"}, {"S": "2026-01-01T00:00:00.000Z"}, {"N": "0"}, {"N": "1"}, {"N": "-1"},
    {"N": "7"}, {"N": "999999999999"}, {"BOOL": True}, {"BOOL": False}, {"M": {}}, {"NS": ["1"]},
    {"B": b"{}"}, {"NS": ["1", "2", "3"]}, {"M": {"1": {"S": "product.created"}}},
)  # fmt: skip


def groups_of(lines: Iterable[Line]) -> Iterator[Group]:
    """Yield the items of the table in an export, those together that are checked together."""
    group: Group = []
    for line in lines:
        if line["where"] != "table":
            continue
        item = from_json(line["item"])
        if group and not are_together(group[-1], item):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def changed(group: Group, chance: random.Random) -> Group:
    """Return items with one random change; what follows from an entity follows from the new one."""
    items = [dict(item) for item in group]
    at = chance.randrange(len(items))
    head = next((item for item in items if item["SK"]["S"] == HEAD and "data" in item), None)
    if head and chance.random() < 0.9:
        return _with_other_content(items, head, chance)
    name = chance.choice([*items[at], "unknown"])
    if chance.random() < 0.2 and name != "unknown":
        del items[at][name]
    else:
        items[at][name] = chance.choice(_ATTRIBUTES)
    return items


def _with_other_content(items: Group, head: AttributeMap, chance: random.Random) -> Group:
    content = loads(unpack([head["data"]["B"]]))
    places = list(_places(content)) if isinstance(content, dict) else []
    if not places:
        return items
    parent, key = chance.choice(places)
    if chance.random() < 0.1:
        del parent[key]
    elif isinstance(parent, list) and chance.random() < 0.3:
        parent.append(parent[key])
    else:
        alike = [value for value in _VALUES if type(value) is type(parent[key])]
        parent[key] = chance.choice(alike if alike and chance.random() < 0.7 else _VALUES)
    kind, _, number = head["PK"]["S"].partition("#")
    (head["data"]["B"],) = pack(dumps(content))[:1]
    collection = COLLECTIONS[kind]
    try:
        entity = collection.model.from_json(dumps(content))
        record = Record(int(number), int(head["version"]["N"]), entity,
                        schema=schema_of(from_attributes(head)))  # fmt: skip
        derived = to_attributes(collection.derived_attributes(record))
        others = [to_attributes(item) for item in collection.derived_items(record)]
    except Exception:  # noqa: BLE001  the import refuses it
        return items
    own = {name: value for name, value in head.items() if name in OWN_ATTRIBUTES}
    return [{**own, **derived}, *others]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container in a JSON value with one of its keys."""
    found = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(found):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def problem_of(group: Group, slug: str = "acme") -> str | None:
    """Return the first problem that an import finds in items; None if it accepts them."""
    try:
        for item in group:
            checked_line(f'{{"where":"table","item":{to_json(item)}}}', slug)
    except RefusedLine as error:
        return str(error)
    if any(not are_together(group[0], item) for item in group[1:]):
        return "no longer together"
    return next((problem for _, problem in problems_of(group)), None)


def lines_of(group: Group) -> list[Line]:
    """Return the lines of items."""
    return [{"where": "table", "item": loads(to_json(item))} for item in group]
