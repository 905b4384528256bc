"""Round trips and transactions of a large wave."""

from collections import Counter
from functools import partial

from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from tests.faults import AwsFaults, Recording
from tests.integration.entity_factories import PICKING
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_PRODUCTS = 10
_MAX_PICKINGS = 200


def _transactions(seen: Recording) -> int:
    return Counter(seen.operations)["TransactWriteItems"]


def test_transactions_of_a_wave_of_two_hundred_pickings(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    for number in range(_PRODUCTS):
        code = f"P-{number}"
        assert yard.erp.post("/products", {"item_code": code, "name": code}).status == 201
        yard.stock(code, 10_000)
    ids = list(range(1, _MAX_PICKINGS + 1))
    for at in range(0, _MAX_PICKINGS, 25):
        run_transaction(stack.store(), partial(_insert_pickings, numbers=ids[at : at + 25]))
    wave_scenario = WaveScenario(yard)

    with aws_faults.recorded() as seen:
        number = wave_scenario.wave(ids)
    # The first inserts the pending wave, three assign pickings, the last completes the wave.
    assert (_transactions(seen), seen.round_trips) == (5, 12)

    assert wave_scenario.act(number, "plan").status == 200
    with aws_faults.recorded() as seen:
        released = wave_scenario.act(number, "release").data
    # Five steps of at most 42 pickings of ten products, and the release itself.
    assert (_transactions(seen), seen.round_trips) == (6, 24)
    assert released["metrics"]["allocated_units"] == 3 * _MAX_PICKINGS
    assert released["metrics"]["short_units"] == 0


def _insert_pickings(tx: Transaction, numbers: list[int]) -> None:
    """Insert pickings of three units in two lines each."""
    products = {level: 5 + level for level in range(_PRODUCTS)}
    for number in numbers:
        lines = [
            {
                "document_id": number, "document_line": at + 1, "qty": qty, "picked_qty": 0,
                "product_id": products[(number + at) % _PRODUCTS], "status": "open",
                "item_code": f"P-{(number + at) % _PRODUCTS}",
            }
            for at, qty in enumerate((1, 2))
        ]  # fmt: skip
        times = {"created_at": tx.now, "updated_at": tx.now}
        picking = {**PICKING, **times, "id": number, "whs_code": "YARD", "lines": lines}
        PICKINGS.insert(tx, number, StoredPicking.model_validate(picking))
