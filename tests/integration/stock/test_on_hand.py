"""What is on hand by product, warehouse and batch, each in one version of its level."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from shared.kernel.clock import instant, now_ms
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.stock import on_hand
from shared.warehouse.stock.models import Place
from shared.warehouse.stock.on_hand import OnHand, movement_ids_since, read_on_hand
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, level_id
from tests.clock import Clock
from tests.faults import AwsFaults, Call, before_each
from tests.gateway import Erp
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

_CEMENT: Place = (2, 1)
_BATCHES: dict[str | None, Decimal] = {"L1": Decimal(13), "L2": Decimal(5)}


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """Two batches of cement in the first of two warehouses."""
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    yard.stock("CEMENT", 10, batch="L1")
    yard.stock("CEMENT", 3, "B-01", batch="L1")
    yard.stock("CEMENT", 5, batch="L2")
    return yard


@pytest.fixture
def store(stack: Stack) -> Store:
    """The table of acme."""
    return stack.store()


def test_quantities_are_of_a_version_of_the_level(yard: WarehouseScenario, store: Store) -> None:
    yard.stock("BRICK", 4)
    found = read_on_hand(store, [_CEMENT, (1, 1), (1, 2)], by_batch=[_CEMENT])
    level = LEVELS.get(store, level_id(*_CEMENT))
    assert found[_CEMENT] == OnHand(
        Decimal(18), level.version, "CEMENT", level.written_by, _BATCHES
    )
    assert found[1, 1].qty == Decimal(4)
    assert found[1, 1].batches == {}
    assert found[1, 2] == OnHand()


def test_empty_rows_have_no_batch(yard: WarehouseScenario, store: Store) -> None:
    yard.adjust("CEMENT", batch="L2", decrease=5).ok(201)
    [found] = read_on_hand(store, [_CEMENT], by_batch=[_CEMENT]).values()
    assert found.batches == {"L1": Decimal(13)}


def _before_second_read_of_rows(act: Callable[[], object]) -> Callable[[Call], None]:
    reads = 0

    def before(call: Call) -> None:
        nonlocal reads
        if call.operation == "BatchGetItem" and "stock#" in str(call.request):
            reads += 1
            if reads == 2:
                act()

    return before


def test_batches_that_change_alike_meanwhile_are_read_again(
    yard: WarehouseScenario, store: Store, aws_faults: AwsFaults
) -> None:
    def exchange() -> None:
        yard.adjust("CEMENT", batch="L1", decrease=3).ok(201)
        yard.stock("CEMENT", 3, batch="L2")

    with aws_faults.faulty(before_each(_before_second_read_of_rows(exchange))):
        [found] = read_on_hand(store, [_CEMENT], by_batch=[_CEMENT]).values()
    assert found.batches == {"L1": Decimal(10), "L2": Decimal(8)}
    assert found.version == LEVELS.get(store, level_id(*_CEMENT)).version


@pytest.mark.usefixtures("yard")
def test_a_row_that_the_index_does_not_show_yet_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    row_ids = on_hand._row_ids
    reads = 0

    def lagging(store: Store, place: Place) -> list[int]:
        nonlocal reads
        reads += 1
        return row_ids(store, place)[reads < 3 :]

    monkeypatch.setattr(on_hand, "_row_ids", lagging)
    [found] = read_on_hand(store, [_CEMENT], by_batch=[_CEMENT]).values()
    assert found.batches == _BATCHES
    assert reads == 3


def test_many_rows_are_read_in_parts(
    yard: WarehouseScenario, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("BRICK", 4)
    monkeypatch.setattr(on_hand, "_ROWS", 2)
    places: list[Place] = [_CEMENT, (1, 1), (1, 2)]
    found = read_on_hand(store, places, by_batch=places)
    assert [found[place].qty for place in places] == [18, 4, 0]


def test_movements_of_a_product_since_a_time(
    yard: WarehouseScenario, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_hand, "_MOVEMENTS", 2)
    clock.advance(60)
    since = instant(now_ms())
    for _ in range(4):
        yard.stock("CEMENT", 1, batch="L1")
    yard.stock("BRICK", 1)
    assert movement_ids_since(stack.store(), 2, since, most=4) == [7, 6, 5, 4]
    assert movement_ids_since(stack.store(), 2, since, most=3) is None
    everything = movement_ids_since(stack.store(), 2, instant(0), most=10)
    assert everything == [7, 6, 5, 4, 3, 2, 1]
    clock.advance(3_600)
    assert movement_ids_since(stack.store(), 2, instant(now_ms()), most=3) == []


def test_an_id_may_be_used_later_than_a_higher_one(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    early = allocate_ids(stack.store(), "movement", 1)
    yard.stock("CEMENT", 1, batch="L1")
    clock.advance(600)
    since = instant(now_ms())

    def use_case(tx: Transaction) -> None:
        [last] = MOVEMENTS.get_many(tx.store, [early + 1])
        late = last.entity.model_copy(update={"id": early, "created_at": tx.now})
        MOVEMENTS.insert(tx, early, late)

    run_transaction(stack.store(), use_case)
    assert movement_ids_since(stack.store(), 2, since, most=3) == [early]
