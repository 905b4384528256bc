"""Use cases of pick faces."""

from collections.abc import Mapping
from itertools import chain

from shared.kernel import references
from shared.kernel.db.items import Item, Key
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.records import CreatedRecord, Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.catalog import service as catalog
from shared.warehouse.master_data import uses
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.pick_faces import repository, rules
from shared.warehouse.pick_faces.models import KnownPickFace, PickFace, PickFaceDraft
from shared.warehouse.pick_faces.repository import PICK_FACES
from shared.warehouse.warehouses import service as warehouses


def assign_pick_face(tx: Transaction, draft: Checked[PickFaceDraft]) -> CreatedRecord[PickFace]:
    """Assign a product to a position, or change the quantities of its pick face there.

    One transaction may assign several pick faces of different products or positions. Each adds
    at most three actions; all of them together add one more.
    """
    fence_master_data(tx)
    known, existing = _look_up(tx, draft)
    draft = ensure_valid(draft, rules.examine(draft, known, existing))
    minimum, maximum = rules.quantities(draft, existing)
    if existing:
        quantities = {"minimum": minimum, "maximum": maximum}
        return CreatedRecord(PICK_FACES.update(tx, existing, quantities), new=False)
    product, warehouse = known.products[draft.item_code], known.warehouses[draft.warehouse_code]
    position = known.positions[draft.warehouse_code, draft.bin_code]
    number = tx.next_id(PICK_FACES.kind)
    face = PickFace(
        id=number,
        product_id=product.id,
        item_code=product.item_code,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        position_id=position.id,
        bin_code=position.bin_code,
        minimum=minimum,
        maximum=maximum,
        created_at=tx.now,
        updated_at=tx.now,
    )
    uses.assign(tx, *_aliases(face), product_id=face.product_id, pick_face_id=number)
    return CreatedRecord(PICK_FACES.insert(tx, number, face), new=True)


def examine_pick_face(tx: Transaction, draft: Checked[PickFaceDraft]) -> list[Problem]:
    """Return the problems of a draft that field validation does not find. Writes nothing."""
    return list(rules.examine(draft, *_look_up(tx, draft)))


# Keys that an assignment reads, so that callers can read those of many assignments at once


def fence_master_data(tx: Transaction) -> None:
    """Make the transaction depend on the products and positions that it reads from now on.

    If one of them is deleted or renamed before the commit, the use case is retried. Call this
    before reading `pick_face_keys` ahead of an assignment.
    """
    tx.fence(PICK_FACES.kind)


def pick_face_keys(draft: Checked[PickFaceDraft]) -> list[Key]:
    """Return the keys that an assignment reads first; see `existing_pick_face_keys`."""
    assignment = _assignment_key(draft)
    return [*_codes(draft).keys, *([assignment] if assignment else [])]


def existing_pick_face_keys(draft: Checked[PickFaceDraft], found: Mapping[Key, Item]) -> list[Key]:
    """Return the key of the existing pick face, according to the items of `pick_face_keys`."""
    number = references.existing_id(found, _assignment_key(draft))
    return [] if number is None else [PICK_FACES.key(number)]


def _codes(draft: Checked[PickFaceDraft]) -> NamedCodes:
    return NamedCodes.of_lines(draft.warehouse_code, [draft])


def _assignment_key(draft: Checked[PickFaceDraft]) -> Key | None:
    item_code, whs_code, bin_code = draft.item_code, draft.warehouse_code, draft.bin_code
    if item_code is None or whs_code is None or bin_code is None:
        return None
    position = warehouses.position_key(whs_code, bin_code)
    return uses.assignment_key(catalog.product_key(item_code), position)


def _look_up(
    tx: Transaction, draft: Checked[PickFaceDraft]
) -> tuple[MasterData, Record[PickFace] | None]:
    """Read the master data that a draft names, and the pick face that there is already."""
    found = tx.store.get_many(pick_face_keys(draft))
    heads = tx.store.get_many(existing_pick_face_keys(draft, found))
    number = references.existing_id(found, _assignment_key(draft))
    existing = PICK_FACES.from_items(heads, number) if number is not None else None
    return _codes(draft).known(tx, found), existing


# Reading and removal


def remove_pick_face(tx: Transaction, number: int) -> Record[PickFace]:
    """Remove a pick face and return its last state."""
    record = PICK_FACES.get(tx.store, number)
    uses.unassign(tx, *_aliases(record.entity), product_id=record.entity.product_id)
    PICK_FACES.remove(tx, record)
    return record


get_pick_face = PICK_FACES.get
get_pick_faces = PICK_FACES.get_many
stored_pick_face_key = PICK_FACES.key
"""Returns the key of the first item of a pick face, which has one."""
list_pick_faces = list_of(PICK_FACES, warehouse="whs_code")


def ids_of_product(store: Store, whs_code: str, item_code: str) -> list[int]:
    """Return the ids of the pick faces of a product in a warehouse; the index can lag behind."""
    pages = id_pages(store, PICK_FACES, "item_code", item_code, whs_code=whs_code)
    return list(chain.from_iterable(pages))


def faces_with_minimum(store: Store, whs_code: str, after: int, most: int) -> list[KnownPickFace]:
    """Return up to `most` pick faces of a warehouse that have a minimum, after the id `after`."""
    store.ensure_version(repository.REPLENISHED_SINCE, "Replenishment")
    return repository.faces_with_minimum(store, whs_code, after, most)


def _aliases(face: PickFace) -> tuple[Key, Key]:
    """Return the keys of the aliases of the product and the position.

    Their codes cannot change while the pick face exists.
    """
    product = catalog.product_key(face.item_code)
    return product, warehouses.position_key(face.whs_code, face.bin_code)
