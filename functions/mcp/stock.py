"""Tools of products, stock and approvals."""

from decimal import Decimal

from pydantic import Field

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
from shared.kernel.errors import Conflict
from shared.kernel.fields import Code, Identifier, Measure, Reason
from shared.kernel.list_parameters import Text
from shared.warehouse.stock.models import ShelfStatus

tools = Tools()

_MOVEMENTS = 100
"""Movements of each direction that an explanation reads."""
_MOST_PAGES = 10
"""Pages of 100 stock rows, such as serials, that an explanation reads."""


class ProductSearch(Paged):
    """Which products to list."""

    search: Text | None = Field(default=None, description="Words of the code or the name.")
    item_code: Text | None = Field(default=None, description="The exact code.")
    barcode: Text | None = None


class ProductChoice(Paged):
    """A product, in one warehouse or in all."""

    item_code: Code
    warehouse: Code | None = Field(default=None, description="Code of one warehouse.")


class StockCorrection(Write):
    """The counted quantity of stock at a position."""

    item_code: Code
    warehouse: Code
    bin_code: Code
    batch: Code | None = None
    serial: Code | None = None
    inventory_status: ShelfStatus | None = Field(default=None, description="Default available.")
    expected_qty: Measure = Field(
        description="Quantity that get_stock shows there now; otherwise the call is refused."
    )
    counted_qty: Measure = Field(description="The quantity that is really there.")
    reason: Reason = Field(description="Why, for the people who read the ledger.")


class UnexpectedStock(Arguments):
    """A quantity at a position that somebody did not expect."""

    item_code: Code
    warehouse: Code
    bin_code: Code
    batch: Code | None = None
    believed_qty: Measure | None = Field(
        default=None, description="The quantity that somebody expected there."
    )


class ApprovalChoice(Arguments):
    """An approval."""

    approval_id: Identifier


@tools.add(
    "Find products",
    "Find products by words of code or name, by exact code or by barcode.",
    "GET /products",
)
def find_products(interface: Interface, args: ProductSearch) -> Data:
    """Return a page of products."""
    query = {**args.model_dump(exclude_none=True), "per_page": PER_PAGE}
    names = "id item_code name barcode type sales_unit man_btch_num man_ser_num"
    return listed(interface.get("/products", query), names, "products")


@tools.add(
    "Stock of a product",
    "Show the stock of a product: sums per warehouse (`sellable` is what can still be sold) and"
    " where it lies, by position, batch, serial and inventory status.",
    "GET /stock-levels",
    "GET /stocks",
)
def get_stock(interface: Interface, args: ProductChoice) -> Data:
    """Return the levels and a page of the stock rows of a product."""
    place = {"item_code": args.item_code, "warehouse": args.warehouse, "per_page": PER_PAGE}
    levels = interface.get("/stock-levels", place)
    rows = interface.get("/stocks", {**place, "status": "in", "page": args.page})
    sums = "whs_code on_hand allocated available committed held sellable incoming in_transit"
    shown = listed(rows, "whs_code qty inventory_status batch_num serial_number expiry_date")
    for row, stored in zip(shown["rows"], rows["data"], strict=True):
        row["bin_code"] = (stored["position"] or {}).get("bin_code")
    return {"levels": [pick(level, sums) for level in levels["data"]], **shown}


@tools.add(
    "Adjust stock",
    "Set the stock of a product at a position to a counted quantity. Refused if the stock is no"
    " longer expected_qty: read it again and count again. Large adjustments may need an approval.",
    "POST /stock-adjustments",
)
def adjust_stock(interface: Interface, args: StockCorrection) -> Data:
    """Adjust stock to a counted quantity."""
    answer = interface.post("/stock-adjustments", args.body(), args.idempotency_key)
    names = "movement_id item_code whs_code bin_code batch_num serial_number qty_before qty_after"
    return {**pick(answer["data"], names), **pick(answer, "replayed")}


@tools.add(
    "Explain a stock difference",
    "Explain why a position has another quantity than expected: the present quantity, the latest"
    " movements that changed it with the quantity after each, who or what caused them, and, with"
    " believed_qty, until when it was true.",
    "GET /stocks",
    "GET /stock-movements",
)
def explain_stock_difference(interface: Interface, args: UnexpectedStock) -> Data:
    """Return the ledger of a position, calculated back from its present stock."""
    place = args.model_dump(exclude_none=True, exclude={"believed_qty", "bin_code"})
    quantity = _quantity(interface, {**place, "bin_code": args.bin_code})
    moves, is_complete = _movements(interface, place, args.bin_code)
    shown: list[Data] = []
    until, after = None, quantity
    for move in moves:
        gain = _gain(move, args.warehouse, args.bin_code)
        if until is None and args.believed_qty == after:
            until = "now" if not shown else shown[-1]["at"]
        cause = move["document"]
        names = "id type reason batch_num serial_number user_id client_id"
        shown.append({
            "at": move["created_at"],
            "change": gain,
            "qty_after": after,
            **pick(move, names),
            **({"document": f"{cause['type']} {cause['id']}"} if cause else {}),
        })  # fmt: skip
        after -= gain
    if until is None and args.believed_qty == after and shown:
        until = shown[-1]["at"]
    told = {} if args.believed_qty is None else {"believed_qty_was_true_until": until}
    return {
        "qty_now": quantity,
        **told,
        "movements": shown[:PER_PAGE],
        "older_movements": not is_complete or len(shown) > PER_PAGE,
    }


@tools.add(
    "Show an approval",
    "Show whether a person has granted or denied an approval. Once it is granted, repeat the same"
    " call with the same arguments.",
    "GET /approvals/{id}",
)
def get_approval(interface: Interface, args: ApprovalChoice) -> Data:
    """Return an approval."""
    approval = interface.get("/approvals/{id}", id=args.approval_id)["data"]
    return pick(approval, "id status code message comment decided_at expires_at")


def _quantity(interface: Interface, place: Data) -> Decimal:
    """Return the quantity of all stock rows at a position."""
    query = {**place, "status": "in", "per_page": 100}
    total = Decimal(0)
    for page in range(1, _MOST_PAGES + 1):
        answer = interface.get("/stocks", {**query, "page": page})
        total += sum(Decimal(str(row["qty"])) for row in answer["data"])
        if page >= answer["meta"]["last_page"]:
            return total
    raise Conflict(f"The position has more than {_MOST_PAGES * 100} stock rows; name a batch.")


def _movements(interface: Interface, place: Data, bin_code: str) -> tuple[list[Data], bool]:
    """Return the movements at a position, the latest first, and whether these are all.

    Those that leave and those that arrive are two lists; both are known from the same moment on.
    """
    found: dict[int, Data] = {}
    known_from = ""
    for direction in ("from_bin", "to_bin"):
        query = {**place, direction: bin_code, "per_page": _MOVEMENTS}
        answer = interface.get("/stock-movements", query)
        found |= {move["id"]: move for move in answer["data"]}
        if answer["meta"]["last_page"] > 1:
            known_from = max(known_from, answer["data"][-1]["created_at"])
    latest = sorted(found.values(), key=lambda move: (move["created_at"], move["id"]), reverse=True)
    return [move for move in latest if move["created_at"] > known_from], not known_from


def _gain(move: Data, whs_code: str, bin_code: str) -> Decimal:
    """Return by how much a movement changed the quantity at a position."""
    qty, gain = Decimal(str(move["qty"])), Decimal(0)
    for end, sign in (("to", 1), ("from", -1)):
        place = move[end]
        if place and (place["whs_code"], place["bin_code"]) == (whs_code, bin_code):
            gain += sign * qty
    return gain
