"""Creation of transfer orders."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.stack import Stack, event_attributes

type Write = Callable[..., dict[str, Any]]

PATH = "/transfer-orders"


def test_draft_is_returned_with_all_fields(three_warehouses: Erp, order: Write) -> None:
    body = order(
        priority=1,
        reason="Restock\nbefore Easter",
        due_at="2026-03-05T09:00:00+01:00",
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

    answer = three_warehouses.post(PATH, body)

    assert answer.status == 201, answer.text
    data = answer.data
    number = data["id"]
    nothing = {"picked_qty": 0, "dispatched_qty": 0, "received_qty": 0, "status": "open"}
    lines = [
        {"item_code": "BRICK", "qty": 12.5, "batch_num": None, "serial_numbers": []},
        {"item_code": "CEMENT", "qty": 3, "batch_num": "B7", "serial_numbers": []},
        {"item_code": "DRILL", "qty": 2, "batch_num": None, "serial_numbers": ["S1", "S2"]},
    ]
    products = {row["item_code"]: row["id"] for row in three_warehouses.walk("/products")}
    assert data == {
        "object": "transfer_order",
        "id": number,
        "code": f"TO-{number}",
        "status": "draft",
        "status_label": "Draft",
        "headline": "CEN → DUB, 3 lines",
        "has_discrepancy": False,
        "from": {"id": 1, "code": "CEN", "name": "Central"},
        "to": {"id": 2, "code": "DUB", "name": "Dublin"},
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
                "product_id": products[line["item_code"]],
                **line,
                **nothing,
            }
            for position, line in enumerate(lines)
        ],
    }
    assert data["created_at"].endswith("Z")
    assert three_warehouses.follow(answer.headers["Location"]).data == data
    assert three_warehouses.walk(PATH) == [{**data, "lines": None}]


def test_ids_of_lines_rise_over_all_orders(
    three_warehouses: Erp, order: Write, aws_faults: AwsFaults
) -> None:
    line = {"item_code": "BRICK", "qty": 1}
    with aws_faults.recorded() as seen:
        large = three_warehouses.post(PATH, order(lines=[line] * 1000, external_ref="L"))
    small = three_warehouses.post(PATH, order(lines=[line] * 2, external_ref="S"))
    assert (large.status, small.status) == (201, 201)

    ids = [one["id"] for answer in (large, small) for one in answer.data["lines"]]
    assert ids == list(range(1, 1003))
    assert three_warehouses.follow(large.headers["Location"]).data["lines"] == large.data["lines"]
    sequences = [call for call in seen.calls if "sequence" in str(call.request)]
    assert len(sequences) == 2, "one of orders, one of lines"


def test_client_releases_at_once_with_a_picker(three_warehouses: Erp, order: Write) -> None:
    refused = three_warehouses.post(PATH, order(release=True))
    assert refused.code == "validation_failed"
    assert refused.problems == {
        "picker_id": "is required when an integration client releases an order"
    }
    assert three_warehouses.walk(PATH) == []

    released = three_warehouses.post(PATH, order(release=True, picker_id=7))

    assert released.status == 201, released.text
    assert (released.data["status"], released.data["priority"]) == ("released", 2)
    assert released.data["headline"] == "CEN → DUB, 1 line"


@pytest.mark.usefixtures("three_warehouses")
def test_user_releases_without_a_picker(stack: Stack, order: Write) -> None:
    allowed = Erp(stack.gateway, stack.user_token(permissions="transfer-orders.manage"))
    other = Erp(stack.gateway, stack.user_token(permissions="inventory.manage"))

    assert allowed.post(PATH, order(release=True)).data["status"] == "released"
    refused = other.post(PATH, order("MOVE-2"))
    assert (refused.status, refused.code) == (403, "forbidden")
    assert len(other.walk(PATH)) == 1


def test_creation_raises_an_event(stack: Stack, three_warehouses: Erp, order: Write) -> None:
    before = len(stack.events())
    data = three_warehouses.post(PATH, order()).data
    three_warehouses.post(PATH, order())

    (event,) = stack.events()[before:]
    assert event["type"]["S"] == "transfer.created"
    assert event["object"]["S"] == "transfer_order"
    assert event["status"]["S"] == "draft"
    assert event["href"]["S"] == f"{PATH}/{data['id']}"
    assert event_attributes(event) == {**data, "lines": None}


def test_same_reference_returns_the_first_order(three_warehouses: Erp, order: Write) -> None:
    first = three_warehouses.post(PATH, order())

    again = three_warehouses.post(PATH, order(from_warehouse="CORK", release=True))
    other = three_warehouses.post(PATH, order("MOVE-2"))
    unnamed = [three_warehouses.post(PATH, order(None)) for _ in range(2)]

    assert (first.status, again.status, other.status) == (201, 200, 201)
    assert again.data == first.data
    assert "Location" not in again.headers
    assert again.json()["warning"] == (
        "Transfer order MOVE-1 exists already and was not changed."
        " The request differs in: from_warehouse, release."
    )
    assert "warning" not in three_warehouses.post(PATH, order(priority=None)).json()
    line = {"item_code": "BRICK", "qty": 1, "batch_num": "L1", "expected_series": ["1"]}
    changed = order(priority=9, reason="x", due_at="2026-03-02T08:00:00Z", lines=[line])
    assert (
        three_warehouses.post(PATH, changed)
        .json()["warning"]
        .endswith(
            " differs in: priority, reason, due_at, lines.0.qty, lines.0.batch_num,"
            " lines.0.expected_series."
        )
    )
    assert [answer.status for answer in unnamed] == [201, 201]
    assert len(three_warehouses.walk(PATH)) == 4


def test_all_problems_are_reported_with_their_paths(three_warehouses: Erp, order: Write) -> None:
    body = order(
        " ",
        from_warehouse="MOON",
        priority=-1,
        due_at="2026-03-05",
        release=True,
        lines=[
            {"item_code": "NO-SUCH", "qty": 1},
            {"item_code": "BRICK", "qty": "5", "batch_num": "B1"},
            {"item_code": "DRILL", "qty": 3, "expected_series": ["S1"]},
            {"item_code": "HAULAGE", "qty": 1, "expected_batches": "B1"},
        ],
    )

    assert three_warehouses.post(PATH, body).problems == {
        "external_ref": "must not be empty",
        "from_warehouse": "no warehouse has the code MOON",
        "priority": "must be at least 0",
        "due_at": "must be a date-time with offset, such as 2026-03-01T09:30:00Z",
        "picker_id": "is required when an integration client releases an order",
        "lines.0.item_code": "no product has the code NO-SUCH",
        "lines.1.qty": "must be a number",
        "lines.1.batch_num": "product BRICK is not managed by batch",
        "lines.2.expected_series": "1 given, 3 required",
        "lines.3.expected_batches": "must be a list",
        "lines.3.item_code": "product HAULAGE is not kept in stock",
    }
    assert list(three_warehouses.post(PATH, order(lines=[])).problems) == ["lines"]
    assert list(three_warehouses.post(PATH, order(to_warehouse="CEN")).problems) == ["to_warehouse"]
    assert three_warehouses.walk(PATH) == []


def test_product_not_kept_in_stock_is_blocked_by_rule(three_warehouses: Erp, order: Write) -> None:
    answer = three_warehouses.post(PATH, order(lines=[{"item_code": "HAULAGE", "qty": 1}]))

    assert list(answer.blocked) == ["lines.0.item_code"]


@pytest.mark.parametrize("body", [{}, {"from_warehouse": "CEN", "to_warehouse": "DUB"}])
def test_one_warehouse_is_not_enough(erp: Erp, order: Write, body: dict[str, Any]) -> None:
    erp.post("/warehouses", {"whs_code": "CEN", "name": "Central"})
    erp.post("/products", {"item_code": "BRICK", "name": "Brick"})

    for sent in (body, order(**body)):
        answer = erp.post(PATH, sent)
        assert (answer.status, answer.code) == (404, "transfer_orders_disabled")
    assert erp.walk(PATH) == []


def test_master_data_of_an_order_cannot_be_deleted(three_warehouses: Erp, order: Write) -> None:
    products = {row["item_code"]: row["id"] for row in three_warehouses.walk("/products")}
    halls = {row["whs_code"]: row["id"] for row in three_warehouses.walk("/warehouses")}
    three_warehouses.post(PATH, order())

    refused = [
        three_warehouses.delete(f"/products/{products['BRICK']}"),
        three_warehouses.patch(f"/products/{products['BRICK']}", {"item_code": "BRICK-2"}),
        three_warehouses.delete(f"/warehouses/{halls['CEN']}"),
        three_warehouses.patch(f"/warehouses/{halls['DUB']}", {"whs_code": "DUBLIN"}),
    ]

    assert [answer.code for answer in refused] == ["conflict"] * 4
    assert three_warehouses.delete(f"/products/{products['CEMENT']}").status == 200
    assert three_warehouses.delete(f"/warehouses/{halls['CORK']}").status == 200
