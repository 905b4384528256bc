"""Create the transfers to pick faces, in steps.

Each step examines the next pick faces and records what it has created, so that a repeat of the
request continues after it. What is below its minimum and has a waiting transfer gets no second one.
"""

import zlib
from collections.abc import Sequence

from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.items import Item, inflate
from shared.kernel.db.lists.entity_pages import MAX_INDEX_LAG_MS
from shared.kernel.db.parallel import run_all
from shared.kernel.db.steps import has_room, run_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.references import record_use
from shared.kernel.validation import Checked, ensure_valid, valid_entries
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.pick_faces import service as pick_faces
from shared.warehouse.pick_faces.models import KnownPickFace
from shared.warehouse.replenishment import rules
from shared.warehouse.replenishment.models import (
    MAX_EXAMINED,
    CreatedReplenishment,
    CreatedReplenishments,
    Need,
    ReplenishmentDraft,
    ReplenishmentProgress,
    UnfilledPickFace,
)
from shared.warehouse.replenishment.needs import read_needs
from shared.warehouse.transfers import service as transfers
from shared.warehouse.warehouses.models import KnownWarehouse

_PAGE = 25
"""Pick faces that a step examines at once; it has room for the transfers to about half of them."""
_ACTIONS_PER_TRANSFER = 4
"""The transfer, its register, its event, and the waiting transfers of its product."""


def create_replenishments(
    tx: Transaction, draft: Checked[ReplenishmentDraft]
) -> CreatedReplenishments:
    """Create a waiting transfer for each pick face that needs goods and has none yet."""
    done = ReplenishmentProgress(last=draft.after or 0)
    if tx.progress is not None:
        done = ReplenishmentProgress.from_json(inflate(tx.progress))

    def committed(progress: ReplenishmentProgress) -> None:
        nonlocal done
        done = progress

    def step() -> CreatedReplenishments | None:
        transfers.fence_master_data(tx)
        warehouse, named = _selected(tx, draft, created_before=bool(done.created))
        progress = done.model_copy(deep=True)
        while True:
            page = _next_page(tx.store, warehouse, named, progress.last)
            is_all = _replenish(tx, warehouse, page, progress)
            if is_all and len(page) < _PAGE:
                return _result(warehouse, progress, None)
            if progress.examined >= MAX_EXAMINED:
                return _result(warehouse, progress, progress.last)
            if len(progress.created) > len(done.created):
                tx.record_progress(zlib.compress(progress.to_json().encode()))
                tx.after_step(lambda: committed(progress))
                return None

    return run_steps(tx, step)


def _result(
    warehouse: KnownWarehouse, progress: ReplenishmentProgress, next_after: int | None
) -> CreatedReplenishments:
    return CreatedReplenishments(
        warehouse_code=warehouse.whs_code,
        created=progress.created,
        unfilled=progress.unfilled,
        next_after=next_after,
    )


def _selected(
    tx: Transaction, draft: Checked[ReplenishmentDraft], *, created_before: bool
) -> tuple[KnownWarehouse, Sequence[KnownPickFace] | None]:
    """Return the warehouse of a draft, and the pick faces that it names; None for all.

    After a step that created transfers, pick faces that are deleted are left out.
    """
    codes = NamedCodes(warehouses=[draft.warehouse_code])
    found, records = run_all(
        lambda: tx.store.get_many(codes.keys),
        lambda: pick_faces.get_pick_faces(
            tx.store, sorted(one for _, one in valid_entries(draft.pick_face_ids))
        ),
    )
    known, faces = codes.known(tx, found), {record.id: record.entity for record in records}
    problems = [*known.warehouse_problems("warehouse_code", draft.warehouse_code)]
    if not created_before:
        problems += rules.draft_problems(draft, faces)
    valid = ensure_valid(draft, problems)
    named = [
        KnownPickFace(one.id, one.product_id, one.item_code, one.bin_code) for one in faces.values()
    ]
    return known.warehouses[valid.warehouse_code], None if valid.pick_face_ids is None else named


def _next_page(
    store: Store, warehouse: KnownWarehouse, named: Sequence[KnownPickFace] | None, after: int
) -> Sequence[KnownPickFace]:
    if named is None:
        return pick_faces.faces_with_minimum(store, warehouse.whs_code, after, _PAGE)
    return [face for face in named if face.id > after][:_PAGE]


def _replenish(
    tx: Transaction,
    warehouse: KnownWarehouse,
    page: Sequence[KnownPickFace],
    progress: ReplenishmentProgress,
) -> bool:
    """Create the transfers to a page of pick faces, as many as fit; return whether these are all.

    `progress` is brought up to date.
    """
    code, last = warehouse.whs_code, page[-1].id if page else progress.last
    needs = read_needs(tx.store, warehouse, page, exact=True)
    unseen = any(need.lines and not need.is_seen for need in needs)
    if unseen and tx.elapsed_ms < MAX_INDEX_LAG_MS:
        raise StaleRead
    transfers.reserve_transfers(tx, sum(bool(need.lines) for need in needs))
    waiting, named = dict[int, dict[int, int]](), list[Item]()
    for need in needs:
        face = need.face
        if need.lines:
            if waiting and not has_room(tx, Cost(len(waiting) + _ACTIONS_PER_TRANSFER)):
                last = face.id - 1
                break
            codes = _codes(code, need)
            items = tx.store.get_many(codes.keys)
            named += items.values()
            record = transfers.create_replenishment(
                tx, code, face.id, need.lines, codes.known(tx, items)
            )
            waiting.setdefault(face.product_id, {})[face.id] = record.id
            progress.created.append(_created(need, record.id))
        if need.left and need.transfer_id is None:
            progress.unfilled.append(_unfilled(need))
    for product, of_product in waiting.items():
        transfers.record_waiting_replenishments(tx, code, product, of_product)
    record_use(tx, named)
    progress.examined += sum(progress.last < face.id <= last for face in page)
    progress.last = last
    return not page or last == page[-1].id


def _codes(whs_code: str, need: Need) -> NamedCodes:
    bins = {one for line in need.lines for one in (line.from_bin, line.to_bin)}
    return NamedCodes(
        products=[need.face.item_code],
        warehouses=[whs_code],
        positions=((whs_code, one) for one in bins),
    )


def _created(need: Need, number: int) -> CreatedReplenishment:
    face = need.face
    return CreatedReplenishment(
        transfer_id=number,
        pick_face=face.id,
        item_code=face.item_code,
        bin_code=face.bin_code,
        qty=need.needed - need.left,
    )


def _unfilled(need: Need) -> UnfilledPickFace:
    face = need.face
    return UnfilledPickFace(
        pick_face=face.id, item_code=face.item_code, bin_code=face.bin_code, needed=need.left
    )
