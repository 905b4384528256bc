"""Counts: what lies in a warehouse is counted, and the differences are posted."""

from typing import Any

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.counts import service, views
from shared.warehouse.counts.models import (
    MAX_LINES,
    ChangedCount,
    Count,
    CountDetail,
    CountDraft,
    CountedLines,
    CountParameters,
    CountWithSums,
    GoodsCount,
    RecountedLines,
    StoredCount,
)
from shared.warehouse.picking.holders import holders_of
from shared.warehouse.scanning.models import GOODS_TEXT, WorkGoods
from shared.warehouse.scanning.service import goods_of

routes = Routes()

_MANAGE = "inventory.manage"
_READ: OperationOptions = {"scope": "stocks:read"}
_WRITE: OperationOptions = {
    "scope": "stocks:write",
    "permission": _MANAGE,
    "response": ChangedCount,
    "errors": ("conflict", "stale_state"),
}


def _changed(request: Request[Any], count: CountWithSums) -> ChangedCount:
    """Return the view of a count after a change."""
    return views.changed_count(count, sees_expected=views.sees_expected(request.caller))


@routes.read(
    "/counts",
    "List counts",
    _READ,
    response=Count,
    parameters=CountParameters,
    description="`from` and `to` are days of creation.",
)
def list_counts(store: Store, request: Request[None, CountParameters]) -> ListResponse[StoredCount]:
    """Return a page of counts, without their lines."""
    page, sums = service.list_counts(store, request.parameters)
    view = views.count_in_list(sums, sees_expected=views.sees_expected(request.caller))
    return ListResponse(page, view)


@routes.write(
    "POST",
    "/counts",
    "Create a count",
    _WRITE,
    body=CountDraft,
    statuses=(201,),
    errors=("conflict",),
    description="It has a line for each stock that is at the positions, in the zone, or of the"
    " products, and for each named position that is empty; stock that is staged or in transit is"
    f" not counted. At most {MAX_LINES} lines. `conflict` names stock that is in another count that"
    " has not ended: a stock is in one at most.",
)
def create_count(tx: Transaction, request: Request[Checked[CountDraft]]) -> ResourceResponse:
    """Create a count of positions, of a zone or of products."""
    view = _changed(request, service.create_count(tx, request.body))
    return ResourceResponse(view, 201, f"/counts/{view.id}")


@routes.read(
    "/counts/{id}",
    "Get a count",
    _READ,
    response=CountDetail,
    description="In a blind count, `expected_qty`, `difference` and `progress.differences` are null"
    " for users without `inventory.manage`.",
)
def get_count(store: Store, request: Request) -> ResourceResponse:
    """Return one count with its lines."""
    count = service.get_count(store, request.id)
    view = views.count_in_detail(count, sees_expected=views.sees_expected(request.caller))
    return ResourceResponse(view)


@routes.read(
    "/counts/{id}/goods",
    "Get the goods of a count",
    _READ,
    response=WorkGoods,
    description=GOODS_TEXT,
)
def get_count_goods(store: Store, request: Request) -> ResourceResponse:
    """Return what names the goods of one count on labels."""
    count = service.get_count(store, request.id)
    products = (line.product_id for line in count.lines)
    bins = (line.bin_code for line in count.lines)
    return ResourceResponse(goods_of(store, products, count.record.entity.whs_code, bins))


@routes.write(
    "POST",
    "/counts/{id}/lines",
    "Count stock",
    _WRITE,
    other_permissions=("exits.manage", "entries.manage"),
    response=CountedLines,
    body=GoodsCount,
    description="The line of the goods gets the counted quantity; the last one counts. Stock that"
    " nobody expected gets a line. `empty` counts everything at the position as 0. The difference"
    " is to what was in stock when the request was carried out: what is picked, received or moved"
    " afterwards is no difference.",
)
def count_stock(tx: Transaction, request: Request[Checked[GoodsCount]]) -> ResourceResponse:
    """Count goods at a position, or that nothing is there."""
    counted = service.count_goods(tx, request.id, request.body)
    count, sees_expected = counted.record.entity, views.sees_expected(request.caller)
    view = views.counted_lines(count, counted.lines, sees_expected=sees_expected)
    return ResourceResponse(view)


@routes.write(
    "POST",
    "/counts/{id}/finish",
    "Finish a count",
    _WRITE,
    description="`conflict` names lines that are not counted.",
)
def finish_count(tx: Transaction, request: Request) -> ResourceResponse:
    """Record that all lines of a count are counted."""
    return ResourceResponse(_changed(request, service.finish_count(tx, request.id)))


@routes.write(
    "POST",
    "/counts/{id}/recount",
    "Count lines again",
    _WRITE,
    body=RecountedLines,
    description="Lines that are not counted stay as they are.",
)
def recount(tx: Transaction, request: Request[Checked[RecountedLines]]) -> ResourceResponse:
    """Let lines be counted again."""
    return ResourceResponse(_changed(request, service.recount(tx, request.id, request.body)))


@routes.write(
    "POST",
    "/counts/{id}/post",
    "Post a count",
    _WRITE,
    errors=("conflict", "stale_state", "approval_required"),
    description="Adjusts the stock by the difference of each line. A line that contradicts what has"
    " moved since it was counted is set to `recount`, and the count is `counting` again."
    " `conflict` names lines that the stock does not allow, such as those of allocated goods; the"
    " others are posted, and the count can be posted again. A difference of more units than"
    " `approval_adjustment_qty` needs one approval for the whole count. A repeat continues where"
    " the request ended.",
)
def post_count(tx: Transaction, request: Request) -> ResourceResponse:
    """Adjust the stock by the differences of a count."""
    count = service.post_count(tx, request.id, lambda row: holders_of(tx.store, row))
    return ResourceResponse(_changed(request, count))


@routes.write(
    "POST",
    "/counts/{id}/cancel",
    "Cancel a count",
    _WRITE,
    description="Its stock can be in another count.",
)
def cancel_count(tx: Transaction, request: Request) -> ResourceResponse:
    """Cancel a count that is not posted."""
    return ResourceResponse(_changed(request, service.cancel_count(tx, request.id)))
