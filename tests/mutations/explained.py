"""Mutants that may survive, each with the reason."""

_RANDOM_ID = "The id of an entry of the outbox has 68 random bits: no test can repeat one."
_VERSION = (
    "The same transaction replaces the entity under its version, and changing the code changes"
    " the version: the alias is that of the entity."
)

EXPLAINED: dict[str, str] = {
    "kernel/events/outbox.py request_redelivery: put instead of insert in"
    " tx.insert(item, table=tx.store.outbox)": _RANDOM_ID,
    "kernel/events/outbox.py request_recovery: put instead of insert in"
    " tx.insert(item, table=tx.store.outbox)": _RANDOM_ID,
    "kernel/db/alias_entries.py bring_alias_up_to_date: without condition 'id = :id'": _VERSION,
    "kernel/references.py rename_alias: without condition 'id = :id'": _VERSION,
    "kernel/references.py give_up_code: without raise StaleRead": (
        "The mark of a retirement is valid for longer than a request may take, so nobody else"
        " deletes the alias meanwhile; the check is for clocks that differ."
    ),
    "warehouse/receiving/goods_receipt.py _read_named: without"
    " tx.store.get_many(NamedCodes(positions=places).keys)": (
        "It reads ahead, in one call for all lines: what uses the positions reads them otherwise."
    ),
    "warehouse/counts/counting.py count_rows: without"
    " _read_ahead(tx, count, list(valid.values()), known)": (
        "It reads ahead, in one call for all rows: what counts each of them reads them otherwise."
    ),
    "warehouse/counts/repository.py insert_sums: put instead of insert in"
    " tx.insert(item_at(key, counted=0, differences=0, units=0))": (
        "The same transaction inserts the count with this id."
    ),
    "warehouse/counts/repository.py correct_sums: without condition"
    " f'attribute_exists({PARTITION_KEY})'": "Nothing deletes the sums of a count.",
    "warehouse/counts/repository.py reopen: without condition 'attribute_exists(#closed)'": (
        "The same transaction replaces the count, whose sums are closed, under its version."
    ),
    "warehouse/stock/renames.py _move_rows: put instead of insert in"
    " tx.insert(item_at(new, id=record.id))": (
        "The same transaction reserves the code of the position, so nobody else adds rows with it."
    ),
    "warehouse/warehouses/repository.py update_position_alias: without condition 'id = :id'": (
        _VERSION
    ),
    "warehouse/approvals/service.py find_grant: without"
    " tx.read_twice(f'approval {found.approval_id} {found.stage}')": (
        "Only a request that ends between two reads of this one makes them contradict each other."
    ),
    "warehouse/transfers/service.py execute_transfer: without tx.fence(TRANSFERS.kind)": (
        "A pending transfer is in the register of references, so that its product, warehouses and"
        " positions cannot be deleted: the fence is a second defence."
    ),
    "warehouse/waves/repository.py insert_pending: put instead of insert in"
    " tx.insert(item_at(_key(number), **pending))": (
        "The id comes from the sequence of waves; if the sequence is lost, inserting the wave"
        " fails."
    ),
}
"""Name of a mutant → why it may survive."""
