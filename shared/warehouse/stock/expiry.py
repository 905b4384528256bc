"""The rule of expired goods: they enter the stock in quarantine, damaged or blocked."""

from collections.abc import Iterable

from shared.kernel.errors import Problem, ValidationFailed
from shared.warehouse.stock.models import InventoryStatus


def expiry_refusal(
    expiry_date: str | None, inventory_status: InventoryStatus, today: str
) -> str | None:
    """Return why goods may not enter the stock with an inventory status; None if they may.

    Goods can be used until the end of the day `expiry_date`. `today` is the day in the company's
    time zone. Stock that is available when it expires keeps its status.
    """
    if expiry_date is None or expiry_date >= today or inventory_status != "available":
        return None
    return (
        f"{expiry_date} has passed, today is {today}; expired goods enter the stock as quarantine,"
        " damaged or blocked, not as available"
    )


def ensure_not_expired(
    goods: Iterable[tuple[str, str | None, InventoryStatus]], today: str
) -> None:
    """Raise ValidationFailed when goods may not get their status; see `expiry_refusal`.

    `goods` are the field that asks for each, the expiry date, and the status.
    """
    problems: dict[str, Problem] = {}
    for field, expiry_date, status in goods:
        if refusal := expiry_refusal(expiry_date, status, today):
            problems.setdefault(field, Problem(field, refusal))
    if problems:
        raise ValidationFailed(list(problems.values()))
