"""The hourly run that blocks expired goods, in process."""

from datetime import UTC, datetime
from typing import Any

from shared.identity.tenancy.expiry_days import EXPIRY_DAY
from tests import gateway
from tests.clock import Clock
from tests.gateway import LambdaContext
from tests.stack import Stack, set_attributes
from tests.warehouse_scenario import WarehouseScenario

RUN = "functions.expired_stock.app.lambda_handler"
RUN_MS = 900_000
"""The timeout of the function."""


def run_expired_stock(remaining_ms: int = RUN_MS) -> None:
    """Invoke the function, as its schedule does."""
    gateway._function(RUN)({}, LambdaContext(remaining_ms))


def set_time(clock: Clock, moment: str) -> None:
    """Freeze the clock at an instant of UTC, which must be in the future."""
    clock.freeze()
    clock.advance(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() - clock.time())


def completed_day(stack: Stack, slug: str = "acme") -> str | None:
    """Return the day of a company whose expired goods are blocked."""
    item = stack.tenant(slug).item
    return item[EXPIRY_DAY]["S"] if EXPIRY_DAY in item else None


def set_timezone(name: str, slug: str = "acme") -> None:
    set_attributes(slug, timezone={"S": name})


def goods(yard: WarehouseScenario) -> list[tuple[str, str, str, float]]:
    """Return code, batch or serial, status and quantity of the stock, sorted."""
    return sorted(
        (
            row["item_code"], row["batch_num"] or row["serial_number"] or "",
            row["inventory_status"], row["qty"],
        )
        for row in yard.erp.walk("/stocks", status="in")
    )  # fmt: skip


def moved(yard: WarehouseScenario) -> list[dict[str, Any]]:
    """Return the movements of the run, oldest first."""
    found = yard.erp.walk("/stock-movements", type="status_change", sort="created_at")
    return [one for one in found if one["reason"] == "expired"]
