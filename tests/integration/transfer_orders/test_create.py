"""Creation of transfer orders."""

from typing import Any

from shared.warehouse.work.address import ShipToAddress
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.stack import Stack, event_attributes
from tests.transfer_scenario import PATH, TransferScenario

BRICKS = ("BRICK", 100)
NO_ADDRESS = dict.fromkeys(ShipToAddress.__annotations__)


def test_draft_is_returned_with_all_fields(transfer_scenario: TransferScenario) -> None:
    erp = transfer_scenario.erp

    answer = transfer_scenario.draft(
        external_ref="MOVE-1",
        priority=1,
        reason="Restock\nbefore Easter",
        due_at="2026-03-05T09:00:00+01:00",
        ship_to_address={"city": "Bath", "country": "GB"},
        carrier_code="DHL",
        service_code="EXPRESS",
        lines=[
            {"item_code": "BRICK", "qty": 12.5},
            {
                "item_code": "CEMENT",
                "qty": 3,
                "batch_num": "B7",
                "expected_series": None,
                "expected_batches": ["B7", "B8"],
            },
            {"item_code": "DRILL", "qty": 2, "expected_series": ["S1", "S2"]},
        ],
    )

    data = answer.ok(201)
    number = data["id"]
    nothing = {
        "unit": None,
        "unit_qty": None,
        "picked_qty": 0,
        "dispatched_qty": 0,
        "received_qty": 0,
        "status": "open",
    }
    lines = [
        {"item_code": "BRICK", "qty": 12.5, "batch_num": None, "serial_numbers": []},
        {"item_code": "CEMENT", "qty": 3, "batch_num": "B7", "serial_numbers": []},
        {"item_code": "DRILL", "qty": 2, "batch_num": None, "serial_numbers": ["S1", "S2"]},
    ]
    products = {row["item_code"]: row["id"] for row in erp.walk("/products")}
    assert data == {
        "object": "transfer_order",
        "id": number,
        "code": f"TO-{number}",
        "status": "draft",
        "status_label": "Draft",
        "headline": "YARD → SHOP, 3 lines",
        "has_discrepancy": False,
        "from": {"id": 1, "code": "YARD", "name": "Yard"},
        "to": {"id": 2, "code": "SHOP", "name": "Shop"},
        "priority": 1,
        "reason": "Restock\nbefore Easter",
        "due_at": "2026-03-05T08:00:00.000Z",
        "lines_count": 3,
        "units": {"requested": 17.5, "picked": 0, "dispatched": 0, "received": 0},
        "dispatched_at": None,
        "received_at": None,
        "closed_at": None,
        "close_reason": None,
        "seal_number": None,
        "vehicle_plate": None,
        "carrier_id": None,
        "external_ref": "MOVE-1",
        "ship_to_address": {**NO_ADDRESS, "city": "Bath", "country": "GB"},
        "carrier_code": "DHL",
        "service_code": "EXPRESS",
        "metadata": {},
        "source": "api",
        "picking_id": None,
        "receipt_id": None,
        "sap": None,
        "created_at": data["created_at"],
        "updated_at": data["created_at"],
        "lines": [
            {
                "id": position + 1,
                "line_num": position + 1,
                "external_ref": None,
                "product_id": products[line["item_code"]],
                **line,
                **nothing,
                "metadata": {},
            }
            for position, line in enumerate(lines)
        ],
        "actions": ["release", "cancel"],
    }
    assert data["created_at"].endswith("Z")
    assert erp.follow(answer.headers["Location"]).data == data
    del data["actions"]
    assert erp.walk(PATH) == [{**data, "lines": None}]


def test_ids_of_lines_rise_over_all_orders(
    transfer_scenario: TransferScenario, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen:
        large = transfer_scenario.draft(*[BRICKS] * 1000)
    small = transfer_scenario.draft(*[BRICKS] * 2)

    ids = [one["id"] for answer in (large, small) for one in answer.ok(201)["lines"]]
    assert ids == list(range(1, 1003))
    assert (
        transfer_scenario.erp.follow(large.headers["Location"]).data["lines"] == large.data["lines"]
    )
    sequences = [call for call in seen.calls if "sequence" in str(call.request)]
    assert len(sequences) == 2, "one of orders, one of lines"


def test_client_releases_at_once_with_a_picker(transfer_scenario: TransferScenario) -> None:
    refused = transfer_scenario.draft(BRICKS, release=True, carrier_code="DHL")
    assert refused.problems == {
        "picker_id": "is required when an integration client releases an order"
    }
    assert transfer_scenario.erp.walk(PATH) == []

    released = transfer_scenario.draft(BRICKS, release=True, picker_id=7, carrier_code="DHL").ok(
        201
    )

    assert (released["status"], released["priority"]) == ("released", 2)
    assert released["headline"] == "YARD → SHOP, 1 line"
    picking = transfer_scenario.erp.get(f"/pickings/{released['picking_id']}").data
    assert picking["carrier_code"] == "DHL"


def test_user_releases_without_a_picker(transfer_scenario: TransferScenario, stack: Stack) -> None:
    def draft(permission: str, **more: object) -> Response:
        user = Erp(stack.gateway, stack.user_token(permissions=permission))
        return TransferScenario(user, transfer_scenario.yard).draft(BRICKS, **more)

    released = draft("transfer-orders.manage", release=True).data
    assert (released["status"], released["source"]) == ("released", "web")
    refused = draft("inventory.manage")
    assert (refused.status, refused.code) == (403, "forbidden")
    assert len(transfer_scenario.erp.walk(PATH)) == 1


def test_creation_raises_an_event(transfer_scenario: TransferScenario, stack: Stack) -> None:
    before = len(stack.events())
    data = transfer_scenario.draft(BRICKS, external_ref="MOVE-1").data
    transfer_scenario.draft(BRICKS, external_ref="MOVE-1")

    (event,) = stack.events()[before:]
    assert event["type"]["S"] == "transfer.created"
    assert event["object"]["S"] == "transfer_order"
    assert event["status"]["S"] == "draft"
    assert event["href"]["S"] == f"{PATH}/{data['id']}"
    del data["actions"]
    assert event_attributes(event) == {**data, "lines": None}


def test_same_reference_returns_the_first_order(transfer_scenario: TransferScenario) -> None:
    def draft(reference: str | None = "MOVE-1", **more: object) -> Response:
        return transfer_scenario.draft(BRICKS, external_ref=reference, **more)

    first = draft()

    again = draft(from_warehouse="SHOP", to_warehouse="YARD", release=True)
    other = draft("MOVE-2")
    unnamed = [draft(None) for _ in range(2)]

    assert (first.status, again.status, other.status) == (201, 200, 201)
    assert again.data == first.data
    assert "Location" not in again.headers
    assert again.json()["warning"] == (
        "Transfer order MOVE-1 exists already and was not changed."
        " The request differs in: from_warehouse, to_warehouse, release."
    )
    assert "warning" not in draft(priority=None).json()
    line = {"item_code": "BRICK", "qty": 1, "batch_num": "L1", "expected_series": ["1"]}
    changed = draft(priority=9, reason="x", due_at="2026-03-02T08:00:00Z", lines=[line])
    assert changed.json()["warning"].endswith(
        " differs in: priority, reason, due_at, lines.0.qty, lines.0.batch_num,"
        " lines.0.expected_series."
    )
    assert [answer.status for answer in unnamed] == [201, 201]
    assert len(transfer_scenario.erp.walk(PATH)) == 4


def test_product_not_kept_in_stock_is_blocked_by_rule(transfer_scenario: TransferScenario) -> None:
    assert list(transfer_scenario.draft(("HAULAGE", 1)).blocked) == ["lines.0.item_code"]


def test_one_warehouse_is_not_enough(erp: Erp) -> None:
    erp.post("/warehouses", {"whs_code": "CEN", "name": "Central"})
    erp.post("/products", {"item_code": "BRICK", "name": "Brick"})
    ends = {"from_warehouse": "CEN", "to_warehouse": "DUB"}
    bodies: tuple[dict[str, Any], ...] = (
        {}, ends, {**ends, "lines": [{"item_code": "BRICK", "qty": 100}]},
    )  # fmt: skip

    for body in bodies:
        answer = erp.post(PATH, body)
        assert (answer.status, answer.code) == (404, "transfer_orders_disabled")
    assert erp.walk(PATH) == []
