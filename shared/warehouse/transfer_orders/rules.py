"""Rules of new transfer orders, as pure functions."""

from collections.abc import Iterator, Sequence

from shared.kernel.differences import differing_fields, differing_lines
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.catalog.lines import (
    GoodsLine,
    LineProblems,
    examine_lines,
    numbered,
    repeated_references,
)
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.transfer_orders.models import (
    OrderSource,
    StoredTransferLine,
    StoredTransferOrder,
    TransferLineDraft,
    TransferOrderDraft,
    TransferPlace,
)
from shared.warehouse.transfer_orders.progress_rules import missing_picker
from shared.warehouse.warehouses.models import KnownWarehouse
from shared.warehouse.work.address import stored_address
from shared.warehouse.work.models import Operator
from shared.warehouse.work.operators import operator_problems
from shared.warehouse.work.ranks import rank_of


def examine(
    draft: Checked[TransferOrderDraft],
    known: MasterData,
    picker: Operator | None,
    *,
    by_client: bool,
) -> LineProblems:
    """Return every problem of an order other than those of its fields.

    `picker` is the user whom it names, if that exists. `by_client`: the caller is an integration
    client, which cannot be the picker itself.
    """
    invalid: list[Problem] = [*_warehouse_problems(draft, known)]
    if draft.release and "picker_id" not in invalid_fields(draft):
        invalid += missing_picker(draft, by_client=by_client)
    invalid += operator_problems("picker_id", draft.picker_id, picker)
    found = examine_lines(
        (_goods_line(path, line) for path, line in numbered(draft.lines)), known.products
    )
    invalid += [*found.invalid, *repeated_references(numbered(draft.lines))]
    return LineProblems(invalid, found.blocked)


def _goods_line(path: str, line: Checked[TransferLineDraft]) -> GoodsLine:
    batches = {"batch_num": line.batch_num, "expected_batches": line.expected_batches}
    serials = ("expected_series", line.expected_series)
    return GoodsLine(path, line.item_code, line.qty, batches, serials)


def names_two_warehouses(draft: Checked[TransferOrderDraft], known: MasterData) -> bool:
    """Return whether the order names two warehouses that exist."""
    return len({draft.from_warehouse, draft.to_warehouse} & known.warehouses.keys()) > 1


def _warehouse_problems(draft: Checked[TransferOrderDraft], known: MasterData) -> Iterator[Problem]:
    for field in ("from_warehouse", "to_warehouse"):
        yield from known.warehouse_problems(field, getattr(draft, field))
    origin = draft.from_warehouse
    if origin is not None and origin == draft.to_warehouse:
        yield Problem("to_warehouse", f"must be another warehouse than from_warehouse, {origin}")


def new_order(  # noqa: PLR0913, PLR0917 - the facts of an order
    number: int,
    line_ids: Sequence[int],
    draft: TransferOrderDraft,
    known: MasterData,
    now: str,
    source: OrderSource,
) -> StoredTransferOrder:
    """Return the order that a draft becomes, in the state `draft`."""
    return StoredTransferOrder(
        id=number,
        status="draft",
        origin=_place(known.warehouses[draft.from_warehouse]),
        destination=_place(known.warehouses[draft.to_warehouse]),
        priority=rank_of(draft.priority),
        reason=draft.reason,
        due_at=draft.due_at,
        external_ref=draft.external_ref,
        ship_to_address=stored_address(draft.ship_to_address),
        carrier_code=draft.carrier_code,
        service_code=draft.service_code,
        metadata=draft.metadata,
        source=source,
        created_at=now,
        updated_at=now,
        lines=[
            _new_line(line_id, position, line, known.products[line.item_code])
            for position, (line_id, line) in enumerate(
                zip(line_ids, draft.lines, strict=True), start=1
            )
        ],
    )


def differences(draft: TransferOrderDraft, order: StoredTransferOrder) -> list[str]:
    """Return the fields of a draft that differ from the order with its reference.

    `picker_id` and a `release` of an order that was released already mean no difference.
    """
    ranked = draft.model_copy(update={"priority": rank_of(draft.priority)})
    names = {"from_warehouse": "origin.code", "to_warehouse": "destination.code"}
    without = {"external_ref", "picker_id", "release", "lines"}
    return [
        *differing_fields(ranked, order, names, without=without),
        *(["release"] if draft.release and order.status == "draft" else []),
        *differing_lines(draft.lines, order.lines, {"qty": "sent_qty"}),
    ]


def _place(warehouse: KnownWarehouse) -> TransferPlace:
    return TransferPlace(id=warehouse.id, code=warehouse.whs_code, name=warehouse.name)


def _new_line(
    number: int, position: int, line: TransferLineDraft, product: KnownProduct
) -> StoredTransferLine:
    return StoredTransferLine(
        id=number,
        line_num=position,
        external_ref=line.external_ref,
        product_id=product.id,
        item_code=product.item_code,
        qty=line.qty,
        unit=line.unit,
        unit_qty=line.unit_qty,
        batch_num=line.batch_num,
        expected_series=line.expected_series or [],
        expected_batches=line.expected_batches or [],
        metadata=line.metadata,
    )
