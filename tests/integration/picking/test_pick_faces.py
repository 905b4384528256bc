"""Allocation from the pick faces of products."""

from tests.faults import AwsFaults
from tests.warehouse_scenario import WarehouseScenario


def _assign(yard: WarehouseScenario, item_code: str, bin_code: str) -> int:
    body = {"item_code": item_code, "warehouse_code": "YARD", "bin_code": bin_code}
    return yard.erp.post("/pick-faces", body).id


def _places(yard: WarehouseScenario, *lines: tuple[str, float]) -> list[tuple[str, str, float]]:
    """Return where stock is allocated for an order; the allocations are released again."""
    shown = yard.picking(yard.order(*lines))
    assert yard.act(shown["id"], "cancel").status == 200
    return [(line["item_code"], line["bin_code"], line["qty"]) for line in shown["lines"]]


def _with_tiles(yard: WarehouseScenario) -> None:
    """Put five BRICK and five TILE at each of A-01, B-01 and F-01, in this order."""
    yard.erp.post("/products", {"item_code": "TILE", "name": "Tile"})
    for bin_code in ("A-01", "B-01", "F-01"):
        for item_code in ("BRICK", "TILE"):
            yard.stock(item_code, 5, bin_code)


def test_each_product_is_allocated_from_its_own_pick_faces_first(yard: WarehouseScenario) -> None:
    _with_tiles(yard)
    both = (("BRICK", 7), ("TILE", 7))
    assert _places(yard, *both) == [
        ("BRICK", "F-01", 5), ("BRICK", "A-01", 2), ("TILE", "F-01", 5), ("TILE", "A-01", 2),
    ]  # fmt: skip

    of_brick = _assign(yard, "BRICK", "F-01")
    of_tile = _assign(yard, "TILE", "B-01")

    assert _places(yard, *both) == [
        ("BRICK", "F-01", 5), ("BRICK", "A-01", 2), ("TILE", "B-01", 5), ("TILE", "A-01", 2),
    ]  # fmt: skip
    assert _places(yard, ("TILE", 15)) == [
        ("TILE", "B-01", 5), ("TILE", "A-01", 5), ("TILE", "F-01", 5),
    ], "another product's pick face is a place like any other"  # fmt: skip
    assert _places(yard, ("BRICK", 15))[1:] == [("BRICK", "A-01", 5), ("BRICK", "B-01", 5)]
    for number in (of_brick, of_tile):
        assert yard.erp.delete(f"/pick-faces/{number}").status == 200
    assert _places(yard, ("TILE", 7)) == [("TILE", "F-01", 5), ("TILE", "A-01", 2)]


def test_unusable_pick_face_is_skipped(yard: WarehouseScenario) -> None:
    _with_tiles(yard)
    _assign(yard, "TILE", "B-01")

    yard.erp.patch("/warehouse-positions/2", {"is_blocked": True})
    blocked = _places(yard, ("TILE", 6))
    yard.erp.patch("/warehouse-positions/2", {"is_blocked": False})
    free_again = _places(yard, ("TILE", 6))

    assert blocked == [("TILE", "F-01", 5), ("TILE", "A-01", 1)]
    assert free_again == [("TILE", "B-01", 5), ("TILE", "F-01", 1)], "it is still assigned"


def test_pick_faces_add_no_call_to_allocation(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    _with_tiles(yard)
    first, *others = [yard.order(("BRICK", 2), ("TILE", 2)) for _ in range(3)]
    yard.picking(first)

    def calls(order: int) -> list[str]:
        with aws_faults.recorded() as recording:
            yard.picking(order)
        return sorted(recording.operations)

    before = calls(others[0])
    _assign(yard, "TILE", "B-01")

    assert calls(others[1]) == before
