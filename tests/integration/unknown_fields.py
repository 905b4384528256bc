"""Fields and attributes that only the next release knows, in everything that is stored."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, TypeAliasType, get_args

from operations.moved_items import is_moved, opened, to_json
from operations.stored_collections import COLLECTIONS
from shared.identity.audit.models import Actor
from shared.integration.imports.models import Requester
from shared.integration.webhooks.models import StoredDelivery
from shared.kernel import aws
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db.items import pack, unpack
from shared.kernel.fields import Stored
from shared.warehouse.stock.models import LastDeparture
from tests.integration.moving.fuzzed_items import groups_of, problem_of
from tests.stack import Stack

NAME = "of_next_release"
"""The field of every entity and part, and the attribute of every item; each has its own value."""

type _Place = tuple[str, ...]
"""The table and the key of an item."""

MODELS: Mapping[str, type[Stored]] = {
    **{kind: collection.model for kind, collection in COLLECTIONS.items()},
    "delivery": StoredDelivery,
}
"""The first part of a partition key → the model of the JSON in `data`."""

_LATEST = (Actor, Requester, LastDeparture)
"""Parts that say who did something last, or what happened last: a new one replaces the former."""

_DERIVED = ("HEAD", "LOOKUP#", "SEARCH#", "ALIAS", "OPEN")
"""Sort keys of items whose attributes follow from an entity, in the form of the table's version."""
_WAREHOUSE_ALIASES = "warehouses"
"""The partition of further ones."""


def models() -> set[type[Stored]]:
    """Return the models of all entities and of their parts at every level."""
    found, left = set[type[Stored]](), [*MODELS.values()]
    while left:
        model = left.pop()
        if model not in found:
            found.add(model)
            left += _part_models(model).values()
    return found


def _part_models(model: type[Stored]) -> Mapping[str, type[Stored]]:
    """Return the fields of the JSON that hold parts → the models of the parts."""
    found = {}
    for name, field in model.model_fields.items():
        of_parts = set(_models_in(field.annotation))
        if of_parts:
            (found[field.alias or name],) = of_parts
    return found


def _models_in(annotation: Any) -> Iterator[type[Stored]]:
    if isinstance(annotation, TypeAliasType):
        yield from _models_in(annotation.__value__)
    elif isinstance(annotation, type) and issubclass(annotation, Stored):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def add_unknown_fields(stack: Stack) -> set[type[Stored]]:
    """Add NAME to every entity, part and item of acme; return the models that have it."""
    numbers, reached = count(), set[type[Stored]]()

    def add(model: type[Stored], entity: dict[str, Any]) -> None:
        reached.add(model)
        entity[NAME] = f"{NAME}-{next(numbers)}"
        for name, part_model in _part_models(model).items():
            for part in _parts(entity, name):
                add(part_model, part)

    for table, item in _items(stack):
        if model := _model_of(item):
            entity = json.loads(unpack([item["data"]["B"]]))
            add(model, entity)
            (item["data"]["B"],) = pack(json.dumps(entity))
        place = _place(table, item)
        if not place[-1].startswith(_DERIVED) and place[1] != _WAREHOUSE_ALIASES:
            item[NAME] = {"S": f"{NAME}-{next(numbers)}"}
        aws.client("dynamodb").put_item(TableName=table, Item=item)
    return reached


def stored_items(stack: Stack) -> Mapping[_Place, Mapping[str, Any]]:
    """Return every item of acme: its attribute NAME and, of an entity, the fields of its JSON."""
    return {
        _place(table, item): {
            "attribute": item.get(NAME),
            "entity": json.loads(unpack([item["data"]["B"]])) if _model_of(item) else None,
        }
        for table, item in _items(stack)
    }


def refused_items(stack: Stack) -> list[str]:
    """Return the items of acme that an import would refuse, each with the first problem."""
    now = now_ms() // 1000
    moved = [item for item in stack.items() if is_moved(item, now) and not _is_place(item)]
    groups = groups_of({"where": "table", "item": json.loads(to_json(opened(item, "acme")))}
                       for item in moved)  # fmt: skip
    found = ((group[0]["PK"]["S"], problem_of(group)) for group in groups)
    return [f"{key}: {problem}" for key, problem in found if problem]


def _is_place(item: Mapping[str, Any]) -> bool:
    """Return whether an item is a place in a queue, which has expired before any export."""
    return bool(item["SK"]["S"].startswith("QUEUE#"))


def lost_fields(
    before: Mapping[_Place, Mapping[str, Any]], after: Mapping[_Place, Mapping[str, Any]]
) -> list[str]:
    """Return which items, entities and parts have lost NAME, of those that still exist.

    Of a list, as many parts must still have it as it had or, if it has become shorter, has.
    """
    return [
        f"{' '.join(place)} {path}"
        for place, former in before.items()
        if place in after
        for path in _lost_of_item(place, former, after[place])
    ]


def _lost_of_item(
    place: _Place, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    if after["attribute"] != before["attribute"]:
        yield "attribute"
    if before["entity"] and after["entity"]:
        model = MODELS[place[1].partition("#")[0]]
        yield from _lost(model, before["entity"], after["entity"], "data")


def _lost(
    model: type[Stored], before: Mapping[str, Any], after: Mapping[str, Any], path: str
) -> Iterator[str]:
    if after.get(NAME) != before[NAME]:
        yield path
    for name, part_model in _part_models(model).items():
        parts, left, at = _parts(before, name), _parts(after, name), f"{path}.{name}"
        kept = {one[NAME]: one for one in left if NAME in one}
        if len(kept) < min(len(parts), len(left)) and not issubclass(part_model, _LATEST):
            yield at
        for part in parts:
            if part[NAME] in kept:
                yield from _lost(part_model, part, kept[part[NAME]], at)


def _parts(entity: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = entity.get(name) or []
    return value if isinstance(value, list) else [value]


def _items(stack: Stack) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((config().tenant_table("acme"), item) for item in stack.items())
    yield from ((config().control_table, item) for item in stack.control_items())


def _place(table: str, item: Mapping[str, Any]) -> _Place:
    return table, *(item[name]["S"] for name in ("PK", "SK", "pk") if name in item)


def _model_of(item: Mapping[str, Any]) -> type[Stored] | None:
    is_entity = "data" in item and "PK" in item
    return MODELS.get(item["PK"]["S"].partition("#")[0]) if is_entity else None
