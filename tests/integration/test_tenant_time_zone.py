"""The parameters `from` and `to` are days in the time zone of the tenant."""

from collections.abc import Sequence

import pytest

from operations.provisioning import create_tenant
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.tenant import MODULES
from tests.integration.entity_factories import PLANTED
from tests.stack import ADDRESS, Stack

_BORDERS = [
    ("Pacific/Auckland", "2027-07-02", ["07-01T11:59:59.999Z", "07-01T12:00:00.000Z",
                                        "07-02T11:59:59.999Z", "07-02T12:00:00.000Z"]),
    ("America/Caracas", "2027-07-02", ["07-02T03:59:59.999Z", "07-02T04:00:00.000Z",
                                       "07-03T03:59:59.999Z", "07-03T04:00:00.000Z"]),
    # The clocks go forward: a day of 23 hours.
    ("Europe/Madrid", "2027-03-28", ["03-27T22:59:59.999Z", "03-27T23:00:00.000Z",
                                     "03-28T21:59:59.999Z", "03-28T22:00:00.000Z"]),
]  # fmt: skip
"""Time zone, a day in it, and the milliseconds around the start and the end of the day."""


@pytest.mark.parametrize(("timezone", "day", "moments"), _BORDERS)
@pytest.mark.parametrize("path", ["/receipts", "/pickings", "/transfers", "/waves"])
def test_day_lasts_from_midnight_to_midnight_in_the_tenants_time_zone(
    stack: Stack, path: str, timezone: str, day: str, moments: Sequence[str]
) -> None:
    create_tenant(
        NewTenant("yonder", plan="enterprise", base_url=ADDRESS, modules=MODULES, timezone=timezone)
    )
    erp, plant = stack.erp("yonder"), PLANTED[path]
    for moment in moments:
        plant(stack.store("yonder"), created_at=f"2027-{moment}")

    def found(**query: str) -> list[int]:
        return [row["id"] for row in erp.walk(path, **query, sort="created_at")]

    assert found(**{"from": day, "to": day}) == [2, 3]
    assert found(**{"from": day}) == [2, 3, 4]
    assert found(to=day) == [1, 2, 3]
    assert found(**{"from": day, "to": day, "updated_since": "2020-01-01T00:00:00Z"}) == [2, 3]
