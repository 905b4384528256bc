"""Tools of customer orders (exit documents) and purchase orders (entry documents)."""

from datetime import date, timedelta
from typing import Annotated

from pydantic import ConfigDict, Field

from functions.mcp.tool import (
    PER_PAGE,
    Arguments,
    Data,
    Interface,
    Paged,
    Tools,
    Write,
    listed,
    pick,
)
from shared.kernel.errors import Problem, ServiceError, ValidationFailed
from shared.kernel.fields import Code, Day, Identifier, Name, Note, Reference
from shared.kernel.list_parameters import Text
from shared.warehouse.catalog.models import UnitGoods
from shared.warehouse.documents.models import DocumentStatus
from shared.warehouse.documents.vocabulary import PriorityNumber
from shared.warehouse.receiving.models import MAX_SERIALS
from shared.warehouse.stock.models import ShelfStatus

tools = Tools()

_UNFINISHED = "open,assigned,partial-complete"
_ORDER = "id external_ref status card_code card_name doc_date due_date"
_LINE = "line_num item_code qty unit unit_qty open_qty status"
_WORK = "id status has_shortage started_at finalized_at"
MAX_LINES = 50
"""Lines of an order or a delivery in one call: an agent shows them to a person before."""


class OrderSearch(Paged):
    """Which orders to list."""

    search: Text | None = Field(
        default=None,
        description="Beginnings of words: of the order number, or of the code or name of the"
        " partner.",
    )
    status: DocumentStatus | None = None
    late: bool | None = Field(
        default=None,
        description="true: only orders that were due before today, and without `status` only"
        " unfinished ones.",
    )


class OrderChoice(Arguments):
    """An order."""

    order_id: Identifier = Field(description="The `id` of the order, not its number.")


class OrderLine(UnitGoods):
    """A line of a new order."""

    model_config = ConfigDict(extra="forbid")

    batch: Code | None = None


class PurchaseLine(OrderLine):
    """A line of a new purchase order."""

    destination_bin: Code | None = Field(default=None, description="Position to put the goods at.")


class _NewOrder(Write):
    external_ref: Reference = Field(description="Order number in the ERP; it is unique.")
    doc_date: Day
    due_date: Day | None = None
    partner_code: Code
    partner_name: Name | None = None
    warehouse_code: Code
    comments: Note | None = None


class NewCustomerOrder(_NewOrder):
    """A new customer order."""

    priority: PriorityNumber | None = Field(default=None, description="1 is high, 3 is low.")
    ship_to: Note | None = None
    lines: Annotated[list[OrderLine], Field(min_length=1, max_length=MAX_LINES)]


class NewPurchaseOrder(_NewOrder):
    """A new purchase order."""

    lines: Annotated[list[PurchaseLine], Field(min_length=1, max_length=MAX_LINES)]


class ArrivedLine(UnitGoods):
    """Goods that have arrived."""

    model_config = ConfigDict(extra="forbid")

    bin_code: Code | None = Field(
        default=None, description="Where the goods were put; default as in the order."
    )
    batch: Code | None = None
    expiry_date: Day | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    inventory_status: ShelfStatus | None = None


class ArrivedGoods(Write):
    """A delivery of goods of a purchase order."""

    order_id: Identifier = Field(description="The `id` of the purchase order, not its number.")
    lines: Annotated[list[ArrivedLine], Field(min_length=1, max_length=MAX_LINES)]


@tools.add(
    "Find customer orders",
    "List customer orders (goods that leave), newest first, and find out which are late. Answers"
    " with ids for get_customer_order.",
    "GET /exit-documents",
)
def find_customer_orders(interface: Interface, args: OrderSearch) -> Data:
    """Return a page of exit documents."""
    return listed(interface.get("/exit-documents", _filters(interface, args)), _ORDER, "orders")


@tools.add(
    "Customer order status",
    "Show one customer order: what of each line is open and picked, and its pickings.",
    "GET /exit-documents/{id}",
    "GET /pickings",
)
def get_customer_order(interface: Interface, args: OrderChoice) -> Data:
    """Return an exit document with its pickings."""
    order = interface.get("/exit-documents/{id}", id=args.order_id)["data"]
    works = interface.get("/pickings", {"document_id": args.order_id, "per_page": PER_PAGE})
    pickings = [pick(work, _WORK) for work in works["data"]]
    return {**_shown(order, "picked_qty"), "pickings": pickings}


@tools.add(
    "Find purchase orders",
    "List purchase orders (goods that arrive), newest first, and find out which are late. Answers"
    " with ids for get_purchase_order and receive_goods.",
    "GET /entry-documents",
)
def find_purchase_orders(interface: Interface, args: OrderSearch) -> Data:
    """Return a page of entry documents."""
    return listed(interface.get("/entry-documents", _filters(interface, args)), _ORDER, "orders")


@tools.add(
    "Purchase order status",
    "Show one purchase order: what of each line is open and received, its receipts, and serials or"
    " batches that differ from those announced.",
    "GET /entry-documents/{id}",
    "GET /receipts",
)
def get_purchase_order(interface: Interface, args: OrderChoice) -> Data:
    """Return an entry document with its receipts."""
    order = interface.get("/entry-documents/{id}", id=args.order_id)["data"]
    works = interface.get("/receipts", {"document_id": args.order_id, "per_page": PER_PAGE})
    receipts = [pick(work, _WORK) for work in works["data"]]
    return {
        **_shown(order, "received_qty"),
        "receipts": receipts,
        "differences": order["differences"][:PER_PAGE],
    }


@tools.add(
    "Create customer order",
    "Create a sales order. If one with this external_ref exists, that one is returned unchanged"
    " with `already_existed`, and `warning` names what differs.",
    "POST /exit-documents",
)
def create_customer_order(interface: Interface, args: NewCustomerOrder) -> Data:
    """Create an exit document."""
    body = {**args.body(), "type": "sale_order"}
    return _created(interface.post("/exit-documents", body, args.idempotency_key), "picked_qty")


@tools.add(
    "Create purchase order",
    "Announce a purchase order whose goods will arrive. If one with this external_ref exists, that"
    " one is returned unchanged with `already_existed`, and `warning` names what differs.",
    "POST /entry-documents",
)
def create_purchase_order(interface: Interface, args: NewPurchaseOrder) -> Data:
    """Create an entry document."""
    body = {**args.body(), "type": "purchase_order"}
    return _created(interface.post("/entry-documents", body, args.idempotency_key), "received_qty")


@tools.add(
    "Receive goods",
    "Record that goods of a purchase order have arrived and where they were put: creates a receipt,"
    " receives the lines and finalizes it. The goods are in stock at once. If lines are invalid,"
    " correct them and keep the idempotency_key: the receipt is still open. More than ordered needs"
    " an approval.",
    "POST /receipts",
    "POST /receipts/{id}/start",
    "POST /receipts/{id}/lines",
    "POST /receipts/{id}/finalize",
)
def receive_goods(interface: Interface, args: ArrivedGoods) -> Data:
    """Receive a delivery with a receipt of its own, in steps that a repeat continues.

    Each step has a key of its own. If the lines are refused, the receipt stays open for the repeat.
    """
    key = args.idempotency_key
    body = {"document_id": args.order_id, "concept": "Received by an agent"}
    try:
        number: int = interface.post("/receipts", body, f"{key}/receipt")["data"]["id"]
    except ValidationFailed as error:  # of the order: all else in the body is fixed
        raise ValidationFailed([Problem("order_id", error.problems[0].message)]) from error
    lines = args.model_dump(exclude_unset=True, include={"lines"})
    try:
        interface.post("/receipts/{id}/start", {}, f"{key}/start", id=number)
        received = interface.post("/receipts/{id}/lines", lines, f"{key}/lines", id=number)
        done = interface.post("/receipts/{id}/finalize", {}, f"{key}/finalize", id=number)
    except ServiceError as error:
        error.extra = {**error.extra, "receipt_id": number}
        raise
    shown = {
        "receipt_id": number,
        "status": done["data"]["status"],
        "lines": [
            pick(line, "item_code qty bin_code batch_num serials expiry_date")
            for line in done["data"]["lines"]
        ],
    }
    return {**shown, **pick(received, "unapplied replayed")}


def _filters(interface: Interface, args: OrderSearch) -> Data:
    """Return the parameters of a list of documents."""
    query = args.model_dump(exclude_none=True, exclude={"late"})
    query |= {"per_page": PER_PAGE}
    if args.late:
        yesterday = date.fromisoformat(interface.today) - timedelta(days=1)
        query |= {"due_to": yesterday.isoformat(), "status": args.status or _UNFINISHED}
    return query


def _shown(order: Data, done: str) -> Data:
    """Return an order with its lines; `done` is the quantity that is picked or received."""
    lines = order["lines"]
    shown = {
        **pick(order, f"{_ORDER} priority comments"),
        "lines": [pick(line, f"{_LINE} {done}") for line in lines[:MAX_LINES]],
    }
    return shown | ({"line_count": len(lines)} if len(lines) > MAX_LINES else {})


def _created(answer: Data, done: str) -> Data:
    """Return a created order, or the one that existed; without the right to read it, its id."""
    order = answer["data"]
    shown = _shown(order, done) if "lines" in order else {"id": order["id"]}
    existed = {} if answer["is_new"] else {"already_existed": True}
    return {**shown, **existed, **pick(answer, "warning replayed")}
