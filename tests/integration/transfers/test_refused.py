"""Refused transfers: all problems are reported, and nothing moves."""

from tests.integration.transfers.bodies import PATH, body
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

WRONG_LINES: list[tuple[dict[str, object], str]] = [
    ({"item_code": "NONE"}, "item_code"),
    ({"item_code": "HAULAGE"}, "item_code"),
    ({"item_code": 7}, "item_code"),
    ({"from_bin": "Z-99"}, "from_bin"),
    ({"to_bin": "Z-99"}, "to_bin"),
    ({"to_bin": "X-01"}, "to_bin"),
    ({"to_bin": "D-01"}, "to_bin"),
    ({"to_bin": "A-01"}, "to_bin"),
    ({"batch": "L1"}, "batch"),
    ({"serials": ["S1"]}, "serials"),
    ({"item_code": "CEMENT"}, "batch"),
    ({"item_code": "DRILL", "qty": 1}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1"]}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1", "S1"]}, "serials.1"),
    ({"item_code": "DRILL", "qty": 31, "serials": [f"S{n}" for n in range(31)]}, "serials"),
    ({"inventory_status": "staged"}, "inventory_status"),
]


def test_invalid_line_is_refused_and_moves_nothing(
    stocked_yard: WarehouseScenario, stack: Stack
) -> None:
    with stack.unchanged():
        for line, field in WRONG_LINES:
            found = stocked_yard.erp.post(PATH, body({}, line)).problems
            assert f"lines.1.{field}" in found, line
            assert all(name.startswith("lines.1.") for name in found), line
