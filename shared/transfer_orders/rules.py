"""Decisions about transfer orders, on plain data: what an order may say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from shared.catalog.models import KnownProduct
from shared.errors import Problem
from shared.transfer_orders.models import (
    StoredTransferLine,
    StoredTransferOrder,
    TransferLineDraft,
    TransferOrderDraft,
    TransferPlace,
)
from shared.warehouses.models import KnownWarehouse

_NORMAL = 2
"""Priority of an order that names none; the same as Normal of an exit document."""


@dataclass(frozen=True, slots=True)
class MasterData:
    """What the database knows of the codes that an order names."""

    products: Mapping[str, KnownProduct]
    warehouses: Mapping[str, KnownWarehouse]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with an order: invalid data, and valid data that a rule forbids."""

    invalid: Sequence[Problem]
    blocked: Sequence[Problem]


def examine(draft: TransferOrderDraft, known: MasterData, *, by_client: bool) -> Findings:
    """Find every problem of an order; fields that are None were invalid by themselves.

    `by_client`: an integration client asks, which picks nothing itself.
    """
    invalid: list[Problem] = [*_warehouse_problems(draft, known)]
    blocked: list[Problem] = []
    if by_client and draft.release and draft.picker_id is None:
        invalid.append(Problem("picker_id", "is required when an integration client releases"))
    serials: dict[str, str] = {}
    for path, line in lines_of(draft):
        code: str | None = line.item_code  # None where the body's is not valid
        product = known.products.get(line.item_code)
        if code is not None and product is None:
            invalid.append(Problem(f"{path}.item_code", f"no product has the code {code}"))
        if product and not product.in_stock:
            message = f"product {product.item_code} is not kept in stock"
            blocked.append(Problem(f"{path}.item_code", message))
        if product:
            invalid += _management_problems(path, line, product)
        invalid += _serial_problems(path, line, serials)
    return Findings(invalid, blocked)


def lines_of(draft: TransferOrderDraft) -> Iterator[tuple[str, TransferLineDraft]]:
    """Yield the lines of a draft with their paths."""
    for number, line in enumerate(draft.lines or ()):
        yield f"lines.{number}", line


def two_warehouses(draft: TransferOrderDraft, known: MasterData) -> bool:
    """Tell whether the order names two warehouses that there are."""
    return len({draft.from_warehouse, draft.to_warehouse} & known.warehouses.keys()) > 1


def _warehouse_problems(draft: TransferOrderDraft, known: MasterData) -> Iterator[Problem]:
    for field in ("from_warehouse", "to_warehouse"):
        code: str | None = getattr(draft, field)
        if code is not None and code not in known.warehouses:
            yield Problem(field, f"no warehouse has the code {code}")
    origin: str | None = draft.from_warehouse
    if origin is not None and origin == draft.to_warehouse:
        yield Problem("to_warehouse", "must be another warehouse than from_warehouse")


def _management_problems(
    path: str, line: TransferLineDraft, product: KnownProduct
) -> Iterator[Problem]:
    if not product.by_batch:
        message = f"product {product.item_code} is not managed by batch"
        if line.batch_num is not None:
            yield Problem(f"{path}.batch_num", message)
        if line.expected_batches:
            yield Problem(f"{path}.expected_batches", message)
    if line.expected_series and not product.by_serial:
        message = f"product {product.item_code} is not managed by serial"
        yield Problem(f"{path}.expected_series", message)
    qty: Decimal | None = line.qty
    if product.by_serial and qty is not None and qty != qty.to_integral_value():
        yield Problem(f"{path}.qty", "must be whole, the product is managed by serial")


def _serial_problems(path: str, line: TransferLineDraft, seen: dict[str, str]) -> Iterator[Problem]:
    qty: Decimal | None = line.qty
    if line.expected_series and qty is not None and len(line.expected_series) != qty:
        message = f"must be as many as qty ({qty:f}); there are {len(line.expected_series)}"
        yield Problem(f"{path}.expected_series", message)
    for number, serial in enumerate(line.expected_series or ()):
        place = f"{path}.expected_series.{number}"
        if serial in seen:
            yield Problem(place, f"is on the order already, at {seen[serial]}")
        seen.setdefault(serial, place)


def new_order(
    number: int, draft: TransferOrderDraft, known: MasterData, now: str
) -> StoredTransferOrder:
    """Make the order of a draft without problems, released if it says so."""
    return StoredTransferOrder(
        id=number,
        status="released" if draft.release else "draft",
        origin=_place(known.warehouses[draft.from_warehouse]),
        destination=_place(known.warehouses[draft.to_warehouse]),
        priority=_NORMAL if draft.priority is None else draft.priority,
        reason=draft.reason,
        due_at=draft.due_at,
        external_ref=draft.external_ref,
        source="api",
        picker_id=draft.picker_id if draft.release else None,
        created_at=now,
        updated_at=now,
        lines=[
            _new_line(position, line, known.products[line.item_code])
            for position, line in enumerate(draft.lines, start=1)
        ],
    )


def _place(warehouse: KnownWarehouse) -> TransferPlace:
    return TransferPlace(id=warehouse.id, code=warehouse.whs_code, name=warehouse.name)


def _new_line(number: int, line: TransferLineDraft, product: KnownProduct) -> StoredTransferLine:
    return StoredTransferLine(
        line_num=number,
        product_id=product.id,
        item_code=product.item_code,
        qty=line.qty,
        picked_qty=Decimal(0),
        dispatched_qty=Decimal(0),
        received_qty=Decimal(0),
        batch_num=line.batch_num,
        expected_series=line.expected_series or [],
        expected_batches=line.expected_batches or [],
        status="open",
    )
