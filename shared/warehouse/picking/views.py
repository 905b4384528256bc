"""Responses that show pickings."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.kernel.fields import ZERO, dict_of
from shared.kernel.validation import Checked
from shared.warehouse.catalog.several_lines import UnappliedLines, form_of, unapplied_lines
from shared.warehouse.picking import actions
from shared.warehouse.picking.models import (
    Allocation,
    Pick,
    Picking,
    PickingDetail,
    PickingLine,
    PicksDraft,
    StoredPicking,
    StoredPickingLine,
    picking_code,
)
from shared.warehouse.work.models import Fill

SEVERAL_PICKS = (
    "`lines` are several picks, and `as_allocated` picks everything that is allocated where it is"
    " allocated. All of them are checked before the first one is applied; one that another request"
    " makes impossible meanwhile is left out and named in `unapplied`. A repeat with the same"
    " Idempotency-Key continues where the request ended."
)
"""Part of the descriptions of the routes that take `PicksDraft`."""


def unapplied_picks(body: Checked[PicksDraft], refused: Mapping[int, str]) -> UnappliedLines | None:
    """Return what stands beside the resource after picks; None after a single one."""
    if form_of(body, "as_allocated") == "single":
        return None
    return UnappliedLines(unapplied=unapplied_lines(body, refused))


def picking_in_list(record: Record[StoredPicking]) -> Picking:
    """Return the response for a picking in a list, without its lines."""
    return Picking.from_stored(record.entity, **_others(record.entity))


PICKING_EVENTS = EventResource("picking", "/pickings/{record.id}", picking_in_list)


def picking_in_detail(record: Record[StoredPicking]) -> PickingDetail:
    """Return the response for one picking, with its lines."""
    picking = record.entity
    lines = [shown for line in picking.lines for shown in _picking_lines(line)]
    admitted = actions.admitted(picking)
    return PickingDetail.from_stored(picking, **_others(picking), lines=lines, actions=admitted)


def _others(picking: StoredPicking) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    return {"code": picking_code(picking.id), "document": next(iter(picking.documents), None)}


def _picking_lines(line: StoredPickingLine) -> Iterator[PickingLine]:
    """Yield a line for each position and batch of a line, and one for its unallocated quantity."""
    places: dict[tuple[str, str | None], list[Allocation | Pick]] = {}
    parts: list[Allocation | Pick] = [*line.picks, *line.allocations]
    for part in parts:
        places.setdefault((part.bin_code, part.batch_num), []).append(part)
    placed = ZERO
    for (bin_code, batch), found in places.items():
        qty = sum((part.qty for part in found), ZERO)
        picked = sum((part.qty for part in found if isinstance(part, Pick)), ZERO)
        placed += qty
        yield dict_of(
            PickingLine,
            line,
            qty=qty,
            picked_qty=picked,
            bin_code=bin_code,
            batch_num=batch,
            serials=[part.serial for part in found if part.serial is not None],
            status="picked" if picked == qty else "partial" if picked else "open",
            fills=_fills(line, picked),
        )
    if placed < line.qty:
        yield dict_of(
            PickingLine,
            line,
            qty=line.qty - placed,
            picked_qty=ZERO,
            bin_code=None,
            serials=[],
            status="short" if line.status == "short" else "open",
            fills=[],
        )


def _fills(line: StoredPickingLine, picked: Decimal) -> list[Fill]:
    """Return what a picked quantity of a line fulfils: the line of the document that it is for."""
    if not picked:
        return []
    document, number = line.document_id, line.document_line
    return [Fill(document_id=document, line_num=number, external_ref=line.external_ref, qty=picked)]
