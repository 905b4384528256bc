"""Creation of many positions by naming mask."""

import pytest

from shared.kernel.db import steps
from shared.kernel.db.transaction import Transaction
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.warehouses.conftest import Make, codes
from tests.stack import Stack

BULK = "/warehouse-positions/bulk"
RACKS = {
    "whs_code": "CEN",
    "naming_mask": "{aisle}-{rack}-{level}",
    "aisles": ["A", "B"],
    "racks": {"from": 9, "to": 11, "digits": 2},
    "levels": {"from": 1, "to": 2},
    "pick_sequence_start": 100,
    "type": "storage",
    "is_crossdock": None,
    "capacity_units": 12.5,
}
NAMES = [
    f"{aisle}-{rack}-{level}"
    for aisle in ("A", "B")
    for rack in ("09", "10", "11")
    for level in (1, 2)
]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Five positions per transaction, so that twelve positions take three transactions.

    A position also has an alias and an item with search entries.
    """
    monkeypatch.setattr(steps, "STEP_ACTIONS", 15)
    return 5


def test_mask_creates_all_positions(central: Erp, stack: Stack) -> None:
    answer = central.post(BULK, RACKS)

    assert answer.status == 201, answer.text
    place = f"{stack.tenant().base_url}/warehouse-positions?warehouse_id=1"
    assert answer.headers["Location"] == place
    made = answer.data
    assert codes(made) == NAMES
    assert [row["pick_sequence"] for row in made] == list(range(100, 112))
    last = made[-1]
    labels = {name: last[name] for name in ("aisle", "rack", "level", "slot")}
    assert labels == {"aisle": "B", "rack": "11", "level": "2", "slot": None}
    assert {row["type"] for row in made} == {"storage"}
    assert {row["capacity_units"] for row in made} == {12.5}
    assert last["warehouse"] == {"id": 1, "whs_code": "CEN", "name": "Depot CEN"}
    assert sorted(central.walk("/warehouse-positions"), key=lambda row: int(row["id"])) == made
    assert central.get("/warehouses/1").data["positions_count"] == 12


def test_existing_positions_are_not_changed(
    central: Erp, create_position: Make, small_steps: int
) -> None:
    mine = create_position("A-10-1", type="pick_face", pick_sequence=1)
    old = create_position("Z-99")

    made = central.post(BULK, RACKS).data

    assert codes(made) == NAMES
    assert made[2] == mine
    assert [row["pick_sequence"] for row in made] == [100, 101, 1, *range(103, 112)]
    assert central.get("/warehouses/1").data["positions_count"] == small_steps * 2 + 3
    assert central.get(f"/warehouse-positions/{old['id']}").data == old


def test_repeated_request_changes_nothing(central: Erp, stack: Stack, small_steps: int) -> None:
    first = central.post(BULK, RACKS)
    assert len(first.data) > small_steps
    items = stack.items()

    again = central.post(BULK, RACKS)

    assert (again.status, again.data) == (201, first.data)
    assert stack.items() == items


def test_step_fills_a_transaction(central: Erp, aws_faults: AwsFaults) -> None:
    body = {"whs_code": "CEN", "naming_mask": "{rack}", "racks": {"from": 1, "to": 100}}

    with aws_faults.recorded() as recording:
        assert len(central.post(BULK, body, key="k1").data) == 100

    steps = [call for call in recording.calls if call.operation == "TransactWriteItems"]
    # Positions and aliases, the search entries of 100 (the other codes are too short), the totals
    # (of all, and of the warehouse by id and by code), the item of the outbox with the changes, and
    # the claim of the key; last the response.
    assert [len(step.request["TransactItems"]) for step in steps] == [77, 77, 62, 1]


@pytest.mark.usefixtures("small_steps", "clock")
def test_position_created_concurrently_is_not_changed(
    central: Erp, create_position: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Transaction.commit
    others = iter(["A-09-1"])

    def commit_after_another(tx: Transaction) -> None:
        if (bin_code := next(others, None)) is not None:
            create_position(bin_code, type="pick_face")
        commit(tx)

    monkeypatch.setattr(Transaction, "commit", commit_after_another)
    made = central.post(BULK, RACKS).data

    assert codes(made) == NAMES
    assert [row["type"] for row in made] == ["pick_face"] + ["storage"] * 11
    assert central.get("/warehouses/1").data["positions_count"] == 12


@pytest.mark.parametrize("racks", [5, "A", {"from": 3, "to": 2}, {"from": 0, "to": 1000}, True])
def test_labels_are_a_list_or_a_range(central: Erp, racks: object) -> None:
    assert set(central.post(BULK, {**RACKS, "racks": racks}).problems) == {"racks"}


def test_request_creates_at_most_1000_positions(central: Erp) -> None:
    body = {
        "whs_code": "CEN",
        "naming_mask": "{rack}{slot}",
        "racks": {"from": 1, "to": 1000},
        "slots": ["A", "B"],
    }

    assert central.post(BULK, body).problems == {
        "naming_mask": "names 2000 positions; the limit is 1000 per request"
    }
