"""Drifts of registers and counts: open work, logins, holders of roles, subscriptions."""

from collections.abc import Iterator, Mapping
from typing import Any

from operations.stored_collections import COLLECTIONS
from operations.verify import entities
from operations.verify.findings import Drift, Fix, shown
from operations.verify.read_items import ReadItems
from operations.verify.table_access import check_unchanged, put_with, read_entries, set_number
from shared.identity.users.logins import login_key
from shared.identity.users.repository import USERS, role_count_key
from shared.integration.webhooks.repository import REGISTER_KEY, health_key
from shared.kernel import references
from shared.kernel.db.facets import id_of
from shared.kernel.db.items import Item, item_at, key_of
from shared.kernel.db.records import Record
from shared.kernel.db.table import UPDATES, index_keys
from shared.kernel.db.transaction import Transaction


def registered_drifts(
    read: ReadItems, kind: str, subject: str, record: Record[Any]
) -> Iterator[Drift]:
    """Yield the drifts of the entry of the register that open work must have."""
    if kind not in entities.REGISTERED_KINDS:
        return
    key = (references.REGISTER, f"{kind}#{record.id}")
    expected = entities.register_item(kind, record.id, record.entity)
    stored = read.items.get(key)
    if expected is None:
        return  # what is left in the register has its own look
    wrong = [name for name, value in expected.items() if stored and stored.get(name) != value]
    if stored and not wrong:
        return
    found = "register.wrong" if stored else "register.missing"
    put = Fix(
        ("register", key),
        lambda tx: put_with(tx, COLLECTIONS[kind], record, {**(stored or {}), **expected}),
    )
    # A transfer knows its positions by code only.
    fix = put if kind != "transfer" or stored else None
    for name in wrong or ("item",):
        before = shown(stored.get(name)) if stored else None
        after = shown(expected.get(name)) if stored else "stored"
        yield Drift(found, subject, name, before, after, record.version, fix)


def register_entry_drifts(read: ReadItems, entry: Item) -> Iterator[Drift]:
    """Yield a drift if an entry of the register is of work that is not open."""
    key = key_of(entry)
    kind, number = read.target(entry)
    record = read.live(kind, number) if kind else None
    if record is None and kind and read.is_live(kind, number):
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


def role_count_drifts(read: ReadItems, subject: str, record: Record[Any]) -> Iterator[Drift]:
    """Yield a drift if the count of the holders of a role is wrong."""
    key = role_count_key(record.id)
    entries = read_entries(
        read.store, UPDATES, USERS.kind,
        FilterExpression="contains(#volatile.#roles, :role)",
        ExpressionAttributeNames={"#volatile": "volatile", "#roles": "roles"},
        values={":role": f",{record.id},"},
    )  # fmt: skip
    numbers = [id_of(entry[index_keys(UPDATES)[1]]) for entry in entries]
    users = USERS.get_many(read.store, numbers)
    holders = sum(record.id in user.entity.roles for user in users)
    item = read.items.get(key)
    stored = int(item["holders"]) if item else None
    if stored == holders:
        return
    basis = (stored, record.version, tuple((user.id, user.version) for user in users))
    fix = Fix(("role_users", key), lambda tx: set_number(tx, key, "holders", stored, holders))
    yield Drift("role_users.wrong", subject, "holders", shown(stored), str(holders), basis, fix)


def login_drifts(read: ReadItems, subject: str, record: Record[Any]) -> Iterator[Drift]:
    """Yield a drift if a user has no login."""
    if login_key(record.id) not in read.items:
        yield Drift("login.missing", subject, "login", None, "stored", record.version)


def webhook_drifts(read: ReadItems, subject: str, record: Record[Any]) -> Iterator[Drift]:
    """Yield the drifts of the register of subscriptions, and of the health of one."""
    register = read.items.get(REGISTER_KEY) or {}
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
    if key not in read.items:
        item = item_at(key, failure_count=0)
        fix = Fix(("health", key), lambda tx: tx.insert(item))
        yield Drift("webhooks.health_missing", subject, "health", None, "stored",
                    record.version, fix)  # fmt: skip


def webhooks_register_drifts(read: ReadItems, register: Item) -> Iterator[Drift]:
    """Yield a drift for each id in the register that no subscription has."""
    ids: set[int] = set(register.get("ids", ()))
    wanted = register.get("wanted", {})
    named = ids | {int(number) for number in wanted}
    kind = entities.WEBHOOK_KIND
    heads = read.store.get_many(COLLECTIONS[kind].key(number) for number in named)
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


def _put_register(
    tx: Transaction, register: Item, ids: set[int], events: Mapping[str, str]
) -> None:
    version = register.get("version", 0)
    item = item_at(REGISTER_KEY, version=version + 1, ids=ids or None, wanted=events)
    tx.replace(item, version=version)
