"""Lists of transfer orders."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from operations.provisioning import create_tenant
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.tenant import MODULES
from tests.clock import Clock
from tests.gateway import Erp
from tests.stack import ADDRESS, Stack

type Write = Callable[..., dict[str, Any]]

PATH = "/transfer-orders"


@pytest.fixture
def many(three_warehouses: Erp, order: Write, clock: Clock) -> Erp:
    """Eight orders, a second apart: every second one released, every third one to Cork."""
    for number in range(8):
        clock.advance(1)
        body = order(
            f"MOVE-{number}",
            from_warehouse="DUB" if number == 4 else "CEN",
            to_warehouse="CORK" if number % 3 == 0 else "DUB" if number != 4 else "CEN",
            release=number % 2 == 1,
            picker_id=7,
        )
        assert three_warehouses.post(PATH, body).status == 201
    return three_warehouses


def test_lists_filter_by_every_parameter(many: Erp) -> None:
    def numbers(**query: object) -> list[int]:
        rows = many.walk(PATH, per_page=2, sort="created_at", **query)
        counted = many.get(PATH, query={**query, "per_page": 2}).json()["meta"]["total"]
        assert counted == len(rows)
        return [int(row["external_ref"].removeprefix("MOVE-")) for row in rows]

    assert numbers() == list(range(8))
    assert numbers(status="released") == [1, 3, 5, 7]
    assert numbers(status="cancelled") == []
    assert numbers(from_warehouse="DUB") == [4]
    assert numbers(to_warehouse="CORK") == [0, 3, 6]
    assert numbers(to_warehouse="CORK", status="draft") == [0, 6]
    assert numbers(external_ref="MOVE-5") == [5]
    since = many.walk(PATH, sort="updated_at")[5]
    shown = many.get(f"{PATH}/{since['id']}").data
    assert shown["external_ref"] == "MOVE-5"


def test_newest_orders_come_first_and_without_lines(many: Erp) -> None:
    rows = many.walk(PATH, per_page=3)

    assert [row["external_ref"] for row in rows] == [f"MOVE-{n}" for n in reversed(range(8))]
    assert all(row["lines"] is None and row["lines_count"] == 1 for row in rows)
    assert many.walk(PATH, sort="-updated_at") == rows
    assert many.walk(PATH, sort="updated_at") == rows[::-1]


def test_updated_since_includes_the_instant_itself(
    three_warehouses: Erp, order: Write, clock: Clock, stack: Stack
) -> None:
    moments = []
    for number in range(4):
        clock.advance(1)
        three_warehouses.post(PATH, order(f"MOVE-{number}"))
        moments.append(stack.events()[-1]["created_at"]["S"])

    found = three_warehouses.walk(PATH, updated_since=moments[2], sort="updated_at")

    assert [row["external_ref"] for row in found] == ["MOVE-2", "MOVE-3"]


def test_days_are_in_the_time_zone_of_the_company(stack: Stack, clock: Clock, order: Write) -> None:
    settings = NewTenant(
        "auckland",
        plan="enterprise",
        base_url=ADDRESS,
        modules=MODULES,
        timezone="Pacific/Auckland",
    )
    create_tenant(settings)
    erp = stack.erp("auckland")
    # In the time zone of the company (UTC+12 in winter), this is 00:30 of the next day.
    clock.freeze()
    night = datetime.fromisoformat("2027-07-01T12:30:00+00:00").timestamp()
    clock.advance(night - clock.time())
    for code in ("CEN", "DUB"):
        erp.post("/warehouses", {"whs_code": code, "name": code})
    erp.post("/products", {"item_code": "BRICK", "name": "Brick"})
    assert erp.post(PATH, order()).status == 201

    def total(**query: str) -> int:
        found: int = erp.get(PATH, query=query).json()["meta"]["total"]
        return found

    assert total(**{"from": "2027-07-02", "to": "2027-07-02"}) == 1
    assert total(**{"from": "2027-07-02"}) == total(to="02/07/2027") == 1
    assert total(to="2027-07-01") == total(**{"from": "2027-07-03"}) == 0
    assert total(**{"from": "0001-01-01", "to": "9999-12-31", "status": "draft"}) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "open"}, "status"),
        ({"sort": "priority"}, "sort"),
        ({"from": "yesterday"}, "from"),
        ({"to": "2026-02-30"}, "to"),
        ({"from": "2026-02-02", "to": "2026-02-01"}, "to"),
        ({"from_warehouse": ""}, "from_warehouse"),
    ],
)
def test_invalid_parameter_is_named(erp: Erp, query: dict[str, str], field: str) -> None:
    answer = erp.get(PATH, query=query)
    assert (answer.status, answer.json()["error"]["field"]) == (422, field)
