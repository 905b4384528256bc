"""Drifts of aliases: codes and references of entities, and what is marked on them."""

from collections.abc import Iterator
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify import entities
from operations.verify.findings import Drift, Fix, shown
from operations.verify.read_items import ReadItems, name_of, position_alias
from operations.verify.table_access import (
    check_unchanged,
    ids_in,
)
from shared.kernel import references
from shared.kernel.clock import now_ms
from shared.kernel.db.alias_entries import alias_entries
from shared.kernel.db.items import Item, Key, key_of, update_of
from shared.kernel.db.records import Record
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import repository as catalog
from shared.warehouse.master_data import uses

_MARK_GRACE_MS = 60_000


def alias_of_entity_drifts(
    read: ReadItems, kind: str, subject: str, record: Record[Any], alias: Item
) -> Iterator[Drift]:
    """Yield the drifts of an alias that an entity must have."""
    key, stored = key_of(alias), read.items.get(key_of(alias))
    collection, entries = COLLECTIONS[kind], dict[str, Any]()
    if collection.search_alias and collection.search_alias(record.entity) == key:
        entries = alias_entries(collection, record)
        alias = {**alias, **entries}
    name = name_of(key)
    if stored is None:
        fix = Fix(("alias", key), lambda tx: _insert_with(tx, kind, record, alias))
        yield Drift("alias.missing", name, subject, None, "stored", record.version, fix)
        return
    if stored.get("id") != record.id:
        other = _other_holder(read, kind, key, stored)
        basis = (record.version, other and other.version)
        if other:
            yield Drift("duplicate", name, kind, shown(stored["id"]), str(record.id), basis)
            return
    basis = (record.version, stored.get("id"))
    differing = [
        (name, before, after)
        for name, before, after in entities.same_values(stored, alias)
        if name not in entries
    ]
    if entries:
        present = {name: value for name, value in entries.items() if value is not None}
        differing += [one[1:] for one in entities.differing_attributes(stored, present)]
    if references.is_former(stored):
        differing.append((references.FORMER, True, None))
    for field_name, before, after in differing:
        found = "alias.other_entity" if field_name == "id" else "alias.wrong"
        fix = Fix(("alias", key), lambda tx: _update_alias(tx, kind, record, stored, alias))
        yield Drift(found, name, field_name, shown(before), shown(after), basis, fix)


def _other_holder(read: ReadItems, kind: str, key: Key, stored: Item) -> Record[Any] | None:
    """Return the entity that an alias leads to, if it has the code of the alias."""
    number = int(stored.get("id", 0))
    try:
        other: Record[Any] | None = next(
            iter(COLLECTIONS[kind].get_many(read.store, [number])), None
        )
    except Exception:  # noqa: BLE001  the head has its own finding
        return None
    holds = other and key in map(key_of, entities.alias_items(kind, other.entity))
    return other if holds else None


def alias_drifts(read: ReadItems, kind: str, alias: Item) -> Iterator[Drift]:
    """Yield a drift if no entity has the code of an alias."""
    key, number = key_of(alias), int(alias.get("id", 0))
    if references.is_former(alias):
        return  # it keeps a code that nothing has
    record = read.live(kind, number)
    if record is None and read.is_live(kind, number):
        return  # it cannot be decoded
    if kind in entities.KINDS_WITH_LASTING_CODES and read.is_deleted(kind, number):
        return  # no other entity may get the code
    if record is None or key not in map(key_of, entities.alias_items(kind, record.entity)):
        values = {":id": number}
        fix = Fix(("alias", key), lambda tx: tx.delete(key, condition="id = :id", values=values))
        basis = (number, record and record.version)
        yield Drift("alias.orphan", name_of(key), "id", f"{kind} {number}", None, basis, fix)
        return
    if kind in {"product", "warehouse", "position"}:
        yield from _mark_drifts(key, alias)
    if kind == "position" and alias.get(uses.ASSIGNED):
        yield from _assignment_drifts(read, key, alias)


def _mark_drifts(key: Key, alias: Item) -> Iterator[Drift]:
    """Yield a drift if the mark of a retirement has been left for long."""
    until = int(alias.get("retired_until", 0))
    if "retired_by" in alias and until < now_ms() - _MARK_GRACE_MS:
        mark = alias["retired_by"]
        fix = Fix(
            ("mark", key),
            lambda tx: tx.update(
                key, "REMOVE retired_by, retired_until",
                condition="retired_by = :mark", values={":mark": mark},
            ),
        )  # fmt: skip
        yield Drift("mark.left", name_of(key), "retired_by", shown(mark), None, until, fix)


# Pick faces


def pick_face_drifts(read: ReadItems, subject: str, record: Record[Any]) -> Iterator[Drift]:
    """Yield a drift if the alias of the position lacks the product of a pick face."""
    face, key = record.entity, position_alias(record.entity)
    alias = read.items.get(key)
    if alias is None or face.product_id in alias.get(uses.ASSIGNED, ()):
        return

    def add(tx: Transaction) -> None:
        check_unchanged(tx, COLLECTIONS["pick_face"], record)
        tx.add_to_set(key, uses.ASSIGNED, face.product_id)

    fix = Fix(("assigned", subject), add)
    yield Drift("assigned.missing", name_of(key), "assigned", None, f"product {face.product_id}",
                record.version, fix)  # fmt: skip


def _assignment_drifts(read: ReadItems, key: Key, alias: Item) -> Iterator[Drift]:
    """Yield a drift for each product that no pick face assigns to a position."""
    faces = COLLECTIONS["pick_face"]
    bin_code = key[0].rpartition("\x1f")[2]
    there = faces.get_many(read.store, ids_in(read.store, faces, "bin_code", bin_code))
    assigned = {face.entity.product_id for face in there if position_alias(face.entity) == key}
    extra = sorted(alias[uses.ASSIGNED] - assigned)
    products = {each.id: each for each in COLLECTIONS["product"].get_many(read.store, extra)}
    for number in extra:
        product = products.get(number)
        face = (
            uses.assignment_key(catalog.code_key(product.entity.item_code), key)
            if product
            else None
        )

        def remove(tx: Transaction, number: int = number, face: Key | None = face) -> None:
            if face:  # a new pick face adds this item together with its product
                tx.check(face, condition=f"attribute_not_exists({PARTITION_KEY})")
            tx.update(
                key, "DELETE #assigned :product",
                names={"#assigned": uses.ASSIGNED}, values={":product": {number}},
            )  # fmt: skip

        fix = Fix(("assigned", key, number), remove)
        yield Drift("assigned.extra", name_of(key), "assigned", f"product {number}", None, (),
                    fix)  # fmt: skip


# Repairs


def _insert_with(tx: Transaction, kind: str, record: Record[Any], item: Item) -> None:
    check_unchanged(tx, COLLECTIONS[kind], record)
    tx.insert(item)


def _update_alias(
    tx: Transaction, kind: str, record: Record[Any], stored: Item, alias: Item
) -> None:
    """Write the values of an alias; keep what others have added to it, such as a mark."""
    check_unchanged(tx, COLLECTIONS[kind], record)
    wanted = {name: value for name, value in alias.items() if name not in {PARTITION_KEY, SORT_KEY}}
    expression, names, values = update_of({**wanted, references.FORMER: None})
    values[":seen"] = stored["id"]
    tx.update(key_of(alias), expression, condition="#id = :seen", names=names, values=values)
