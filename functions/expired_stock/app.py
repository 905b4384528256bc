"""Block expired goods: once an hour, for each company whose day has begun.

Each company is worked for with credentials of its own, in turns, so that a large one does not delay
the others. A failure of one does not stop the others: the run raises at its end, so that Lambda
counts an error, which `ExpiredStockAlarm` watches, and repeats it. A company that is not completed
stays due, also for the run of the next hour.
"""

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.expiry_days import due_tenants, expiry_day, save_expiry_day
from shared.kernel.clock import Deadline
from shared.kernel.errors import TableReplaced, UnservedTable
from shared.kernel.observability import bind, flush, log_consumed, logger
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.expired_goods import block_expired, can_block

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_TURN_MS = 60_000
"""Time limit of one turn of a company."""
_RESERVE_MS = 15_000
"""Part of the invocation's time in which no turn begins."""


class ExpiredStockLeft(Exception):
    """Expired goods of some companies are not blocked yet."""


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> None:
    """Block the expired goods of all companies that are due.

    Raises:
        ExpiredStockLeft: Some companies failed or are not completed.
    """
    del event
    bind(request_id=context.aws_request_id)
    deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
    waiting, failed = deque(due_tenants()), list[str]()
    while waiting and deadline.remaining > 0:
        slug = waiting.popleft()
        try:
            completed = _take_turn(slug)
        except Exception:  # noqa: BLE001 - the others go on
            logger.exception("expired stock failed", tenant=slug)
            failed.append(slug)
        else:
            if not completed:
                waiting.append(slug)
    log_consumed()
    flush()
    if left := [*failed, *waiting]:
        raise ExpiredStockLeft(f"{len(failed)} failed, {len(waiting)} wait: {', '.join(left)}")


def _take_turn(slug: str) -> bool:
    """Block expired goods of one company; return whether its day is completed or not due."""
    tenant = directory.tenant(slug, max_age=0)
    if tenant is None or tenant.state != "active":
        return True
    today = tenant.company.today
    if settings_of(tenant.company).expired_stock != "block" or expiry_day(tenant) >= today:
        return True
    try:
        store = store_for(tenant, Deadline(_TURN_MS))
    except (TableReplaced, UnservedTable):
        return True  # not now: it stays due; other alarms report it
    if not can_block(store):
        return True  # until its upgrade is completed
    moved, completed = block_expired(store, today)
    if completed:
        save_expiry_day(tenant, today)
    logger.info("expired stock", tenant=slug, day=today, movements=moved, completed=completed)
    return completed
