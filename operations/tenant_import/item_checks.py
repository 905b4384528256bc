"""Checks of the items of a table that somebody else has written, by the form of their kind.

The items of an entity, and those of a stored response, are checked together: their content is
decompressed, with a bound, validated by its model, and compared with the keys and index entries
that follow from it.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from operations.item_kinds import (
    Attributes,
    Derived,
    Head,
    ItemKind,
    Tail,
    Tombstone,
    kind_of,
)
from operations.stored_collections import COLLECTIONS
from operations.stored_fields import check_day, check_instant
from operations.verify.entities import differing_attributes
from shared.integration.webhooks.models import StoredDelivery
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import (
    AttributeMap,
    Item,
    Key,
    from_attributes,
    inflate,
    key_of,
    size_of,
    unpack,
)
from shared.kernel.db.records import HEAD, Record, schema_of, tail_keys
from shared.kernel.db.search import SEARCH_ITEM
from shared.kernel.db.table import EXPIRY, INDEX_COUNT, PARTITION_KEY, SORT_KEY, index_keys
from shared.kernel.fields import Stored
from shared.kernel.json_text import loads

_INDEX_KEYS = tuple(name for n in range(1, INDEX_COUNT + 1) for name in index_keys(n))
_MOST_ITEM = 400 * 1024
_MOST_PARTITION_KEY, _MOST_SORT_KEY = 2048, 1024
"""Bytes that DynamoDB takes."""
_LONGEST_TEXT = 8_192
"""Characters of a text in an entity; more than the longest field, a sealed secret."""
_MOST_DIGITS = 25
"""Digits of a number before and after its point: an id of two has 24."""
_TOO_LARGE = int(f"1{'0' * _MOST_DIGITS}")
_JSON = "_json"
_SHOWN_KEY = 100
"""Characters of a key that a message shows."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_RESPONSES = "idempotency"
_FORMS: Mapping[str, type[Attributes]] = {
    HEAD: Head,
    "PART#": Tail,
    "LOOKUP#": Derived,
    SEARCH_ITEM: Derived,
}
_UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading content of another form raises."""

type Problem = tuple[int, str]
"""Place of an item among those that are checked together, and what is wrong with it."""


def are_together(one: AttributeMap, other: AttributeMap) -> bool:
    """Return whether two items are checked together: those of one entity, or of one response."""
    partition: str = one[PARTITION_KEY]["S"]
    begin, _, rest = partition.partition("#")
    is_whole = begin == _RESPONSES or (begin in COLLECTIONS and rest.isdecimal())
    return is_whole and partition == other[PARTITION_KEY]["S"]


def name_of(attributes: AttributeMap) -> str:
    """Return the key of an item as a message shows it."""
    key = f"{attributes[PARTITION_KEY]['S']} {attributes[SORT_KEY]['S']}".replace("\x1f", "/")
    return key if len(key) <= _SHOWN_KEY else f"{key[:_SHOWN_KEY]}…"


def problems_of(items: Sequence[AttributeMap]) -> Iterator[Problem]:
    """Yield the problems of items that are checked together: `field: what is wrong`."""
    begin, _, rest = items[0][PARTITION_KEY]["S"].partition("#")
    collection = COLLECTIONS.get(begin) if rest.isdecimal() else None
    found = list[Item]()
    for at, attributes in enumerate(items):
        problems = list(_item_problems(attributes, collection))
        if problems:
            yield from ((at, problem) for problem in problems)
        else:
            found.append(from_attributes(attributes))
    if len(found) < len(items):
        return
    check = _delivery_problems if begin == "delivery" else None
    if begin == _RESPONSES:
        check = _response_problems
    if collection:
        yield from _reading(lambda: _entity_problems(collection, found))
    elif check:
        yield from _reading(lambda: check(found))


def _reading(check: Callable[[], Iterator[Problem]]) -> Iterator[Problem]:
    """Yield the problems that `check` yields; content that it cannot read is one."""
    try:
        yield from check()
    except ValidationError as error:
        yield from ((0, f"data.{problem}") for problem in _messages(error))
    except _UNREADABLE as error:
        yield 0, f"data: is not as this release writes it ({type(error).__name__}: {error})"


def _messages(error: ValidationError) -> Iterator[str]:
    for one in error.errors(include_url=False, include_input=False):
        yield f"{'.'.join(map(str, one['loc']))}: {one['msg']}"


# One item


def _item_problems(attributes: AttributeMap, collection: Collection[Any] | None) -> Iterator[str]:
    for name in (PARTITION_KEY, SORT_KEY, *_INDEX_KEYS):
        most = _MOST_PARTITION_KEY if name.startswith("P") else _MOST_SORT_KEY
        if len(attributes.get(name, {}).get("S", "").encode()) > most:
            yield f"{name}: must have at most {most} bytes"
    if (size := size_of(attributes)) > _MOST_ITEM:
        yield f"item: has {size} bytes, at most {_MOST_ITEM} can be stored"
    item = from_attributes(attributes)
    kind = None if collection else kind_of(*key_of(item))
    model = kind.model_of(item) if kind else _form_of_entity(item) if collection else None
    if model is None:
        yield "PK, SK: are not the key of an item that this release knows"
        return
    try:
        model.model_validate({name: item[name] for name in item.keys() - _KEYS})
    except ValidationError as error:
        yield from _messages(error)
        return
    if EXPIRY in item and EXPIRY not in model.model_fields:
        yield f"{EXPIRY}: an item of this kind does not expire"
    if kind:
        yield from _index_problems(kind, item)


def _index_problems(kind: ItemKind, item: Item) -> Iterator[str]:
    try:
        expected = kind.index(item) if kind.index else {}
    except _UNREADABLE as error:
        yield f"item: its index keys cannot be derived ({error})"
        return
    for name in _INDEX_KEYS:
        if item.get(name) != expected.get(name):
            yield f"{name}: is {item.get(name)!r}, and {expected.get(name)!r} follows from the item"


_KEYS = {PARTITION_KEY, SORT_KEY, *_INDEX_KEYS}


def _form_of_entity(item: Item) -> type[Attributes] | None:
    sort = item[SORT_KEY]
    if sort == HEAD and "deleted" in item:
        return Tombstone
    return next((_FORMS[begin] for begin in _FORMS if sort.startswith(begin)), None)


# Entities


def _entity_problems(collection: Collection[Any], items: Sequence[Item]) -> Iterator[Problem]:
    """Yield the problems of the items of one entity, whose forms are right."""
    places = {key_of(item): at for at, item in enumerate(items)}
    number = int(items[0][PARTITION_KEY].partition("#")[2])
    key = collection.key(number)
    at = places.get(key, 0)
    head = items[at]
    if key not in places or head["id"] != number:
        yield at, f"id: no head of the entity with the id {number} is beside its other items"
        return
    expected = {key: head} if head.get("deleted") else None
    if expected is None:
        record, tails = _read_entity(collection, head, {key_of(item): item for item in items})
        problems = list(_value_problems(record.entity, "data"))
        if getattr(record.entity, "id", number) != number:
            problems.append(f"data.id: is {record.entity.id}, and the key has {number}")
        yield from ((at, problem) for problem in problems)
        if problems:
            return
        follows = collection.derived_attributes(record)
        derived = {key_of(item): item for item in collection.derived_items(record)}
        expected = {key: head, **tails, **derived}
    else:
        follows = {}
    for _, name, stored, wanted in differing_attributes(head, follows):
        yield at, f"{name}: is {stored!r}, and {wanted!r} follows from the entity"
    for other in sorted(places.keys() | expected.keys()):
        if other not in places or items[places[other]] != expected.get(other):
            yield places.get(other, at), f"{other[1]}: is not what follows from the entity"


def _read_entity(
    collection: Collection[Any], head: Item, found: Mapping[Key, Item]
) -> tuple[Record[Any], Mapping[Key, Item]]:
    """Return an entity and its tails; ValueError if one is missing."""
    tails = {key: found.get(key, {}) for key in tail_keys(head[PARTITION_KEY], head["parts"])}
    if any(tail.get("version") != head["version"] for tail in tails.values()):
        raise ValueError(f"{head['parts']} parts of version {head['version']} are not there")
    content = unpack([head["data"], *(tail["data"] for tail in tails.values())])
    entity = collection.model.from_json(content)
    return Record(head["id"], head["version"], entity, schema=schema_of(head)), tails


def _delivery_problems(items: Sequence[Item]) -> Iterator[Problem]:
    (item,) = items
    delivery = StoredDelivery.from_json(unpack([item["data"]]))
    yield from ((0, problem) for problem in _value_problems(delivery, "data"))
    number = item[PARTITION_KEY].partition("#")[2]
    if (delivery.webhook_id, delivery.id) != (int(number), item[SORT_KEY]):
        yield 0, "data: the delivery is not that of the key"


def _response_problems(items: Sequence[Item]) -> Iterator[Problem]:
    by_key = {key_of(item): item for item in items}
    head = by_key.pop((items[0][PARTITION_KEY], HEAD), None)
    keys = tail_keys(items[0][PARTITION_KEY], head.get("parts") or 1) if head else []
    if head is None or by_key.keys() != set(keys):
        yield 0, "parts: the parts of the response are not there"
    elif "body" in head:
        inflate(b"".join([head["body"], *(by_key[key]["body"] for key in keys)])).decode()
    elif "progress" in head:
        loads(inflate(head["progress"]))


# Values of an entity


def _value_problems(entity: Stored, path: str) -> Iterator[str]:
    """Yield the problems of values that their types allow, but that nothing writes."""
    for at, name, value in _values_in(entity, path):
        if isinstance(value, str):
            yield from _text_problems(value, at, name)
        elif not _is_plain(value):
            yield f"{at}: must be a number with at most {_MOST_DIGITS} digits on each side"


def _values_in(value: Any, path: str, name: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield the path of each text and number, the field that has it or a list with it, and itself.

    The field is empty for what only another release knows.
    """
    match value:
        case Stored():
            for field, one in value.__dict__.items():
                yield from _values_in(one, f"{path}.{field}", field)
            yield from _values_in(value.__pydantic_extra__ or {}, path)
        case Mapping():
            for field, one in value.items():
                yield path, "", field
                yield from _values_in(one, f"{path}.{field}")
        case list() | tuple() | set() | frozenset():
            for at, one in enumerate(value):
                yield from _values_in(one, f"{path}.{at}", name)
        case None | bool():
            return
        case _:
            yield path, name, value


def _is_plain(number: int | float | Decimal) -> bool:  # noqa: PYI041  mypy narrows it
    if isinstance(number, int):
        return -_TOO_LARGE < number < _TOO_LARGE
    if not math.isfinite(number):
        return False
    exponent = int(Decimal(str(number)).as_tuple().exponent)
    return -_TOO_LARGE < number < _TOO_LARGE and exponent > -2 * _MOST_DIGITS


def _text_problems(text: str, path: str, name: str) -> Iterator[str]:
    if name.endswith(_JSON):
        try:
            content = loads(text)
        except ValueError as error:
            yield f"{path}: is no JSON ({error})"
        else:
            for at, _, value in _values_in(content, path):
                if not isinstance(value, str) and not _is_plain(value):
                    yield f"{at}: must be a number with at most {_MOST_DIGITS} digits on each side"
        return
    if len(text) > _LONGEST_TEXT:
        yield f"{path}: has {len(text)} characters, at most {_LONGEST_TEXT} are possible"
    elif _CONTROL.search(text):
        yield f"{path}: must not contain control characters"
    check = check_instant if name.endswith("_at") else check_day if name.endswith("_date") else None
    if check and text:
        try:
            check(text)
        except (ValueError, OverflowError) as error:
            yield f"{path}: {error}"
