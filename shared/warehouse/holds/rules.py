"""Decisions about holds on plain data."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from shared.kernel.clock import Instant, instant, milliseconds_of
from shared.kernel.differences import differing_fields, differing_lines
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, given_fields
from shared.warehouse.catalog.lines import (
    GoodsLine,
    LineProblems,
    examine_lines,
    numbered,
    repeated_references,
)
from shared.warehouse.catalog.models import KnownProduct, UnitGoods
from shared.warehouse.holds.models import (
    MAX_DAYS,
    MAX_SECONDS,
    HoldDraft,
    HoldExpiry,
    HoldStatus,
    StoredHold,
    StoredHoldLine,
    hold_code,
)
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.stock.level_book import TakenMore
from shared.warehouse.stock.models import LevelPlace

_EXPIRY_FIELDS = ("expires_at", "ttl_seconds")


def status_at(hold: StoredHold, now_ms: int) -> HoldStatus:
    """Return the status of a hold at a moment."""
    if hold.stage == "active" and milliseconds_of(hold.expires_at) <= now_ms:
        return "expired"
    return hold.stage


def first_unexpired(now_ms: int) -> Instant:
    """Return the earliest `expires_at` of a hold that has not expired."""
    return instant(now_ms + 1)


def last_expired(now_ms: int) -> Instant:
    """Return the latest `expires_at` of a hold that has expired."""
    return instant(now_ms)


def examine(draft: Checked[HoldDraft], known: MasterData, now_ms: int) -> LineProblems:
    """Return the problems of a hold that field validation does not find."""
    found = examine_lines(
        (
            GoodsLine(path, line.item_code, line.qty, {}, ("serials", None))
            for path, line in numbered(draft.lines)
        ),
        known.products,
    )
    invalid = [
        *known.warehouse_problems("warehouse_code", draft.warehouse_code),
        *expiry_problems(draft, now_ms),
        *found.invalid,
        *repeated_references(numbered(draft.lines)),
    ]
    return LineProblems(invalid, found.blocked)


def taken(draft: Checked[HoldDraft], known: MasterData) -> Iterator[TakenMore]:
    """Yield what the valid lines of a hold take of what can be sold."""
    warehouse = known.warehouses.get(draft.warehouse_code or "")
    for path, line in numbered(draft.lines) if warehouse else ():
        product = known.products.get(line.item_code or "")
        if warehouse and product and product.in_stock and line.qty:
            place = LevelPlace(product.id, warehouse.id, product.item_code, warehouse.whs_code)
            yield place, line.qty, f"{path}.qty"


def expiry_problems(body: Checked[HoldExpiry], now_ms: int) -> Iterator[Problem]:
    """Yield the problems of the moment until which goods are to be held."""
    given = given_fields(body, _EXPIRY_FIELDS)
    if len(given) != 1:
        message = f"give exactly one of {' and '.join(_EXPIRY_FIELDS)}"
        yield from (Problem(name, message) for name in given or _EXPIRY_FIELDS[:1])
    if body.expires_at is None:
        return
    now, latest = instant(now_ms), instant(now_ms + MAX_SECONDS * 1000)
    if body.expires_at <= now:
        yield Problem("expires_at", f"must be in the future; it is {now} now")
    elif body.expires_at > latest:
        yield Problem("expires_at", f"must be at most {MAX_DAYS} days ahead, {latest}")


def expiry_of(body: HoldExpiry, now_ms: int) -> Instant:
    """Return when a hold expires."""
    return body.expires_at or instant(now_ms + (body.ttl_seconds or 0) * 1000)


def new_hold(number: int, draft: HoldDraft, known: MasterData, now_ms: int) -> StoredHold:
    """Return the hold that a draft describes."""
    now, warehouse = instant(now_ms), known.warehouses[draft.warehouse_code]
    return StoredHold(
        id=number,
        stage="active",
        external_ref=draft.external_ref,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        partner_code=draft.partner_code,
        lines=[
            StoredHoldLine(
                product_id=known.products[line.item_code].id,
                item_code=line.item_code,
                qty=line.qty,
                unit=line.unit,
                unit_qty=line.unit_qty,
                external_ref=line.external_ref,
            )
            for line in draft.lines
        ],
        expires_at=expiry_of(draft, now_ms),
        created_at=now,
        updated_at=now,
    )


def differences(draft: HoldDraft, hold: StoredHold) -> list[str]:
    """Return the fields of a draft that differ from the hold with its reference.

    Quantities are compared as they were sent. When it expires is no difference: `ttl_seconds`
    counts from the request, and a hold may be extended.
    """
    names = {"warehouse_code": "whs_code"}
    without = {"external_ref", "lines", *_EXPIRY_FIELDS}
    return [
        *differing_fields(draft, hold, names, without=without),
        *differing_lines(draft.lines, hold.lines, {"qty": "sent_qty"}),
    ]


def use_problems(
    hold: StoredHold,
    lines: Iterable[tuple[str, Checked[UnitGoods]]],
    products: Mapping[str, KnownProduct],
) -> Iterator[Problem]:
    """Yield a problem of each line, with its path, of a product of which less is held.

    All lines of a product count together.
    """
    held: defaultdict[int, Decimal] = defaultdict(Decimal)
    for stored in hold.lines:
        held[stored.product_id] += stored.qty
    wanted: defaultdict[int, Decimal] = defaultdict(Decimal)
    found = [
        (path, product, line.qty)
        for path, line in lines
        if (product := products.get(line.item_code or "")) and line.qty is not None
    ]
    for _, product, qty in found:
        wanted[product.id] += qty
    for path, product, _ in found:
        total, most = wanted[product.id], held.get(product.id, ZERO)
        if total > most:
            amounts = f"{plain(total)} ordered, {plain(most)} held of {product.item_code}"
            yield Problem(f"{path}.qty", f"{amounts} by {hold_code(hold.id)}")
