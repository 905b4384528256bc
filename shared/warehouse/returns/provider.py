"""Goods of returns that go back to their provider: an exit document with its picking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.kernel.db.parallel import run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import ExitDraft, LineDraft
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.picking import service as picking
from shared.warehouse.picking.models import Allocation, StoredPickingLine
from shared.warehouse.returns.models import (
    DispositionDraft,
    Part,
    StoredReturn,
    return_code,
)
from shared.warehouse.stock.models import StockRow
from shared.warehouse.warehouses.models import KnownWarehouse

_TYPE = "return_to_provider"
_PICKING = "picking"
"""Sequence of the ids of pickings."""


@dataclass(frozen=True, slots=True)
class MovedGoods:
    """Goods that a disposition has made available: the stock row `row` with the id `row_id`."""

    part: Part
    draft: DispositionDraft
    row: StockRow
    row_id: int


@dataclass(frozen=True, slots=True)
class ProviderExit:
    """Partner, reference and day of an exit document."""

    partner_code: str
    partner_name: str | None
    external_ref: str
    day: str


def prepare(tx: Transaction, one: StoredReturn) -> str:
    """Reserve the ids of an exit document and its picking; return a reference that is free."""
    reference, _, _ = run_all(
        lambda: _free_reference(tx, one),
        lambda: tx.reserve_ids("exit", 1),
        lambda: tx.reserve_ids(_PICKING, 1),
    )
    return reference


def _free_reference(tx: Transaction, one: StoredReturn) -> str:
    number = len(one.provider_documents)
    while True:
        number += 1
        reference = f"{return_code(one.id)}/{number}"
        if not documents.has_reference(tx.store, "exit", _TYPE, reference):
            return reference


def create_exit_document(
    tx: Transaction,
    one: StoredReturn,
    goods: Sequence[MovedGoods],
    exit_draft: ProviderExit,
    known: MasterData,
) -> int:
    """Create the exit document of goods, with a picking that they are allocated to; return its id.

    It has a line per disposition, which requires exactly these batches and serials.
    """
    by_line: dict[int, list[MovedGoods]] = {}
    for each in goods:
        by_line.setdefault(each.part.at, []).append(each)
    drafts = [parts[0].draft for parts in by_line.values()]
    draft = ExitDraft.model_construct(
        external_ref=exit_draft.external_ref,
        type=_TYPE,
        doc_date=exit_draft.day,
        due_date=None,
        partner_code=exit_draft.partner_code,
        partner_name=exit_draft.partner_name,
        warehouse_code=one.whs_code,
        comments=None,
        priority=None,
        ship_to=None,
        lines=[_document_line(line) for line in drafts],
    )
    work = tx.next_id(_PICKING)
    warehouse = KnownWarehouse(one.warehouse_id, one.whs_code, "")
    document = documents.insert_exit_with_work(tx, draft, known.products, warehouse, work=work)
    lines = [
        _picking_line(document.id, number, parts)
        for number, parts in enumerate(by_line.values(), start=1)
    ]
    picking.insert_allocated(tx, work, document, lines)
    return document.id


def _document_line(draft: DispositionDraft) -> LineDraft:
    return LineDraft(
        item_code=draft.item_code, qty=draft.qty, batch=draft.batch, serials=draft.serials
    )


def _picking_line(document: int, number: int, goods: Sequence[MovedGoods]) -> StoredPickingLine:
    first = goods[0]
    return StoredPickingLine(
        document_id=document,
        document_line=number,
        product_id=first.part.product_id,
        item_code=first.draft.item_code,
        qty=first.draft.qty,
        batch_num=first.draft.batch,
        serials=first.draft.serials or [],
        allocations=list(_allocations(goods).values()),
    )


def _allocations(goods: Iterable[MovedGoods]) -> Mapping[int, Allocation]:
    """Return the allocations of goods by the id of their stock row."""
    found: dict[int, Allocation] = {}
    for each in goods:
        before = found.get(each.row_id)
        found[each.row_id] = Allocation(
            stock_id=each.row_id,
            position_id=each.row.position_id or 0,
            bin_code=each.row.bin_code or "",
            batch_num=each.row.batch_num,
            serial=each.row.serial_number,
            qty=each.part.qty + (before.qty if before else ZERO),
        )
    return found
