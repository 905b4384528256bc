"""Refused receipts and lines: the messages are precise, and nothing changes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from tests.clock import Clock
from tests.gateway import Erp, Response
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack

BRICKS = {"item_code": "BRICK", "qty": 1}


def _assert_refused_field(answer: Response, fields: str) -> None:
    assert answer.invalid_fields == fields.split(), answer.text
    assert answer.json()["error"]["field"] == fields.split(maxsplit=1)[0]


CEMENT = {"item_code": "CEMENT", "batch": "L1"}
DRILLS = {"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"]}
WRONG: Mapping[str, tuple[Mapping[str, object], str]] = {
    "no item": ({"item_code": None}, "item_code"),
    "an unknown item": ({"item_code": "NONE"}, "item_code"),
    "an item that was not ordered": ({"item_code": "TILE"}, "item_code"),
    "no batch": ({"item_code": "CEMENT"}, "batch"),
    "an empty batch": ({**CEMENT, "batch": " "}, "batch"),
    "a batch of what has none": ({"batch": "L1"}, "batch"),
    "no serials": ({"item_code": "DRILL"}, "serials"),
    "serials of what has none": ({"serials": ["S-1"]}, "serials"),
    "too few serials": ({**DRILLS, "qty": 3}, "serials"),
    "too many serials": ({**DRILLS, "qty": 1}, "serials"),
    "half a serial": ({**DRILLS, "qty": 1.5, "serials": None}, "qty serials"),
    "a serial twice": ({**DRILLS, "serials": ["S-1", " S-1"]}, "serials.1"),
    "a serial in stock": ({**DRILLS, "serials": ["S-1", "S-0"]}, "serials.1"),
    "a serial in stock elsewhere": ({**DRILLS, "serials": ["S-9", "S-1"]}, "serials.0"),
    "a position that is not there": ({"bin_code": "NONE"}, "bin_code"),
    "a position of another warehouse": ({"bin_code": "S-01"}, "bin_code"),
    "a disabled position": ({"bin_code": "D-01"}, "bin_code"),
    "a blocked position": ({"bin_code": "X-01"}, "bin_code"),
    "an expiry that has passed": ({**CEMENT, "expiry_date": "2020-12-31"}, "expiry_date"),
    "no date": ({**CEMENT, "expiry_date": "2030-02-30"}, "expiry_date"),
    "another expiry of the batch": (
        {"item_code": "CEMENT", "batch": "L0", "expiry_date": "2040-01-02"},
        "expiry_date",
    ),
    "a status that work gives": ({"inventory_status": "staged"}, "inventory_status"),
    "an approval that is not a boolean": ({"approve": "yes"}, "approve"),
}


def test_refused_line_changes_nothing(receiving_scenario: ReceivingScenario, stack: Stack) -> None:
    receiving_scenario.erp.post("/products", {"item_code": "TILE", "name": "Tile"})
    receiving_scenario.erp.post("/warehouse-positions", {"whs_code": "SHOP", "bin_code": "S-01"})
    receiving_scenario.yard.stock("DRILL", 1, serial="S-0", bin_code="B-01")
    receiving_scenario.yard.stock("DRILL", 1, warehouse="SHOP", serial="S-9")
    receiving_scenario.yard.stock("CEMENT", 1, batch="L0", expiry_date="2040-01-01")
    items = ("BRICK", "CEMENT", "DRILL")
    number = receiving_scenario.started(
        receiving_scenario.order(*({"item_code": item, "qty": 100} for item in items))
    )

    with stack.unchanged():
        for case, (body, fields) in WRONG.items():
            answer = receiving_scenario.erp.post(f"/receipts/{number}/lines", {**BRICKS, **body})
            assert answer.status == 422, case
            _assert_refused_field(answer, fields)


def test_too_many_serials_are_refused_with_advice(
    receiving_scenario: ReceivingScenario, stack: Stack
) -> None:
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "DRILL", "qty": 26}))

    with stack.unchanged():
        answer = receiving_scenario.receive(
            number, 21, item_code="DRILL", serials=[f"S-{each}" for each in range(21)]
        )

    _assert_refused_field(answer, "serials")
    assert "at most 20" in answer.json()["message"]
    assert "further requests" in answer.json()["message"]


def test_expiry_is_checked_in_the_time_zone_of_the_company(
    receiving_scenario: ReceivingScenario, stack: Stack, clock: Clock
) -> None:
    now = datetime.fromtimestamp(clock.time(), UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    clock.advance((midnight - now).total_seconds() + 3600)
    today, yesterday = midnight.date(), midnight.date() - timedelta(days=1)
    token = Erp(stack.gateway, stack.token())
    number = receiving_scenario.started(receiving_scenario.order({"item_code": "CEMENT", "qty": 5}))

    def receive(day: object) -> Response:
        return receiving_scenario.receive(
            number, 1, by=token, item_code="CEMENT", batch=f"L{day}", expiry_date=str(day)
        )

    assert receive(today).status == 200
    refused = receive(yesterday)
    assert (refused.status, refused.json()["error"]["field"]) == (422, "expiry_date")
    assert f"today is {today}" in refused.json()["message"]


# Statuses
