"""A depot with products and positions, and what must be true of its pick faces."""

from collections import defaultdict

from shared.kernel.db.items import from_attributes
from shared.warehouse.catalog.repository import PRODUCTS
from shared.warehouse.pick_faces.repository import PICK_FACES
from shared.warehouse.warehouses.repository import POSITIONS
from tests.gateway import Erp, Response
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.stack import Stack

PRODUCTS_OF = ("BOLT", "NUT")
BINS = ("A-01", "A-02")


def furnish(erp: Erp) -> None:
    """Products 1 BOLT, 2 NUT and, at positions 1 A-01 and 2 A-02 of CEN, nothing."""
    for code in PRODUCTS_OF:
        assert erp.post("/products", {"item_code": code, "name": code.title()}).status == 201
    assert erp.post("/warehouses", {"whs_code": "CEN", "name": "Central"}).status == 201
    for code in BINS:
        body = {"whs_code": "CEN", "bin_code": code, "type": "storage"}
        assert erp.post("/warehouse-positions", body).status == 201


def face(item_code: str = "BOLT", bin_code: str = "A-01", **more: object) -> dict[str, object]:
    """Body of an assignment."""
    return {"item_code": item_code, "warehouse_code": "CEN", "bin_code": bin_code, **more}


def assign(erp: Erp, item_code: str = "BOLT", bin_code: str = "A-01", **more: object) -> Response:
    """Assign a product to a position of CEN."""
    return erp.post("/pick-faces", face(item_code, bin_code, **more))


def assert_faces_are_true(stack: Stack) -> None:
    """Each pick face is of a product and a position that are there, which both know of it."""
    census = read_stored_entities(stack)
    assert_counters_match(stack, census)
    faces = census.entities[PICK_FACES.kind]
    products = {one.id: one.item_code for one in census.entities[PRODUCTS.kind]}
    positions = {one.id: one.bin_code for one in census.entities[POSITIONS.kind]}
    assert all(products.get(one.product_id) == one.item_code for one in faces)
    assert all(positions.get(one.position_id) == one.bin_code for one in faces)

    noted = {}
    carried: dict[str, set[int]] = defaultdict(set)
    for item in map(from_attributes, stack.items()):
        if item["SK"].startswith("FACE#"):
            noted[item["PK"], item["SK"]] = item["id"]
        if item["PK"].startswith("bin#"):
            carried[item["PK"]] |= item.get("assigned", set())
    keys = {one.id: f"bin#{one.whs_code}\x1f{one.bin_code}" for one in faces}
    assert noted == {
        (f"item_code#{one.item_code}", f"FACE#{keys[one.id]}"): one.id for one in faces
    }
    for key, ids in carried.items():
        assert ids == {one.product_id for one in faces if keys[one.id] == key}
