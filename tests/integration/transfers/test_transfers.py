"""Transfers of stock between positions and between warehouses."""

import pytest

from tests.integration.transfers.bodies import PATH, body
from tests.people import PICKER_NAME
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

B_01_OF_SHOP, F_01_OF_SHOP = 7, 8
"""Ids of positions."""
KINDS = ("transfer.created", "transfer.completed")


def positions_of(yard: WarehouseScenario, item_code: str) -> dict[tuple[str, str, str], float]:
    """Return the quantities of an item by warehouse, position and inventory status."""
    rows = yard.erp.walk("/stocks", item_code=item_code, status="in")
    found: dict[tuple[str, str, str], float] = {}
    for row in rows:
        place = (row["position"]["whs_code"], row["position"]["bin_code"], row["inventory_status"])
        found[place] = found.get(place, 0) + row["qty"]
    return found


def events(stack: Stack) -> list[str]:
    return [event["type"]["S"] for event in stack.events() if event["type"]["S"] in KINDS]


def test_transfer_within_a_warehouse_is_executed_at_once(
    stocked_yard: WarehouseScenario, stack: Stack
) -> None:
    answer = stocked_yard.erp.post(PATH, body(reason="Tidy up", comments="Aisle A", operator_id=7))

    shown = answer.ok(201)
    number = shown["id"]
    assert answer.headers["Location"].endswith(f"{PATH}/{number}")
    assert shown == {
        "id": number,
        "status": "transferred",
        "wms_status": "transferred",
        "sap_status": None,
        "from_whs_code": "YARD",
        "to_whs_code": "YARD",
        "doc_entry": None,
        "message": None,
        "reason": "Tidy up",
        "user_id": None,
        "operator": {"id": 7, "name": PICKER_NAME},
        "created_at": shown["created_at"],
        "updated_at": shown["created_at"],
        "lines": [
            {
                "product_id": 1,
                "item_code": "BRICK",
                "qty": 4,
                "batch_num": None,
                "serials": [],
                "from_bin": "A-01",
                "to_bin": "B-01",
                "inventory_status": "available",
            }
        ],
        "actions": ["acknowledge"],
    }
    assert stocked_yard.erp.get(f"{PATH}/{number}").data == shown
    assert positions_of(stocked_yard, "BRICK") == {
        ("YARD", "A-01", "available"): 6, ("YARD", "B-01", "available"): 4,
    }  # fmt: skip
    [moved] = stocked_yard.erp.get("/stock-movements", query={"type": "transfer"}).data
    assert (moved["qty"], moved["from"]["bin_code"], moved["to"]["bin_code"], moved["reason"]) == (
        4, "A-01", "B-01", "Tidy up",
    )  # fmt: skip
    assert moved["document"] == {"type": "transfer", "id": number}
    raised = [event for event in stack.events() if event["type"]["S"] in KINDS]
    assert sorted(
        (one["version"]["N"], one["type"]["S"], one["status"]["S"]) for one in raised
    ) == [
        ("1", "transfer.created", "pending"),
        ("2", "transfer.completed", "transferred"),
    ]
    assert {event["object"]["S"] for event in raised} == {"transfer"}


def test_batches_and_serials_move_to_another_warehouse(stocked_yard: WarehouseScenario) -> None:
    stocked_yard.erp.post(
        PATH,
        body(
            {},
            {"item_code": "CEMENT", "qty": 5, "batch": "L1", "to_bin": "A-01"},
            {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S3"], "to_bin": "F-01"},
            to_warehouse="SHOP",
        ),
    ).ok(201)
    assert positions_of(stocked_yard, "BRICK")["SHOP", "B-01", "available"] == 4
    assert positions_of(stocked_yard, "CEMENT") == {("SHOP", "A-01", "available"): 5}
    assert positions_of(stocked_yard, "DRILL") == {
        ("YARD", "A-01", "available"): 1, ("SHOP", "F-01", "available"): 2,
    }  # fmt: skip
    [cement] = stocked_yard.erp.get("/stocks", query={"item_code": "CEMENT", "status": "in"}).data
    assert (cement["batch_num"], cement["expiry_date"]) == ("L1", "2030-01-31")
    levels = {
        (level["item_code"], level["whs_code"]): level["available"]
        for level in stocked_yard.erp.walk("/stock-levels")
    }
    assert (levels["BRICK", "YARD"], levels["BRICK", "SHOP"]) == (6, 4)


def test_goods_keep_their_inventory_status(stocked_yard: WarehouseScenario) -> None:
    stocked_yard.adjust("BRICK", to_status="damaged", qty=3)

    moved = stocked_yard.erp.post(PATH, body({"qty": 3, "inventory_status": "damaged"}))
    more = stocked_yard.erp.post(PATH, body({"qty": 8}))

    assert moved.status == 201
    assert positions_of(stocked_yard, "BRICK") == {
        ("YARD", "A-01", "available"): 7, ("YARD", "B-01", "damaged"): 3,
    }  # fmt: skip
    assert (more.status, more.code) == (409, "conflict")


def test_pending_transfer_moves_when_executed(
    stocked_yard: WarehouseScenario, stack: Stack
) -> None:
    made = stocked_yard.erp.post(PATH, body(execute=False))
    number = made.data["id"]

    assert (made.status, made.data["status"]) == (201, "pending")
    assert positions_of(stocked_yard, "BRICK") == {("YARD", "A-01", "available"): 10}
    early = stocked_yard.erp.post(f"{PATH}/{number}/acknowledge", {"sap_status": "sent"})
    assert (early.status, early.code) == (409, "conflict")
    assert "pending" in early.json()["message"]
    done = stocked_yard.erp.post(f"{PATH}/{number}/execute")
    assert (done.status, done.data["status"], done.data["message"]) == (200, "transferred", None)
    again = stocked_yard.erp.post(f"{PATH}/{number}/execute")
    assert (again.status, again.code) == (409, "stale_state")
    assert "transferred" in again.json()["message"]
    assert positions_of(stocked_yard, "BRICK")["YARD", "B-01", "available"] == 4
    assert events(stack) == list(KINDS)


def test_missing_goods_are_an_error_that_can_be_executed_again(
    stocked_yard: WarehouseScenario, stack: Stack
) -> None:
    number = stocked_yard.erp.post(PATH, body({"qty": 12}, execute=False)).data["id"]

    failed = stocked_yard.erp.post(f"{PATH}/{number}/execute")

    assert (failed.status, failed.data["status"]) == (200, "error")
    assert failed.data["message"] == "Line 1: 12 requested, 10 free of BRICK at YARD A-01."
    assert [row["id"] for row in stocked_yard.erp.get(PATH, query={"status": "error"}).data] == [
        number
    ]
    assert events(stack) == ["transfer.created"]
    stocked_yard.stock("BRICK", 2)
    done = stocked_yard.erp.post(f"{PATH}/{number}/execute").data
    assert (done["status"], done["message"]) == ("transferred", None)
    assert positions_of(stocked_yard, "BRICK") == {("YARD", "B-01", "available"): 12}


def test_target_blocked_meanwhile_is_an_error(stocked_yard: WarehouseScenario) -> None:
    number = stocked_yard.erp.post(PATH, body(execute=False)).data["id"]
    stocked_yard.erp.patch("/warehouse-positions/2", {"is_blocked": True})

    failed = stocked_yard.erp.post(f"{PATH}/{number}/execute").data

    assert (failed["status"], failed["message"]) == ("error", "Line 1: position B-01 is blocked.")
    stocked_yard.erp.patch("/warehouse-positions/2", {"is_blocked": False})
    assert stocked_yard.erp.post(f"{PATH}/{number}/execute").data["status"] == "transferred"


def test_all_lines_move_or_none(stocked_yard: WarehouseScenario, stack: Stack) -> None:
    stocked_yard.erp.post("/pickings", {"document_id": stocked_yard.order(("BRICK", 3))})
    stocked_yard.stock("DRILL", 1, serial="S8", bin_code="B-01")
    with stack.unchanged():
        answer = stocked_yard.erp.post(
            PATH,
            body(
                {"qty": 5},
                {"qty": 3},
                {"item_code": "CEMENT", "qty": 1, "batch": "L2"},
                {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S9"]},
                {"item_code": "DRILL", "qty": 1, "serials": ["S8"]},
            ),
        )

    assert (answer.status, answer.code) == (409, "conflict")
    assert answer.json()["message"] == (
        "Line 2: 3 requested, 2 free of BRICK at YARD A-01; "
        "line 3: 1 requested, 0 free of CEMENT, batch L2 at YARD A-01; "
        "line 4: serial S9 of DRILL is not free at YARD A-01; "
        "line 5: serial S8 is already in stock at YARD B-01."
    )


def test_erp_may_acknowledge_repeatedly(stocked_yard: WarehouseScenario) -> None:
    number = stocked_yard.erp.post(PATH, body()).data["id"]

    refused = stocked_yard.erp.post(
        f"{PATH}/{number}/acknowledge", {"sap_status": "rejected", "message": "Period closed"}
    ).data
    taken = stocked_yard.erp.post(
        f"{PATH}/{number}/acknowledge", {"sap_status": "sent", "doc_entry": "0815"}
    ).data

    facts = ("status", "sap_status", "doc_entry", "message")
    assert [refused[fact] for fact in facts] == ["transferred", "rejected", None, "Period closed"]
    assert [taken[fact] for fact in facts] == ["transferred", "sent", "0815", None]
    whole = stocked_yard.erp.post(
        f"{PATH}/{number}/acknowledge", {"sap_status": "sent", "doc_entry": 7}
    )
    assert whole.data["doc_entry"] == 7


def test_transfer_larger_than_one_transaction_is_refused(stocked_yard: WarehouseScenario) -> None:
    shelves = ("A-01", "B-01", "F-01")
    codes = [f"P-{number}" for number in range(12)]
    for code in codes:
        assert stocked_yard.erp.post("/products", {"item_code": code, "name": code}).status == 201
        stocked_yard.stock(code, 2)
    moves = [
        {"item_code": code, "qty": 1, "to_bin": shelves[1 + at % 2]}
        for at, code in enumerate(codes)
    ]

    inside = stocked_yard.erp.post(PATH, body(*moves[:11]))
    across = stocked_yard.erp.post(PATH, body(*moves[:6], to_warehouse="SHOP"), key="across")
    too_many = [
        stocked_yard.erp.post(PATH, body(*moves)),
        stocked_yard.erp.post(PATH, body(*moves[:7], to_warehouse="SHOP")),
    ]

    assert (inside.status, across.status) == (201, 201)
    assert [list(answer.problems) for answer in too_many] == [["lines"], ["lines"]]


def test_master_data_of_a_pending_transfer_cannot_be_deleted(
    stocked_yard: WarehouseScenario,
) -> None:
    sand = stocked_yard.erp.post("/products", {"item_code": "SAND", "name": "Sand"}).id
    paths = f"/products/{sand}", f"/warehouse-positions/{F_01_OF_SHOP}"
    move = {"item_code": "SAND", "qty": 1, "to_bin": "F-01"}
    number = stocked_yard.erp.post(PATH, body(move, to_warehouse="SHOP", execute=False)).data["id"]

    for path in paths:
        refused = stocked_yard.erp.delete(path)
        assert (refused.status, refused.code) == (409, "conflict")
    renamed = stocked_yard.erp.patch(paths[0], {"item_code": "GRIT"})
    assert (renamed.status, renamed.code) == (409, "conflict")

    stocked_yard.stock("SAND", 1)
    assert stocked_yard.erp.post(f"{PATH}/{number}/execute").data["status"] == "transferred"
    stocked_yard.adjust("SAND", "F-01", warehouse="SHOP", counted_qty=0)
    assert [stocked_yard.erp.delete(path).status for path in paths] == [200, 200]


@pytest.mark.parametrize("status", ["pending", "error"])
def test_deleted_transfer_is_gone_and_frees_its_master_data(
    status: str, stocked_yard: WarehouseScenario, stack: Stack
) -> None:
    sand = stocked_yard.erp.post("/products", {"item_code": "SAND", "name": "Sand"}).id
    paths = f"/products/{sand}", f"/warehouse-positions/{B_01_OF_SHOP}"
    move = {"item_code": "SAND", "qty": 1, "from_bin": "F-01"}
    pending = stocked_yard.erp.post(PATH, body(move, to_warehouse="SHOP", execute=False))
    path = f"{PATH}/{pending.data['id']}"
    if status == "error":
        stocked_yard.erp.post(f"{path}/execute")
    shown = stocked_yard.erp.get(path).data
    assert shown["status"] == status
    assert [stocked_yard.erp.delete(one).status for one in paths] == [409, 409]

    first, again = (stocked_yard.erp.delete(path, key="end") for _ in range(2))

    assert first.ok() == again.ok() == shown
    assert again.headers["Idempotent-Replayed"] == "true"
    attempts = [
        stocked_yard.erp.get(path),
        stocked_yard.erp.delete(path),
        stocked_yard.erp.post(f"{path}/execute"),
        stocked_yard.erp.post(f"{path}/acknowledge", {"sap_status": "sent"}),
    ]
    assert [(answer.status, answer.code) for answer in attempts] == [(410, "gone")] * 4
    for query in ({}, {"status": status}, {"from_warehouse": "YARD"}):
        assert stocked_yard.erp.get(PATH, query=query).json()["meta"]["total"] == 0
    assert [stocked_yard.erp.delete(one).status for one in paths] == [200, 200]
    assert events(stack) == ["transfer.created"]


def test_transferred_transfer_cannot_be_deleted(stocked_yard: WarehouseScenario) -> None:
    number = stocked_yard.erp.post(PATH, body()).data["id"]

    refused = stocked_yard.erp.delete(f"{PATH}/{number}")

    assert (refused.status, refused.code) == (409, "stale_state")
    assert f"Transfer {number} is transferred" in refused.json()["message"]
    assert stocked_yard.erp.get(f"{PATH}/{number}").status == 200
    assert stocked_yard.erp.delete(f"{PATH}/{number + 1}").status == 404
