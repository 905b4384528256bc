"""A chain that opens and closes shops for years: ids of warehouses rise without an end."""

import pytest

from shared.kernel.db.items import from_attributes
from shared.kernel.db.sequences import allocate_ids
from tests.gateway import Erp
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_SHOPS = range(2_991, 3_011)
"""Ids of the open shops; the company has had 2 990 other warehouses before."""
_CODES = [f"S{number}" for number in _SHOPS]
_LARGEST_JSON_INTEGER = 2**53 - 1


def _open_shop(erp: Erp, code: str) -> int:
    shop = erp.post("/warehouses", {"whs_code": code, "name": code}).id
    position = {"whs_code": code, "bin_code": "A-01", "type": "storage"}
    assert erp.post("/warehouse-positions", position).status == 201
    return shop


def _receive(erp: Erp, item_code: str, whs_code: str, qty: int, batch: str | None = None) -> None:
    WarehouseScenario(erp).stock(item_code, qty, warehouse=whs_code, batch=batch)


@pytest.fixture
def chain(erp: Erp, stack: Stack) -> Erp:
    """A company with 20 shops, the last of which have ids above 3 000."""
    WarehouseScenario.create_goods(erp, warehouses=())
    allocate_ids(stack.store(), "warehouse", _SHOPS[0] - 1)
    assert [_open_shop(erp, code) for code in _CODES] == list(_SHOPS)
    return erp


def test_each_of_three_thousand_warehouses_has_its_own_level(chain: Erp, stack: Stack) -> None:
    for code in _CODES:
        _receive(chain, "BRICK", code, 3)

    for query in ("sort=item_code", "sort=updated_at", "product_id=1"):
        levels = chain.walk("/stock-levels", per_page=7, **dict([query.split("=")]))
        assert [level["whs_code"] for level in levels] == _CODES
    for code in (_CODES[0], _CODES[-1]):
        [row] = chain.walk("/stocks", warehouse=code)
        assert row["position"]["whs_code"] == code
        [level] = chain.walk("/stock-levels", warehouse=code)
        assert level["on_hand"] == 3
    [total] = chain.walk("/stock-levels", totals="true")
    assert total["on_hand"] == 3 * len(_CODES)
    assert_invariants(stack.store())


def test_levels_whose_ids_were_packed_alike_stay_apart(erp: Erp, stack: Stack) -> None:
    WarehouseScenario.create_goods(erp, warehouses=())
    assert _open_shop(erp, "FIRST") == 1
    allocate_ids(stack.store(), "warehouse", 999)
    assert _open_shop(erp, "LATE") == 1_001
    # With three digits for the warehouse, 1 x 1 000 + 1 001 = 2 x 1 000 + 1.
    _receive(erp, "BRICK", "LATE", 3)
    _receive(erp, "CEMENT", "FIRST", 4, batch="LOT-1")

    levels = {(one["item_code"], one["whs_code"]): one for one in erp.walk("/stock-levels")}

    assert levels["BRICK", "LATE"]["on_hand"] == 3
    assert levels["CEMENT", "FIRST"]["on_hand"] == 4
    assert_invariants(stack.store())


def test_events_name_each_level_by_an_id_that_json_can_hold(chain: Erp, stack: Stack) -> None:
    for qty in (3, 2):
        for code in (_CODES[0], _CODES[-1]):
            _receive(chain, "BRICK", code, qty)

    events = [from_attributes(one) for one in stack.events()]
    events = [one for one in events if one["type"] == "stock.updated"]

    ids = [one["id"] for one in events]
    assert len(set(ids)) == 2
    assert ids[:2] == ids[2:]
    assert all(0 < number <= _LARGEST_JSON_INTEGER for number in ids)
    assert [one["version"] for one in events] == [1, 1, 2, 2]
