"""First pass: every item of the table, compared with the entities that it follows from.

The table is scanned page by page, consistently. Each page is held with the items that its own are
compared with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify import entities
from operations.verify.counters_pass import Total, add_to_total
from operations.verify.entities import key_of
from operations.verify.findings import Drift, Fix, shown
from operations.verify.table_access import (
    check_unchanged,
    check_version,
    ids_in,
    read_entries,
    set_number,
)
from shared.identity.users.logins import login_key
from shared.identity.users.repository import USERS, role_count_key
from shared.integration.webhooks.repository import REGISTER_KEY, health_key
from shared.kernel.clock import now_ms
from shared.kernel.db.collection import HEAD, SCHEMA, Collection, Record, tail_keys
from shared.kernel.db.counters import read_totals
from shared.kernel.db.facets import ID_DIGITS, id_of
from shared.kernel.db.items import Item, Key, from_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import (
    EXPIRY,
    PARTITION_KEY,
    SORT_KEY,
    UPDATES,
    index_keys,
)
from shared.kernel.db.transaction import Transaction
from shared.warehouse import references
from shared.warehouse.catalog import repository as catalog

PAGE = 200
"""Items of a page."""
_MARK_GRACE_MS = 60_000
_LASTS = f"attribute_exists({PARTITION_KEY}) AND attribute_not_exists(#expiry)"
_PART, _LOOKUP, _PLACE = "PART#", "LOOKUP#", "QUEUE#"
_EXPIRING = frozenset(
    {"delivery", "idempotency", "import_contents", "import_origin", "rate", "session", "snapshot",
     "transfer_order_request"}
)  # fmt: skip
"""Beginnings of the partition keys of items that expire."""
_SEQUENCE = "sequence"
_KEPT = frozenset({"administrators", "batch", "held", "schema", _SEQUENCE})
"""Beginnings of the partition keys of items that other passes check, or that nothing follows."""
_KINDS_BY_SEQUENCE = frozenset(COLLECTIONS) - {
    "layout", "level", "level_total", "returned", "rfid_differences",
}  # fmt: skip
_OWNERS = {"login": "user", "role_users": "role", "rfid_passed": "packing_order"}
"""Beginnings of the partition keys of items that belong to one entity → its kind."""

type Live = Mapping[tuple[str, int], Item]
"""Kind and id → head of the live entity."""


@dataclass(slots=True)
class ItemsPass:
    """Checks the items of a table one page after another.

    `greatest` has the greatest id that was seen of each kind, which the sequences are compared
    with, and which the other passes end at.
    """

    store: Store
    greatest: dict[str, int]
    name: str = "items"
    _page: dict[Key, Item] = field(default_factory=dict)

    def chunks(self, position: Any) -> Iterator[tuple[list[Key], Any]]:
        """Yield the keys of a page, and where the next one starts; then the sequences."""
        while position != "sequences":
            start = {"ExclusiveStartKey": position} if position else {}
            page = self.store.client.scan(
                TableName=self.store.table, ConsistentRead=True, Limit=PAGE, **start
            )
            items = [from_attributes(item) for item in page["Items"]]
            # the sequences follow, once all ids are known
            self._page = {key_of(item): item for item in items if key_of(item)[0] != _SEQUENCE}
            for item in items:
                self._remember_ids(item)
            position = page.get("LastEvaluatedKey") or "sequences"
            yield list(self._page), position
        yield [(_SEQUENCE, kind) for kind in sorted(self.greatest)], None

    def _remember_ids(self, item: Item) -> None:
        kind = _kind_of(item)
        if item[SORT_KEY] == HEAD and kind in _KINDS_BY_SEQUENCE:
            number = int(item[PARTITION_KEY].partition("#")[2])
            self.greatest[kind] = max(number, self.greatest.get(kind, 0))
        elif item[SORT_KEY] == HEAD and kind in {"level", "level_total"}:
            digits = str(item[PARTITION_KEY]).partition("#")[2][:ID_DIGITS]
            self.greatest["product"] = max(int(digits), self.greatest.get("product", 0))

    def look(self, keys: Sequence[Key]) -> Mapping[Key, list[Drift]]:
        """Return the drifts of items; at first of the page as it was scanned."""
        page, self._page = self._page, {}
        items = page if list(page) == list(keys) else self.store.get_many(keys)
        look = _Look(self.store, items, self.greatest)
        found = {key: list(look.drifts(key)) for key in keys}
        return {key: drifts for key, drifts in found.items() if drifts}


def _kind_of(item: Item) -> str:
    """Return the kind of an item of an entity; empty for another item."""
    kind, _, number = str(item[PARTITION_KEY]).partition("#")
    return kind if kind in COLLECTIONS and number.isdecimal() else ""


def _is_expired(item: Item) -> bool:
    return EXPIRY in item and int(item[EXPIRY]) <= now_ms() // 1000


class _Look:
    """One look at some items, with everything that they are compared with."""

    def __init__(
        self, store: Store, items: Mapping[Key, Item], greatest: Mapping[str, int]
    ) -> None:
        self._store = store
        self._items = items
        self._greatest = greatest
        tails = [key for item in items.values() for key in _tails(item)]
        self._found = {**store.get_many(tails), **items}
        self._records = {
            key: record for key, item in items.items() if (record := self._decode(item))
        }
        wanted = {key for record in self._records.items() for key in self._related(*record)}
        heads = [(alias, self._target(alias)) for alias in items.values()]
        wanted |= {COLLECTIONS[kind].key(number) for _, (kind, number) in heads if kind}
        self._read(wanted)
        # The entities that aliases lead to must be complete, to know what they are called.
        self._read({key for head in [*self._found.values()] for key in _tails(head)})

    def _read(self, wanted: set[Key]) -> None:
        missing = [key for key in wanted if key not in self._found]
        self._found |= self._store.get_many(missing)

    def drifts(self, key: Key) -> Iterator[Drift]:
        item = self._items.get(key)
        if key[0] == _SEQUENCE:
            yield from self._sequence(key, item)
        if item is None or _is_expired(item):
            return
        kind = _kind_of(item)
        if kind and key[1] == HEAD:
            yield from self._head(kind, item)
        elif kind and key[1].startswith(_PART):
            yield from self._part(kind, item)
        elif kind and key[1].startswith(_LOOKUP):
            yield from self._lookup(kind, item)
        else:
            yield from self._other(item)

    # Entities

    def _decode(self, item: Item) -> Record[Any] | None:
        kind = _kind_of(item)
        if not kind or item[SORT_KEY] != HEAD or item.get("deleted"):
            return None
        number = int(item[PARTITION_KEY].partition("#")[2])
        try:
            return COLLECTIONS[kind].from_items(self._found, number)
        except Exception:  # noqa: BLE001  whatever is wrong with the stored bytes
            return None

    def _related(self, key: Key, record: Record[Any]) -> Iterator[Key]:
        kind, entity = _kind_of(self._items[key]), record.entity
        yield from map(key_of, entities.alias_items(kind, entity))
        yield from map(key_of, COLLECTIONS[kind].derived_items(record))
        yield from (
            COLLECTIONS[of].key(number) for _, of, number in entities.references_of(kind, entity)
        )
        yield from (
            COLLECTIONS[of].key(number) for _, of, number, _ in entities.copies_of(kind, record)
        )
        if batch := entities.batch_of(kind, entity):
            yield batch
        if kind in entities.REGISTERED_KINDS:
            yield references.REGISTER, f"{kind}#{record.id}"
        elif kind == "user":
            yield login_key(record.id)
        elif kind == "role":
            yield role_count_key(record.id)
        elif kind == entities.WEBHOOK_KIND:
            yield from (REGISTER_KEY, health_key(record.id))
        elif kind == "pick_face":
            yield _position_alias(entity)

    def _head(self, kind: str, head: Item) -> Iterator[Drift]:
        collection, key = COLLECTIONS[kind], key_of(head)
        if head.get("deleted"):
            return
        subject = f"{kind} {_number(key)}"
        basis = head.get("version")
        if head.get("id") != _number(key):
            yield Drift("entity.id", subject, "id", shown(head.get("id")), str(_number(key)), basis)
            return
        tails = [self._found.get(tail) for tail in _tails(head)]
        if any(tail is None or tail.get("version") != basis for tail in tails):
            there = 1 + sum(tail is not None and tail.get("version") == basis for tail in tails)
            yield Drift(
                "entity.part_missing", subject, "parts", str(there), shown(head["parts"]), basis
            )
            return
        record = self._records.get(key)
        if record is None:
            yield Drift("entity.unreadable", subject, "data", None, None, (basis, head["data"]))
            return
        yield from self._form(collection, subject, head, record)
        yield from self._lookups_of(collection, subject, record)
        for alias in entities.alias_items(kind, record.entity):
            yield from self._alias_of(kind, subject, record, alias)
        yield from self._references(kind, subject, record)
        yield from self._copies(kind, subject, record)
        yield from self._expiry_date(kind, subject, record)
        yield from self._registered(kind, subject, record)
        if kind == "user":
            yield from self._login(subject, record)
        elif kind == "role":
            yield from self._role_count(subject, record)
        elif kind == entities.WEBHOOK_KIND:
            yield from self._webhook(subject, record)
        elif kind == "pick_face":
            yield from self._assigned(subject, record)

    def _form(
        self, collection: Collection[Any], subject: str, head: Item, record: Record[Any]
    ) -> Iterator[Drift]:
        fix = Fix(("form", subject), lambda tx: collection.bring_up_to_date(tx, record))
        version = self._store.version.complete
        if collection.differs(record.schema, version):
            yield Drift(
                "schema.old", subject, SCHEMA, str(record.schema), str(version), record.version, fix
            )
            return
        expected = collection.derived_attributes(record)
        for kind, name, stored, wanted in entities.differing_attributes(head, expected):
            yield Drift(kind, subject, name, shown(stored), shown(wanted), record.version, fix)

    def _lookups_of(
        self, collection: Collection[Any], subject: str, record: Record[Any]
    ) -> Iterator[Drift]:
        for item in collection.derived_items(record):
            stored = self._found.get(key_of(item))
            fix = Fix(
                ("lookup", key_of(item)),
                partial(_put_with, collection=collection, record=record, item=item),
            )
            kind = "lookup.missing" if stored is None else "lookup.wrong"
            if stored != item:
                yield Drift(kind, subject, item[SORT_KEY], _keys(stored), _keys(item),
                            record.version, fix)  # fmt: skip

    def _part(self, kind: str, part: Item) -> Iterator[Drift]:
        key = key_of(part)
        head = self._found.get((key[0], HEAD))
        if head and not head.get("deleted") and key in _tails(head):
            return
        version = part.get("version")
        basis = (version, head and head.get("version"))
        fix = Fix(
            ("part", key),
            lambda tx: tx.delete(key, condition="version = :seen", values={":seen": version}),
        )
        subject = f"{kind} {_number(key)}"
        yield Drift("entity.orphan_part", subject, key[1], "stored", None, basis, fix)

    def _lookup(self, kind: str, lookup: Item) -> Iterator[Drift]:
        key = key_of(lookup)
        record = self._live(kind, _number(key))
        expected = COLLECTIONS[kind].derived_items(record) if record else []
        if key in map(key_of, expected):
            return
        fix = Fix(("lookup", key), lambda tx: tx.delete(key))
        subject = f"{kind} {_number(key)}"
        version = record.version if record else None
        yield Drift("lookup.orphan", subject, key[1], _keys(lookup), None, version, fix)

    def _live(self, kind: str, number: int) -> Record[Any] | None:
        """Return a live entity whose head was read; None also if it cannot be decoded."""
        try:
            return COLLECTIONS[kind].from_items(self._found, number)
        except Exception:  # noqa: BLE001  the head has its own finding
            return None

    def _is_live(self, kind: str, number: int) -> bool:
        head = self._found.get(COLLECTIONS[kind].key(number))
        return head is not None and not head.get("deleted")

    def _is_deleted(self, kind: str, number: int) -> bool:
        head = self._found.get(COLLECTIONS[kind].key(number))
        return head is not None and bool(head.get("deleted"))

    def _references(self, kind: str, subject: str, record: Record[Any]) -> Iterator[Drift]:
        for name, of, number in entities.references_of(kind, record.entity):
            if not self._is_live(of, number):
                yield Drift("reference.dangling", subject, name, f"{of} {number}", None,
                            record.version)  # fmt: skip

    def _copies(self, kind: str, subject: str, record: Record[Any]) -> Iterator[Drift]:
        """Yield a drift for each copied code or name that differs from its master data."""
        found = [
            (name, (of, number), getattr(source.entity, field_name), source)
            for name, of, number, field_name in entities.copies_of(kind, record)
            if (source := self._live(of, number))
        ]
        values = {name: value for name, _, value, _ in found}
        sources = {of: (of[0], source) for _, of, _, source in found}
        before = {key_of(alias): alias for alias in entities.alias_items(kind, record.entity)}
        corrected = record.entity.model_copy(update=values)
        after = {key_of(alias): alias for alias in entities.alias_items(kind, corrected)}
        new = [alias for key, alias in after.items() if key not in before]
        if kind == "stock" and self._store.get_many(map(key_of, new)):
            return  # an interrupted rename was followed by stock, and another row has it
        old = [
            key
            for key in before
            if key not in after and self._found.get(key, {}).get("id") == record.id
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

    def _expiry_date(self, kind: str, subject: str, record: Record[Any]) -> Iterator[Drift]:
        """Yield a drift if a row in stock has another expiry date than its batch."""
        key = entities.batch_of(kind, record.entity)
        batch = self._found.get(key) if key else None
        if key is None or batch is None:
            return  # stock of an earlier release, whose batch has not moved since
        name, stored, date = "expiry_date", record.entity.expiry_date, batch.get("expiry_date")
        if stored == date:
            return

        def correct(tx: Transaction) -> None:
            check_version(tx, key, batch["version"])
            COLLECTIONS[kind].update(tx, record, {name: date})

        basis = (record.version, batch["version"])
        fix = Fix(("expiry", subject), correct)
        yield Drift("copy.wrong", subject, name, stored, date, basis, fix)

    # Aliases

    def _alias_of(
        self, kind: str, subject: str, record: Record[Any], alias: Item
    ) -> Iterator[Drift]:
        """Yield the drifts of an alias that an entity must have."""
        key, stored = key_of(alias), self._found.get(key_of(alias))
        name = _name(key)
        if stored is None:
            fix = Fix(("alias", key), lambda tx: _insert_with(tx, kind, record, alias))
            yield Drift("alias.missing", name, subject, None, "stored", record.version, fix)
            return
        if stored.get("id") != record.id:
            other = self._other_claimant(kind, key, stored)
            basis = (record.version, other and other.version)
            if other:
                yield Drift("duplicate", name, kind, shown(stored["id"]), str(record.id), basis)
                return
        basis = (record.version, stored.get("id"))
        differing = [*entities.same_values(stored, alias)]
        if references.is_former(stored):
            differing.append((references.FORMER, True, None))
        for field_name, before, after in differing:
            found = "alias.other_entity" if field_name == "id" else "alias.wrong"
            fix = Fix(("alias", key), lambda tx: _update_alias(tx, kind, record, stored, alias))
            yield Drift(found, name, field_name, shown(before), shown(after), basis, fix)

    def _other_claimant(self, kind: str, key: Key, stored: Item) -> Record[Any] | None:
        """Return the entity that an alias leads to, if it has the code of the alias."""
        number = int(stored.get("id", 0))
        try:
            other: Record[Any] | None = next(
                iter(COLLECTIONS[kind].get_many(self._store, [number])), None
            )
        except Exception:  # noqa: BLE001  the head has its own finding
            return None
        claims = other and key in map(key_of, entities.alias_items(kind, other.entity))
        return other if claims else None

    def _target(self, item: Item) -> tuple[str, int]:
        """Return kind and id of the entity that an item depends on; no kind if there is none."""
        key = key_of(item)
        if kind := entities.alias_kind(key):
            return kind, int(item.get("id", 0))
        if kind := _kind_of(item):
            return kind, _number(key)
        head, _, rest = key[0].partition("#")
        if key[0] == references.REGISTER:
            kind, _, number = key[1].partition("#")
            is_known = kind in entities.REGISTERED_KINDS and number.isdecimal()
            return (kind, int(number)) if is_known else ("", 0)
        if head in _OWNERS and rest.isdecimal():
            return _OWNERS[head], int(rest)
        number = key[1].partition("#")[2]
        if key[0] == REGISTER_KEY[0] and number.isdecimal():
            return entities.WEBHOOK_KIND, int(number)
        return "", 0

    def _alias(self, kind: str, alias: Item) -> Iterator[Drift]:
        """Yield a drift if no entity has the code of an alias."""
        key, number = key_of(alias), int(alias.get("id", 0))
        if references.is_former(alias):
            return  # it keeps a code that nothing has
        record = self._live(kind, number)
        if record is None and self._is_live(kind, number):
            return  # it cannot be decoded
        if kind in entities.KINDS_WITH_LASTING_CODES and self._is_deleted(kind, number):
            return  # no other entity may get the code
        if record is None or key not in map(key_of, entities.alias_items(kind, record.entity)):
            values = {":id": number}
            fix = Fix(
                ("alias", key), lambda tx: tx.delete(key, condition="id = :id", values=values)
            )
            basis = (number, record and record.version)
            yield Drift("alias.orphan", _name(key), "id", f"{kind} {number}", None, basis, fix)
            return
        if kind in {"product", "warehouse", "position"}:
            yield from self._mark(key, alias)
        if kind == "position" and alias.get(references.ASSIGNED):
            yield from self._assignments(key, alias)

    def _mark(self, key: Key, alias: Item) -> Iterator[Drift]:
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
            yield Drift("mark.left", _name(key), "retired_by", shown(mark), None, until, fix)

    # Pick faces

    def _assigned(self, subject: str, record: Record[Any]) -> Iterator[Drift]:
        """Yield a drift if the alias of the position lacks the product of a pick face."""
        face, key = record.entity, _position_alias(record.entity)
        alias = self._found.get(key)
        if alias is None or face.product_id in alias.get(references.ASSIGNED, ()):
            return

        def add(tx: Transaction) -> None:
            check_unchanged(tx, COLLECTIONS["pick_face"], record)
            tx.add_to_set(key, references.ASSIGNED, face.product_id)

        fix = Fix(("assigned", subject), add)
        yield Drift("assigned.missing", _name(key), "assigned", None, f"product {face.product_id}",
                    record.version, fix)  # fmt: skip

    def _assignments(self, key: Key, alias: Item) -> Iterator[Drift]:
        """Yield a drift for each product that no pick face assigns to a position."""
        faces = COLLECTIONS["pick_face"]
        bin_code = key[0].rpartition("\x1f")[2]
        there = faces.get_many(self._store, ids_in(self._store, faces, "bin_code", bin_code))
        assigned = {face.entity.product_id for face in there if _position_alias(face.entity) == key}
        extra = sorted(alias[references.ASSIGNED] - assigned)
        products = {each.id: each for each in COLLECTIONS["product"].get_many(self._store, extra)}
        for number in extra:
            product = products.get(number)
            face = (
                references.assignment_key(catalog.code_key(product.entity.item_code), key)
                if product
                else None
            )

            def remove(tx: Transaction, number: int = number, face: Key | None = face) -> None:
                if face:  # a new pick face adds this item together with its product
                    tx.add_action("ConditionCheck", _absent(tx, face))
                tx.update(
                    key, "DELETE #assigned :product",
                    names={"#assigned": references.ASSIGNED}, values={":product": {number}},
                )  # fmt: skip

            fix = Fix(("assigned", key, number), remove)
            yield Drift("assigned.extra", _name(key), "assigned", f"product {number}", None, (),
                        fix)  # fmt: skip

    # Registers and counts

    def _registered(self, kind: str, subject: str, record: Record[Any]) -> Iterator[Drift]:
        if kind not in entities.REGISTERED_KINDS:
            return
        key = (references.REGISTER, f"{kind}#{record.id}")
        expected = entities.register_item(kind, record.id, record.entity)
        stored = self._found.get(key)
        if expected is None:
            return  # what is left in the register has its own look
        wrong = [name for name, value in expected.items() if stored and stored.get(name) != value]
        if stored and not wrong:
            return
        found = "register.wrong" if stored else "register.missing"
        put = Fix(
            ("register", key),
            lambda tx: _put_with(tx, COLLECTIONS[kind], record, {**(stored or {}), **expected}),
        )
        # A transfer knows its positions by code only.
        fix = put if kind != "transfer" or stored else None
        for name in wrong or ("item",):
            before = shown(stored.get(name)) if stored else None
            after = shown(expected.get(name)) if stored else "stored"
            yield Drift(found, subject, name, before, after, record.version, fix)

    def _register_entry(self, entry: Item) -> Iterator[Drift]:
        """Yield a drift if an entry of the register is of work that is not open."""
        key = key_of(entry)
        kind, number = self._target(entry)
        record = self._live(kind, number) if kind else None
        if record is None and kind and self._is_live(kind, number):
            return
        if record and entities.register_item(kind, number, record.entity):
            return

        def remove(tx: Transaction) -> None:
            if record:
                check_unchanged(tx, COLLECTIONS[kind], record)
            tx.delete(key)

        basis = record.version if record else None
        yield Drift("register.orphan", f"register {key[1]}", "item", "stored", None, basis,
                    Fix(("register", key), remove))  # fmt: skip

    def _role_count(self, subject: str, record: Record[Any]) -> Iterator[Drift]:
        key = role_count_key(record.id)
        entries = read_entries(
            self._store, UPDATES, USERS.kind,
            FilterExpression="contains(#volatile.#roles, :role)",
            ExpressionAttributeNames={"#volatile": "volatile", "#roles": "roles"},
            values={":role": f",{record.id},"},
        )  # fmt: skip
        numbers = [id_of(entry[index_keys(UPDATES)[1]]) for entry in entries]
        users = USERS.get_many(self._store, numbers)
        holders = sum(record.id in user.entity.roles for user in users)
        item = self._found.get(key)
        stored = int(item["holders"]) if item else None
        if stored == holders:
            return
        basis = (stored, record.version, tuple((user.id, user.version) for user in users))
        fix = Fix(("role_users", key), lambda tx: set_number(tx, key, "holders", stored, holders))
        yield Drift("role_users.wrong", subject, "holders", shown(stored), str(holders), basis, fix)

    def _login(self, subject: str, record: Record[Any]) -> Iterator[Drift]:
        if login_key(record.id) not in self._found:
            yield Drift("login.missing", subject, "login", None, "stored", record.version)

    def _webhook(self, subject: str, record: Record[Any]) -> Iterator[Drift]:
        register = self._found.get(REGISTER_KEY) or {}
        version = register.get("version", 0)
        basis = (record.version, version)
        ids, wanted = register.get("ids", set()), register.get("wanted", {})
        stored = wanted.get(str(record.id))
        expected = entities.webhook_events(record)

        def correct(tx: Transaction) -> None:
            check_unchanged(tx, COLLECTIONS[entities.WEBHOOK_KIND], record)
            events = {name: text for name, text in wanted.items() if name != str(record.id)}
            if expected:
                events[str(record.id)] = expected
            _put_register(tx, register, {*ids, record.id}, events)

        if record.id not in ids or stored != expected:
            before = shown(stored) if record.id in ids else None
            yield Drift("webhooks.wrong", subject, "register", before, expected or "listed", basis,
                        Fix(("webhooks", record.id), correct))  # fmt: skip
        key = health_key(record.id)
        if key not in self._found:
            item = {PARTITION_KEY: key[0], SORT_KEY: key[1], "failure_count": 0}
            fix = Fix(("health", key), lambda tx: tx.insert(item))
            yield Drift("webhooks.health_missing", subject, "health", None, "stored",
                        record.version, fix)  # fmt: skip

    def _webhooks_register(self, register: Item) -> Iterator[Drift]:
        """Yield a drift for each id in the register that no subscription has."""
        ids: set[int] = set(register.get("ids", ()))
        wanted = register.get("wanted", {})
        named = ids | {int(number) for number in wanted}
        kind = entities.WEBHOOK_KIND
        heads = self._store.get_many(COLLECTIONS[kind].key(number) for number in named)
        for number in sorted(named):
            head = heads.get(COLLECTIONS[kind].key(number))
            if head and not head.get("deleted"):
                continue

            def remove(tx: Transaction, number: int = number) -> None:
                events = {name: text for name, text in wanted.items() if name != str(number)}
                _put_register(tx, register, ids - {number}, events)

            fix = Fix(("webhooks", number), remove)
            yield Drift("webhooks.orphan", f"{kind} {number}", "register", "listed", None,
                        register["version"], fix)  # fmt: skip

    # Other items

    def _other(self, item: Item) -> Iterator[Drift]:
        key = key_of(item)
        begin = key[0].partition("#")[0]
        if kind := entities.alias_kind(key):
            yield from self._alias(kind, item)
        elif key[0] == references.REGISTER:
            yield from self._register_entry(item)
        elif key == REGISTER_KEY:
            yield from self._webhooks_register(item)
        elif begin in {*_OWNERS, "webhooks"} and self._target(item)[0]:
            yield from self._of_entity(item)
        elif (
            begin in _EXPIRING
            or begin == "position"
            or key[1].startswith(_PLACE)
            or begin == "forming_wave"
        ):
            yield from self._expiring(item)
        elif begin == "count":
            yield from self._own_total(key)
        elif begin not in _KEPT:
            yield Drift("item.unknown", _name(key), "item", "stored", None, _basis(item))

    def _of_entity(self, item: Item) -> Iterator[Drift]:
        """Yield a drift if the entity does not exist that an item belongs to."""
        key = key_of(item)
        kind, number = self._target(item)
        if not self._is_live(kind, number):
            fix = Fix(("item", key), lambda tx: tx.delete(key))
            yield Drift("item.orphan", _name(key), "item", f"{kind} {number}", None, _basis(item),
                        fix)  # fmt: skip

    def _expiring(self, item: Item) -> Iterator[Drift]:
        key = key_of(item)
        if EXPIRY not in item and not key[1].startswith(_PART):
            fix = Fix(
                ("expiry", key),
                lambda tx: tx.update(
                    key, "SET #expiry = :soon", names={"#expiry": EXPIRY},
                    condition=_LASTS,
                    values={":soon": tx.now_ms // 1000 + 86_400},
                ),
            )  # fmt: skip
            yield Drift("mark.endless", _name(key), EXPIRY, None, "a time", _basis(item), fix)

    def _own_total(self, key: Key) -> Iterator[Drift]:
        """Yield a drift if a total is not zero of a warehouse that no entity is in."""
        counter = key[0].removeprefix("count#")
        kind, _, name = counter.partition("#")
        facet = name.partition("=")[0]
        collection = COLLECTIONS.get(kind)
        if not name or collection is None or facet not in collection.own_totals:
            return
        totals = read_totals(self._store, counter)
        index = next(iter(collection.partitions[facet].values()))
        partition = collection.partition(facet, name.partition("=")[2])
        if not totals.of(None) or next(read_entries(self._store, index, partition, Limit=1), None):
            return
        total = Total(counter, "n", collection.own_totals[facet])
        fix = Fix(
            ("total", counter),
            lambda tx: add_to_total(self._store, tx, total, -totals.of(None)),
        )
        yield Drift("counter.orphan", f"totals of {kind}", name, str(totals.of(None)), "0",
                    totals.version, fix)  # fmt: skip

    def _sequence(self, key: Key, item: Item | None) -> Iterator[Drift]:
        """Yield a drift if a sequence would allocate an id that exists."""
        kind, last = key[1], int(item["last"]) if item else 0
        greatest = self._greatest.get(kind, 0)
        if last < greatest:
            seen = last if item else None
            fix = Fix(("sequence", kind), lambda tx: set_number(tx, key, "last", seen, greatest))
            yield Drift("sequence.low", f"sequence {kind}", "last", str(last),
                        f"at least {greatest}", (), fix)  # fmt: skip


# Repairs


def _absent(tx: Transaction, key: Key) -> dict[str, Any]:
    return {
        "TableName": tx.store.table,
        "Key": {PARTITION_KEY: {"S": key[0]}, SORT_KEY: {"S": key[1]}},
        "ConditionExpression": f"attribute_not_exists({PARTITION_KEY})",
    }


def _put_with(
    tx: Transaction, collection: Collection[Any], record: Record[Any], item: Item
) -> None:
    check_unchanged(tx, collection, record)
    tx.put(item)


def _insert_with(tx: Transaction, kind: str, record: Record[Any], item: Item) -> None:
    check_unchanged(tx, COLLECTIONS[kind], record)
    tx.insert(item)


def _update_alias(
    tx: Transaction, kind: str, record: Record[Any], stored: Item, alias: Item
) -> None:
    """Write the values of an alias; keep what others have added to it, such as a mark."""
    check_unchanged(tx, COLLECTIONS[kind], record)
    values = {name: value for name, value in alias.items() if name not in {PARTITION_KEY, SORT_KEY}}
    tx.update(
        key_of(alias),
        f"SET {', '.join(f'#{name} = :{name}' for name in values)} REMOVE {references.FORMER}",
        condition="#id = :seen",
        names={f"#{name}": name for name in values},
        values={
            ":seen": stored["id"],
            **{f":{name}": "" if value is None else value for name, value in values.items()},
        },
    )


def _put_register(
    tx: Transaction, register: Item, ids: set[int], events: Mapping[str, str]
) -> None:
    version = register.get("version", 0)
    item = {
        PARTITION_KEY: REGISTER_KEY[0], SORT_KEY: REGISTER_KEY[1], "version": version + 1,
        "ids": ids or None, "wanted": events,
    }  # fmt: skip
    tx.replace(item, version=version)


# Texts


def _tails(head: Item) -> list[Key]:
    if not _kind_of(head) or head[SORT_KEY] != HEAD or head.get("deleted"):
        return []
    return tail_keys(head[PARTITION_KEY], int(head.get("parts", 1)))


def _number(key: Key) -> int:
    return int(key[0].partition("#")[2])


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}".replace("\x1f", "/")


def _keys(item: Item | None) -> str | None:
    names = sorted(item.keys() - {PARTITION_KEY, SORT_KEY}) if item else []
    return ", ".join(str(item[name]) for name in names) if item else None


def _basis(item: Item) -> str:
    return repr(sorted(item.items(), key=lambda pair: pair[0]))


def _position_alias(face: Any) -> Key:
    """Return the key of the alias of the position of a pick face."""
    _, sort = key_of(entities.alias_items("pick_face", face)[0])
    return sort.removeprefix("FACE#"), "ALIAS"
