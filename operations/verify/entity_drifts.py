"""Drifts of entities: their parts and lookups, what they refer to, and what they copy."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify import entities
from operations.verify.alias_drifts import alias_of_entity_drifts, pick_face_drifts
from operations.verify.findings import Drift, Fix, shown
from operations.verify.read_items import ReadItems, number_of, part_keys, shown_values
from operations.verify.register_drifts import (
    login_drifts,
    registered_drifts,
    role_count_drifts,
    webhook_drifts,
)
from operations.verify.table_access import check_unchanged, put_with
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import Item, key_of
from shared.kernel.db.records import HEAD, SCHEMA, Record
from shared.kernel.db.table import SORT_KEY
from shared.kernel.db.transaction import Transaction


def head_drifts(read: ReadItems, kind: str, head: Item) -> Iterator[Drift]:
    """Yield the drifts of an entity, and of what it must have elsewhere."""
    collection, key = COLLECTIONS[kind], key_of(head)
    if head.get("deleted"):
        return
    subject = f"{kind} {number_of(key)}"
    basis = head.get("version")
    if head.get("id") != number_of(key):
        yield Drift("entity.id", subject, "id", shown(head.get("id")), str(number_of(key)), basis)
        return
    tails = [read.items.get(tail) for tail in part_keys(head)]
    if any(tail is None or tail.get("version") != basis for tail in tails):
        there = 1 + sum(tail is not None and tail.get("version") == basis for tail in tails)
        yield Drift(
            "entity.part_missing", subject, "parts", str(there), shown(head["parts"]), basis
        )
        return
    record = read.records.get(key)
    if record is None:
        yield Drift("entity.unreadable", subject, "data", None, None, (basis, head["data"]))
        return
    yield from _form_drifts(read, collection, subject, head, record)
    yield from _lookups_of_entity(read, collection, subject, record)
    for alias in entities.alias_items(kind, record.entity):
        yield from alias_of_entity_drifts(read, kind, subject, record, alias)
    yield from _reference_drifts(read, kind, subject, record)
    yield from _copy_drifts(read, kind, subject, record)
    yield from _expiry_date_drifts(read, kind, subject, record)
    yield from registered_drifts(read, kind, subject, record)
    if kind == "user":
        yield from login_drifts(read, subject, record)
    elif kind == "role":
        yield from role_count_drifts(read, subject, record)
    elif kind == entities.WEBHOOK_KIND:
        yield from webhook_drifts(read, subject, record)
    elif kind == "pick_face":
        yield from pick_face_drifts(read, subject, record)


def part_drifts(read: ReadItems, kind: str, part: Item) -> Iterator[Drift]:
    """Yield a drift if no entity has a further part."""
    key = key_of(part)
    head = read.items.get((key[0], HEAD))
    if head and not head.get("deleted") and key in part_keys(head):
        return
    version = part.get("version")
    basis = (version, head and head.get("version"))
    fix = Fix(
        ("part", key),
        lambda tx: tx.delete(key, condition="version = :seen", values={":seen": version}),
    )
    subject = f"{kind} {number_of(key)}"
    yield Drift("entity.orphan_part", subject, key[1], "stored", None, basis, fix)


def lookup_drifts(read: ReadItems, kind: str, lookup: Item) -> Iterator[Drift]:
    """Yield a drift if no entity has a lookup."""
    key = key_of(lookup)
    record = read.live(kind, number_of(key))
    if read.is_live(kind, number_of(key)) and (record is None or record.id != number_of(key)):
        return  # the head has its own finding
    expected = COLLECTIONS[kind].derived_items(record) if record else []
    if key in map(key_of, expected):
        return

    def remove(tx: Transaction) -> None:
        if record:
            check_unchanged(tx, COLLECTIONS[kind], record)
        tx.delete(key)

    fix = Fix(("lookup", key), remove)
    subject = f"{kind} {number_of(key)}"
    version = record.version if record else None
    yield Drift("lookup.orphan", subject, key[1], shown_values(lookup), None, version, fix)


def _form_drifts(
    read: ReadItems, collection: Collection[Any], subject: str, head: Item, record: Record[Any]
) -> Iterator[Drift]:
    fix = Fix(("form", subject), lambda tx: collection.bring_up_to_date(tx, record))
    version = read.store.version.complete
    if collection.differs(record.schema, version):
        yield Drift(
            "schema.old", subject, SCHEMA, str(record.schema), str(version), record.version, fix
        )
        return
    expected = collection.derived_attributes(record)
    for kind, name, stored, wanted in entities.differing_attributes(head, expected):
        yield Drift(kind, subject, name, shown(stored), shown(wanted), record.version, fix)


def _lookups_of_entity(
    read: ReadItems, collection: Collection[Any], subject: str, record: Record[Any]
) -> Iterator[Drift]:
    for item in collection.derived_items(record):
        stored = read.items.get(key_of(item))
        fix = Fix(
            ("lookup", key_of(item)),
            partial(put_with, collection=collection, record=record, item=item),
        )
        kind = "lookup.missing" if stored is None else "lookup.wrong"
        if stored != item:
            yield Drift(kind, subject, item[SORT_KEY], shown_values(stored), shown_values(item),
                        record.version, fix)  # fmt: skip


def _reference_drifts(
    read: ReadItems, kind: str, subject: str, record: Record[Any]
) -> Iterator[Drift]:
    for name, of, number in entities.references_of(kind, record.entity):
        if not read.is_live(of, number):
            yield Drift("reference.dangling", subject, name, f"{of} {number}", None,
                        record.version)  # fmt: skip


def _copy_drifts(read: ReadItems, kind: str, subject: str, record: Record[Any]) -> Iterator[Drift]:
    """Yield a drift for each copied code or name that differs from its master data."""
    found = [
        (name, (of, number), getattr(source.entity, field_name), source)
        for name, of, number, field_name in entities.copies_of(kind, record)
        if (source := read.live(of, number))
    ]
    values = {name: value for name, _, value, _ in found}
    sources = {of: (of[0], source) for _, of, _, source in found}
    before = {key_of(alias): alias for alias in entities.alias_items(kind, record.entity)}
    corrected = record.entity.model_copy(update=values)
    after = {key_of(alias): alias for alias in entities.alias_items(kind, corrected)}
    new = [alias for key, alias in after.items() if key not in before]
    if kind == "stock" and read.store.get_many(map(key_of, new)):
        return  # an interrupted rename was followed by stock, and another row has it
    old = [
        key for key in before if key not in after and read.items.get(key, {}).get("id") == record.id
    ]

    def correct(tx: Transaction) -> None:
        for of, source in sources.values():
            check_unchanged(tx, COLLECTIONS[of], source)
        for key in old:
            tx.delete(key, condition="id = :id", values={":id": record.id})
        for alias in new:
            tx.insert(alias)
        COLLECTIONS[kind].update(tx, record, values)

    fix = Fix(("copies", subject), correct)
    for name, _, value, source in found:
        stored, basis = getattr(record.entity, name), (record.version, source.version)
        if stored != value:
            yield Drift("copy.wrong", subject, name, stored, value, basis, fix)


def _expiry_date_drifts(
    read: ReadItems, kind: str, subject: str, record: Record[Any]
) -> Iterator[Drift]:
    """Yield a drift if a row in stock has another expiry date than its batch."""
    key = entities.batch_of(kind, record.entity)
    batch = read.items.get(key) if key else None
    if key is None or batch is None:
        return  # stock of an earlier release, whose batch has not moved since
    name, stored, date = "expiry_date", record.entity.expiry_date, batch.get("expiry_date")
    if stored == date:
        return

    def correct(tx: Transaction) -> None:
        tx.check(key, version=batch["version"])
        COLLECTIONS[kind].update(tx, record, {name: date})

    basis = (record.version, batch["version"])
    fix = Fix(("expiry", subject), correct)
    yield Drift("copy.wrong", subject, name, stored, date, basis, fix)
