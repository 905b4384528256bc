"""References to entities with codes, which cannot be deleted while something refers to them.

Every open record (such as an order) has one small item with the ids of the entities that it refers
to (the register). Other references are for the caller to look for.

A use case that deletes or renames such an entity first *retires* it, in steps that can be repeated:

1. It commits a mark in the alias. A creation that reads the alias from now on sees the mark.
2. It invalidates the fences. A creation that read the alias before the mark has read its fence
   even earlier, so it either has committed by now or never commits.
3. It looks for references: those of step 2 that have committed are recorded by now.

A mark that remains after a crash expires. Fences that remain invalidated only cause retries.

A code that an entity gives up keeps its alias, as a *former* code, if something may have recorded
it: nothing else gets the code as long as its owner exists. The alias of a code that was never used
says so (`unused`), until it is named for the first time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import batched

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS, Cost, StaleRead
from shared.kernel.db.fences import invalidate_fences
from shared.kernel.db.items import Item, Key, alias_key, item_at, key_of, update_of
from shared.kernel.db.steps import has_room
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Gone, NotFound, ServiceUnavailable

REGISTER = "open"
"""Partition key of the register of open work."""
FORMER, UNUSED = "former", "unused"
"""Attributes of an alias: of a code that its owner has given up or is about to get; of a code that
nothing has named so far."""
_MARK_MS = 30_000
"""Lifetime of a mark; longer than any invocation, so that it outlives its use case."""
_WAIT_MS = 3_000
"""How long a use case waits for a retirement to end. It takes longer only after a crash."""


def register_references(
    tx: Transaction, kind: str, number: int, ids_by_facet: Mapping[str, Iterable[int]]
) -> None:
    """Add the register item of an open record, named by its kind and id.

    `ids_by_facet` has the ids of the entities by facet.
    """
    tx.put(register_item(kind, number, ids_by_facet))


def register_item(kind: str, number: int, ids_by_facet: Mapping[str, Iterable[int]]) -> Item:
    """Return the register item of an open record."""
    ids = {facet: set(numbers) for facet, numbers in ids_by_facet.items()}
    present = {facet: numbers for facet, numbers in ids.items() if numbers}
    return item_at(_register_key(kind, number), **present)


def add_references(
    tx: Transaction, kind: str, number: int, ids_by_facet: Mapping[str, Iterable[int]]
) -> None:
    """Add entities to the register item of an open record; StaleRead if it is no longer open."""
    additions = ", ".join(f"#{facet} :{facet}" for facet in ids_by_facet)
    tx.update(
        _register_key(kind, number), f"ADD {additions}",
        condition=f"attribute_exists({PARTITION_KEY})", as_read=True,
        names={f"#{facet}": facet for facet in ids_by_facet},
        values={f":{facet}": set(numbers) for facet, numbers in ids_by_facet.items()},
    )  # fmt: skip


def release_references(tx: Transaction, kind: str, number: int) -> None:
    """Delete the register item of a record that is no longer open."""
    tx.delete(_register_key(kind, number))


def _register_key(kind: str, number: int) -> Key:
    return (REGISTER, f"{kind}#{number}")


def is_registered(store: Store, facet: str, number: int) -> bool:
    """Return whether an open record refers to the entity. Reads the whole register."""
    return any(True for _ in open_records(store, facet, number))


def open_records(store: Store, facet: str, number: int) -> Iterator[tuple[str, int]]:
    """Yield kind and id of each open record that refers to the entity.

    Reads the whole register.
    """
    found = store.query_all(
        KeyConditionExpression=f"{PARTITION_KEY} = :register",
        FilterExpression="contains(#facet, :number)",
        ExpressionAttributeNames={"#facet": facet},
        values={":register": REGISTER, ":number": number},
        ConsistentRead=True,
    )
    for item in found:
        kind, _, referrer = item[SORT_KEY].partition("#")
        yield kind, int(referrer)


def existing_id(found: Mapping[Key, Item], key: Key | None) -> int | None:
    """Return the id that an alias leads to, if it is among those that were read."""
    return int(found[key]["id"]) if key is not None and key in found else None


@dataclass(frozen=True, slots=True)
class ExternalReferences:
    """The aliases that make the external references of one kind unique."""

    name: str

    def keys(self, reference: str | None) -> list[Key]:
        """Return the key of the alias of a reference, if there is one."""
        return [] if reference is None else [alias_key(self.name, reference)]

    def put(self, tx: Transaction, reference: str | None, number: int) -> None:
        """Add the alias of a reference, if any; StaleRead when another entity has it."""
        for key in self.keys(reference):
            tx.insert(item_at(key, id=number))

    def holder(self, found: Mapping[Key, Item], reference: str | None) -> int | None:
        """Return the id of the entity with a reference, if its alias was found."""
        return next((existing_id(found, key) for key in self.keys(reference)), None)


class _MarkReplaced(Exception):
    """The mark was removed, or it expired and another use case wrote its own."""


def retire(tx: Transaction, alias: Key, *, kinds: Iterable[str]) -> str:
    """Mark an entity as being deleted or renamed, invalidate the fences, and return the mark.

    `kinds` are those that may refer to it; their creations call `Transaction.fence`. Look for
    references afterwards. Repeating this is safe, and a mark alone changes nothing.

    Raises:
        StaleRead: Another use case has marked it, or the alias does not exist.
    """
    mark = tx.use_case_id
    marking = Transaction(tx.store)
    marking.update(
        alias,
        "SET retired_by = :mark, retired_until = :until",
        condition=(
            f"attribute_exists({PARTITION_KEY}) AND (attribute_not_exists(retired_by)"
            " OR retired_by = :mark OR retired_until < :now)"
        ),
        values={":mark": mark, ":until": marking.now_ms + _MARK_MS, ":now": marking.now_ms},
    )
    marking.commit()
    invalidate_fences(tx.store, kinds)
    return mark


def undo_retirement(tx: Transaction, alias: Key, mark: str) -> None:
    """Remove a mark immediately, because the entity is kept."""

    def undo(unmarking: Transaction) -> None:
        unmarking.update(
            alias,
            "REMOVE retired_by, retired_until",
            condition="retired_by = :mark",
            values={":mark": mark},
            on_condition_failed=_MarkReplaced,
        )

    with suppress(_MarkReplaced):
        run_transaction(tx.store, undo)


def ensure_not_retired(tx: Transaction, aliases: Iterable[Item]) -> None:
    """Make the use case retry while any of the aliases is marked by a retirement.

    Raises:
        StaleRead: An alias is marked; retry until the retirement has ended.
        ServiceUnavailable: The retirement has not ended within seconds.
    """
    until = max((int(alias.get("retired_until", 0)) for alias in aliases), default=0)
    if until < tx.now_ms:
        return
    if tx.elapsed_ms > _WAIT_MS:
        raise ServiceUnavailable(1 + (until - tx.now_ms) // 1000)
    raise StaleRead


# Codes that were given up


def is_former(alias: Item) -> bool:
    """Return whether an alias only keeps a code from others, and leads to nothing."""
    return FORMER in alias


def present_aliases[C](
    tx: Transaction, keys: Mapping[C, Key], found: Mapping[Key, Item]
) -> dict[C, Item]:
    """Return the aliases of present codes by code, from items that were read by `keys`.

    Call `tx.fence` before reading the items.

    Raises:
        StaleRead, ServiceUnavailable: As for `ensure_not_retired`.
    """
    aliases = {
        code: found[key] for code, key in keys.items() if key in found and not is_former(found[key])
    }
    ensure_not_retired(tx, aliases.values())
    return aliases


def code_refusal(  # noqa: PLR0913 - the facts of one code
    store: Store,
    key: Key,
    owner_code: Callable[[int], str],
    *,
    noun: str,
    users: str,
    number: int | None = None,
) -> str | None:
    """Return why a code cannot be given to an entity; None if it can.

    `key` is that of the alias of the code, `number` the id of what the code is for, if it exists
    and has another code.
    `owner_code` returns the present code of the entity with an id, and raises Gone. `noun` is
    what the message calls another owner, and `users` what may have recorded its former code.

    Raises:
        StaleRead: The code is the present one of `number`: it was renamed a moment ago.
    """
    alias = store.get(key)
    if alias is None:
        return None
    owner = int(alias["id"])
    if not is_former(alias):
        if owner == number:
            raise StaleRead
        return f"is already taken by another {noun}"
    if owner == number:
        return None
    with suppress(Gone, NotFound):
        return f"was the code of {owner_code(owner)} ({noun}, id {owner}); {users} name it"
    return None


def put_code(tx: Transaction, alias: Item) -> None:
    """Add the alias of a code that `code_refusal` allows."""
    stored = tx.store.get(key_of(alias))
    is_new = stored is None or stored["id"] != alias["id"] or UNUSED in stored
    if is_new:
        alias = {**alias, UNUSED: True}
    if stored is None:
        tx.insert(alias)
    else:
        tx.put(
            alias,
            condition="#former = :former AND #id = :id",
            names={"#former": FORMER, "#id": "id"},
            values={":former": True, ":id": stored["id"]},
        )


def rename_alias(tx: Transaction, alias: Item, entries: Item | None = None) -> None:
    """Write the new name of an entity into its alias, and search entries for it.

    A retirement mark is kept. Without `entries`, searches go on to find what they found before.
    """
    expression, names, values = update_of({"name": alias["name"], **(entries or {})})
    values[":id"] = alias["id"]
    tx.update(key_of(alias), expression, condition="id = :id", names=names, values=values)


def reserve_code(tx: Transaction, key: Key, number: int) -> None:
    """Keep a code from others until the steps of a rename have ended, and `put_code` follows."""
    put_code(tx, item_at(key, id=number, **{FORMER: True}))


def drop_code(tx: Transaction, key: Key, mark: str) -> None:
    """Delete the alias of a deleted entity, which was retired under `mark`."""
    tx.delete(key, condition="retired_by = :mark", values={":mark": mark})


def give_up_code(tx: Transaction, key: Key, mark: str, *, new: Key) -> None:
    """Make the code of an alias, which was retired under `mark`, a former one, or free if unused.

    `put_code` with the key `new` may follow.

    Raises:
        StaleRead: Another use case has retired the alias meanwhile.
    """
    # Read after the fences were invalidated: all uses that commit are recorded by now. The steps
    # of the rename may have written the other one.
    alias = tx.store.get_many([key, new], uncached=True).get(key)
    if alias is None:
        raise StaleRead
    if UNUSED in alias:
        drop_code(tx, key, mark)
        return
    former = item_at(key, id=alias["id"], **{FORMER: True})
    tx.put(former, condition="retired_by = :mark", values={":mark": mark})


def record_use(tx: Transaction, found: Iterable[Item], *, is_planned: bool = False) -> None:
    """Record that something names the codes of the aliases in `found`.

    Call it after everything else is added, in a use case that called `Transaction.fence` before it
    read the aliases. It writes once per code: within the transaction if there is room, otherwise
    before it. There is room if the use case has planned these writes.
    """
    keys = {key_of(item) for item in found if UNUSED in item}
    new = [key for key in sorted(keys) if tx.is_first(f"use of {key}")]
    if not new:
        return
    if is_planned or has_room(tx, Cost(len(new))):
        _remove_unused(tx, new)
        return
    for part in batched(new, MAX_PLANNED_ACTIONS, strict=False):
        marking = Transaction(tx.store)
        _remove_unused(marking, part)
        marking.commit()


def used(alias: Item) -> Item:
    """Return an alias as it is after `record_use`."""
    return {name: value for name, value in alias.items() if name != UNUSED}


def _remove_unused(tx: Transaction, keys: Iterable[Key]) -> None:
    for key in keys:
        tx.update(key, f"REMOVE {UNUSED}", condition=f"attribute_exists({PARTITION_KEY})")
