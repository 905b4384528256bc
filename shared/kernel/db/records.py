"""A record: a stored entity with its id and version, and the items that hold it.

The first item of an entity is its *head*, with everything that lists need. A large entity has
further items, its *tails*, which hold the rest of `data` only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.kernel.db.actions import Cost
from shared.kernel.db.dictionary import DICTIONARY, DICTIONARY_SINCE
from shared.kernel.db.facets import Facets
from shared.kernel.db.items import MAX_TEXT, PART_SIZE, Item, Key, item_at, pack, unpack
from shared.kernel.db.schema import FIRST_VERSION
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict
from shared.kernel.fields import Stored

HEAD = "HEAD"
SCHEMA = "schema"
"""Name of the attribute of a head with the version of the schema in whose form it was written.
Heads of the first version lack it."""

WRITTEN_BY = "tx"
"""Name of the attribute of a head with the id of the item of the outbox that notes the change which
wrote it, in 16 bytes. Heads that no list shows lack it, and those of earlier versions of the
schema."""

OWN_ATTRIBUTES = (PARTITION_KEY, SORT_KEY, "id", "version", "parts", "data", WRITTEN_BY)
"""The attributes of a head that do not depend on the version of the schema."""

HEAD_ATTRIBUTES = (*OWN_ATTRIBUTES, SCHEMA, "deleted")
"""The attributes of a head, or of what remains of one, from which its entity is read."""

MAX_PARTS = 8
"""Most items of an entity: 2.8 MB of the 4 MB of a transaction, which also holds a response."""


@dataclass(frozen=True, slots=True)
class Record[E]:
    """A stored entity with the version that a change is conditioned on.

    `parts` is the number of its items, `size` the bytes of their `data`, `schema` the version of
    the schema in whose form they were written, `written_by` the attribute WRITTEN_BY.
    """

    id: int
    version: int
    entity: E
    parts: int = 1
    size: int = 0
    schema: int = FIRST_VERSION
    written_by: bytes | None = field(default=None, compare=False, repr=False)
    facets: Facets | None = field(default=None, init=False, compare=False, repr=False)
    """Those of the entity in the form of `schema`, from their first use on (EntityItems)."""

    @property
    def cost(self) -> Cost:
        """What replacing the entity takes of a transaction, as far as it does not grow."""
        return Cost(self.parts, self.size)


@dataclass(frozen=True, slots=True)
class CreatedRecord[E]:
    """A record, and whether this request created it or its reference existed.

    `differing` has the fields of the request that differ from the record that existed.
    """

    record: Record[E]
    new: bool
    differing: Sequence[str] = ()


def schema_of(head: Item) -> int:
    """Return the version of the schema in whose form a head was written."""
    return int(head.get(SCHEMA) or FIRST_VERSION)


def tail_keys(partition: str, parts: int) -> list[Key]:
    """Return the keys of the tails of an entity of `parts` items."""
    return [(partition, f"PART#{part:03d}") for part in range(1, parts)]


def tail_keys_of(head: Item) -> list[Key]:
    """Return the keys of the tails that belong to a head."""
    return tail_keys(head[PARTITION_KEY], int(head["parts"]))


def encode_entity[E: Stored](
    key: Key, name: str, record: Record[E]
) -> tuple[Record[E], Item, list[Item]]:
    """Return a record with its parts and size, its head, and its tails.

    The head, with this key, lacks what follows from the entity. Messages call the entity by `name`,
    such as `Picking 12`.

    Raises:
        Conflict: The entity is too large.
    """
    text = record.entity.to_json()
    # A character has up to 4 bytes: most texts are not encoded twice.
    if len(text) > MAX_TEXT // 4 and (length := len(text.encode())) > MAX_TEXT:
        raise Conflict(f"{name} is too large: it has {length} bytes, the limit is {MAX_TEXT}.")
    data = pack(text, DICTIONARY if record.schema >= DICTIONARY_SINCE else b"")
    parts, size = len(data), sum(map(len, data))
    if parts > MAX_PARTS:
        raise Conflict(
            f"{name} is too large: {size} bytes are to be stored,"
            f" the limit is {MAX_PARTS * PART_SIZE}."
        )
    own = {"id": record.id, "version": record.version, WRITTEN_BY: record.written_by}
    head = item_at(key, **own, parts=parts, data=data[0])
    tails = [
        item_at(tail, version=record.version, data=rest)
        for tail, rest in zip(tail_keys(key[0], parts), data[1:], strict=True)
    ]
    return replace(record, parts=parts, size=size), head, tails


def decode_entity[E: Stored](
    model: type[E], head: Item, found: Mapping[Key, Item]
) -> Record[E] | None:
    """Decode an entity whose tails are among the items `found`.

    Return None when a tail is missing, or head and tails have different versions.
    """
    tails = [found.get(key) for key in tail_keys_of(head)]
    if any(tail is None or tail["version"] != head["version"] for tail in tails):
        return None
    data = [head["data"], *(tail["data"] for tail in tails if tail)]
    entity = model.from_json(unpack(data))
    number, version = int(head["id"]), int(head["version"])
    size = sum(map(len, data))
    return Record(number, version, entity, len(data), size, schema_of(head), head.get(WRITTEN_BY))


def tombstone(key: Key, number: int, version: int, deleted_at: str) -> Item:
    """Return the item that remains of a deleted entity and keeps its id."""
    return item_at(key, id=number, version=version, deleted=True, deleted_at=deleted_at)
