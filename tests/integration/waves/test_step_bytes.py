"""Waves of long pickings: a step takes as many as fit into the bytes of one transaction."""

import random

import pytest

from shared.kernel.db import steps
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking.repository import PICKINGS
from tests.faults import AwsFaults, Recording
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_PICKINGS = 4
_LINES = 1_000
_BYTES = 262_144
"""Bytes of a step in the tests."""
_LETTERS = "".join(map(chr, range(0x4E00, 0x9FA5)))
"""Letters of three bytes in UTF-8."""


def _long_pickings(yard: WarehouseScenario, stack: Stack) -> list[int]:
    """Create pickings of 1 000 lines, each of a batch with a code as long as possible."""
    [first] = WaveScenario(yard).pickings(1)
    numbers = list(range(first + 1, first + 1 + _PICKINGS))
    picking = PICKINGS.get(stack.store(), first).entity
    draw = random.Random(1)  # noqa: S311 - replayable, not secret
    lines = [
        picking.lines[0].model_copy(update={"batch_num": "".join(draw.choices(_LETTERS, k=50))})
        for _ in range(_LINES)
    ]
    for number in numbers:
        tx = Transaction(stack.store())
        PICKINGS.insert(tx, number, picking.model_copy(update={"id": number, "lines": lines}))
        tx.commit()
    return numbers


def test_step_of_pickings_of_1000_lines_with_long_batch_codes_has_its_bytes(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction has room for twice the bytes of its step, as that of the service has."""
    monkeypatch.setattr(steps, "STEP_BYTES", _BYTES)
    numbers = _long_pickings(yard, stack)

    with aws_faults.recorded() as seen:
        made = WaveScenario(yard).create(numbers)

    assert [order["picking_id"] for order in made.ok(201)["orders"]] == numbers
    waves = {record.entity.wave_id for record in PICKINGS.get_many(stack.store(), numbers)}
    assert waves == {made.id}
    assert _pickings_written(seen) == [2, 2]
    assert max(len(call.body) for call in seen.calls) < 2 * _BYTES


@pytest.fixture
def one_picking_per_step(yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch) -> WaveScenario:
    """Five pickings, of which a step has bytes for one."""
    monkeypatch.setattr(steps, "STEP_BYTES", 1)
    return WaveScenario.with_pickings(yard, 5)


def _pickings_written(seen: Recording) -> list[int]:
    """Return the number of pickings that each transaction writes, without zeros."""
    transactions = [
        [str(action) for action in call.request["TransactItems"]]
        for call in seen.calls
        if call.operation == "TransactWriteItems"
    ]
    counts = [
        sum("'Put'" in action and "{'S': 'picking#" in action for action in actions)
        for actions in transactions
    ]
    return [count for count in counts if count]


def test_steps_of_a_wave_are_cut_by_bytes(
    one_picking_per_step: WaveScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as created:
        number = one_picking_per_step.wave([1, 2, 3, 4, 5], "plan")
    with aws_faults.recorded() as released:
        one_picking_per_step.act(number, "release")

    assert _pickings_written(created) == [1] * 5
    assert _pickings_written(released) == [1] * 5
    assert one_picking_per_step.shown(number)["metrics"]["allocated_units"] == 5
    assert_invariants(stack.store())
