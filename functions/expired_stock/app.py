"""Once an hour: block expired goods, and add pending changes of dead requests to levels.

Goods are blocked for each company that has a new day in its time zone. Companies take turns in
random order, each with credentials of its own. The first turn is short, so that a large company
does not delay the others. If a company fails, the others go on and the run raises at its end:
Lambda counts an error, which `ExpiredStockAlarm` watches, and repeats the run. What is not
completed stays due, also for the run of the next hour.
"""

import random
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import active_tenants, directory
from shared.identity.tenancy.expiry_days import expiry_day, save_expiry_day
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.clock import Deadline
from shared.kernel.db.store import Store
from shared.kernel.errors import TableReplaced, UnservedTable
from shared.kernel.observability import bind, flush, log_consumed, logger
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.expired_goods import STEP_SECONDS, block_expired, can_block
from shared.warehouse.stock.level_settling import settle_left

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_TURN_MS = 60_000
"""Time limit of one turn of a company."""
_FIRST_TURN_MS = 15_000
"""Time limit of its first turn in a run."""
_RESERVE_MS = 15_000
"""Part of the invocation's time that turns leave, to end and to raise events."""


class ExpiredStockLeft(Exception):
    """The work for some companies is not done yet."""


class TableNotUpgraded(Exception):
    """The table of a company lacks the index by expiry date: run `stowage tenant upgrade`."""


class ProductsFailed(Exception):
    """The goods of some products could not be blocked; those of the others are."""


class LevelsFailed(Exception):
    """What some requests have left could not be added to the levels."""


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> None:
    """Block the expired goods of all companies that are due, and complete their levels.

    Raises:
        ExpiredStockLeft: Some companies failed or are not completed.
    """
    del event
    bind(request_id=context.aws_request_id)
    deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
    slugs = list(active_tenants())
    random.shuffle(slugs)
    waiting, failed, started = deque(slugs), list[str](), set[str]()
    while waiting and deadline.remaining > STEP_SECONDS:
        slug = waiting.popleft()
        turn_ms = _TURN_MS if slug in started else _FIRST_TURN_MS
        started.add(slug)
        try:
            completed = _take_turn(slug, min(turn_ms, deadline.remaining * 1000))
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


def _take_turn(slug: str, turn_ms: float) -> bool:
    """Do the work for one company; return whether it is completed.

    Raises:
        TableNotUpgraded: The table of the company is not upgraded yet.
        ProductsFailed: The goods of some products could not be blocked.
        LevelsFailed: What some requests have left could not be added to the levels.
    """
    tenant = directory.tenant(slug, max_age=0)
    if tenant is None or tenant.state != "active":
        return True
    try:
        store = store_for(tenant, Deadline(turn_ms))
    except (TableReplaced, UnservedTable):
        return True  # not now: it stays due; other alarms report it
    left = settle_left(store)
    if left.settled:
        logger.info("levels completed", tenant=slug, transactions=left.settled)
    is_blocked = not _is_due(tenant) or _block(tenant, store)
    if left.failed:
        raise LevelsFailed(f"transactions {', '.join(left.failed)}")
    return is_blocked and left.is_completed


def _is_due(tenant: Tenant) -> bool:
    blocks = settings_of(tenant.company).expired_stock == "block"
    return blocks and expiry_day(tenant) < tenant.company.today


def _block(tenant: Tenant, store: Store) -> bool:
    """Block expired goods of a company that is due; return whether its day is completed."""
    if not can_block(store):
        raise TableNotUpgraded("the table is not upgraded: stowage tenant upgrade")
    today = tenant.company.today
    blocked = block_expired(store, today)
    failed = sorted(blocked.failed_products)
    completed = blocked.is_completed and not failed
    if completed:
        save_expiry_day(tenant, today)
    logger.info(
        "expired stock",
        tenant=tenant.slug,
        day=today,
        movements=blocked.movements,
        completed=completed,
    )
    if blocked.is_completed and failed:
        raise ProductsFailed(f"products {', '.join(map(str, failed))}")
    return completed
