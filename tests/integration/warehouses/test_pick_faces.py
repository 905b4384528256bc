"""Assignment, change, list and removal of pick faces, and the protection of their master data."""

import pytest

from shared.kernel.validation import check, ensure_valid
from shared.warehouse.pick_faces.models import PickFaceDraft
from tests.gateway import Erp
from tests.integration.warehouses.faces import assert_faces_are_true, assign, face, furnish
from tests.stack import Stack


@pytest.fixture
def depot(erp: Erp) -> Erp:
    """Warehouse CEN with products BOLT and NUT and positions A-01 and A-02."""
    furnish(erp)
    return erp


def draft(**fields: object) -> PickFaceDraft:
    return ensure_valid(check(PickFaceDraft, face(**fields)))  # type: ignore[arg-type]


def test_pick_face_has_all_its_fields(depot: Erp, stack: Stack) -> None:
    answer = assign(depot, "NUT", "A-02", minimum=2.5, maximum=40)

    made = answer.ok(201)
    assert answer.headers["Location"] == f"{stack.tenant().base_url}/pick-faces/1"
    assert made.pop("created_at") == made.pop("updated_at")
    assert made == {
        "id": 1,
        "product_id": 2,
        "item_code": "NUT",
        "warehouse_id": 1,
        "whs_code": "CEN",
        "position_id": 2,
        "bin_code": "A-02",
        "minimum": 2.5,
        "maximum": 40,
    }
    assert depot.get("/pick-faces/1").data == answer.data
    assert depot.walk("/pick-faces") == [answer.data]
    assert_faces_are_true(stack)


def test_repeated_assignment_changes_only_the_sent_fields(depot: Erp, stack: Stack) -> None:
    made = assign(depot, minimum=5, maximum=50).data

    more = assign(depot, maximum=60)
    none = assign(depot, minimum=None)
    same = assign(depot)

    assert [one.status for one in (more, none, same)] == [200, 200, 200]
    assert "Location" not in more.headers
    assert same.headers["ETag"] == depot.get("/pick-faces/1").headers["ETag"]
    assert (more.data["minimum"], more.data["maximum"]) == (5, 60)
    assert more.data["updated_at"] >= made["updated_at"]
    assert (none.data["minimum"], none.data["maximum"]) == (None, 60)
    assert same.data == none.data, "what changes nothing leaves the time of the last change"
    assert [row["id"] for row in depot.walk("/pick-faces")] == [1]
    assert_faces_are_true(stack)


def test_position_and_product_can_have_several_pick_faces(depot: Erp, stack: Stack) -> None:
    made = [assign(depot, *place) for place in (("BOLT", "A-01"), ("NUT", "A-01"))]
    made.append(assign(depot, "BOLT", "A-02"))

    assert [one.status for one in made] == [201, 201, 201]
    assert [row["id"] for row in depot.walk("/pick-faces", item_code="BOLT")] == [1, 3]
    assert [row["id"] for row in depot.walk("/pick-faces", bin_code="A-01")] == [1, 2]
    assert [row["id"] for row in depot.walk("/pick-faces", product_id=2)] == [2]
    assert_faces_are_true(stack)


def test_all_problems_are_reported_together(depot: Erp, stack: Stack) -> None:
    depot.post("/products", {"item_code": "HAULAGE", "name": "Haulage", "inventory_item": False})
    body = {"whs_code": "CEN", "bin_code": "OFF", "disabled": True, "is_pickable": False}
    depot.post("/warehouse-positions", body)

    answer = assign(depot, "HAULAGE", "OFF", minimum=9, maximum=4)

    assert answer.problems == {
        "item_code": "product HAULAGE is not kept in stock",
        "bin_code": "position OFF is not pickable",
        "maximum": "must be at least minimum (9)",
    }
    assert len(answer.json()["errors"]) == 4, "it is disabled, too"
    assert depot.post("/pick-faces", {"item_code": "X", "minimum": -1}).problems == {
        "warehouse_code": "is required",
        "bin_code": "is required",
        "minimum": "must be at least 0",
        "item_code": "no product has the code X",
    }
    assert depot.post("/pick-faces", face("BOLT", "Z", warehouse_code="DUB")).problems == {
        "warehouse_code": "no warehouse has the code DUB"
    }
    assert assign(depot, "BOLT", "Z").problems == {"bin_code": "warehouse CEN has no position Z"}
    assert depot.walk("/pick-faces") == []
    assert_faces_are_true(stack)


def test_sent_quantity_is_checked_against_the_stored_one(depot: Erp) -> None:
    assign(depot, minimum=5, maximum=50)

    assert assign(depot, minimum=51).problems == {"minimum": "must be at most maximum (50)"}
    assert assign(depot, maximum=4).problems == {"maximum": "must be at least minimum (5)"}
    assert assign(depot, minimum=51, maximum=51).status == 200
    depot.patch("/warehouse-positions/1", {"disabled": True})
    assert assign(depot, minimum=1).problems == {"bin_code": "position A-01 is disabled"}


def test_removed_pick_face_can_be_assigned_again(depot: Erp, stack: Stack) -> None:
    made = assign(depot, minimum=5).data
    assign(depot, "NUT")

    removed = depot.delete("/pick-faces/1")

    assert (removed.status, removed.data) == (200, made)
    assert_faces_are_true(stack)
    for answer in (depot.get("/pick-faces/1"), depot.delete("/pick-faces/1")):
        assert (answer.status, answer.code) == (410, "gone")
    assert [row["id"] for row in depot.walk("/pick-faces")] == [2]
    again = assign(depot)
    assert (again.status, again.data["id"], again.data["minimum"]) == (201, 3, None)
    assert_faces_are_true(stack)


def test_product_and_position_with_a_pick_face_cannot_be_renamed_or_deleted(
    depot: Erp, stack: Stack
) -> None:
    assign(depot)

    refused = [
        depot.delete("/products/1"),
        depot.patch("/products/1", {"item_code": "BOLT-2"}),
        depot.patch("/products/1", {"inventory_item": False}),
        depot.delete("/warehouse-positions/1"),
        depot.patch("/warehouse-positions/1", {"bin_code": "A-09"}),
        depot.patch("/warehouses/1", {"whs_code": "MID"}),
    ]

    assert [answer.code for answer in refused] == ["conflict"] * 6
    assert refused[0].json()["message"] == (
        "Product BOLT is in use by pick faces and cannot be deleted."
    )
    assert refused[4].json()["message"] == (
        "Position A-01 is in use by pick faces and cannot change its code."
    )
    changed = depot.patch("/warehouse-positions/1", {"is_blocked": True, "type": "reserve"})
    assert (changed.status, depot.patch("/products/1", {"name": "Bolts"}).status) == (200, 200)
    assert_faces_are_true(stack)
    depot.delete("/pick-faces/1")
    assert depot.patch("/products/1", {"item_code": "BOLT-2"}).status == 200
    assert depot.delete("/warehouse-positions/1").status == 200
