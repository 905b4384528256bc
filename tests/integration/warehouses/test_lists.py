"""Lists of warehouses and positions: order, filters and pages."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import each_case
from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.warehouses.answers import codes

type Make = Callable[..., dict[str, Any]]


@pytest.fixture
def depots(erp: Erp, create_warehouse: Make, create_position: Make, clock: Clock) -> Erp:
    """Two warehouses, a virtual warehouse and five positions, created one minute apart."""
    clock.freeze()

    def later(make: Make, *of: str, **fields: object) -> None:
        make(*of, **fields)
        clock.advance(60)

    later(create_warehouse, "DUB", name="Árbol")
    later(create_warehouse, "CEN", name="zebra")
    later(create_warehouse, "VIR", name="Mañana", is_virtual=True)
    later(create_position, "B-01", pick_sequence=10)
    later(create_position, "a-02", pick_sequence=9)
    later(create_position, "A-01")
    later(create_position, "A-01-1", pick_sequence=100)
    later(create_position, "A-01", whs_code="DUB", pick_sequence=1)
    return erp


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("whs_code", ["CEN", "DUB", "VIR"]),
        ("name", ["DUB", "VIR", "CEN"]),
        ("updated_at", ["DUB", "CEN", "VIR"]),
    ],
)
def test_warehouses_are_sorted_both_ways(depots: Erp, sort: str, order: list[str]) -> None:
    assert codes(depots.walk("/warehouses", sort=sort, per_page=2)) == order
    assert codes(depots.walk("/warehouses", sort=f"-{sort}", per_page=2)) == order[::-1]
    if sort == "whs_code":
        assert codes(depots.walk("/warehouses")) == order


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"whs_code": "CEN"}, ["CEN"]),
        ({"whs_code": "cen"}, []),
        ({"search": "ce"}, ["CEN"]),
        ({"search": "MANANA"}, ["VIR"]),
        ({"is_virtual": "true"}, ["VIR"]),
        ({"is_virtual": "0"}, ["CEN", "DUB"]),
        ({"is_virtual": "false", "search": "r", "sort": "-name"}, ["CEN", "DUB"]),
    ],
)
def test_warehouses_are_filtered(depots: Erp, query: dict[str, str], found: list[str]) -> None:
    assert codes(depots.walk("/warehouses", **query)) == found


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("bin_code", [3, 5, 4, 1, 2]),
        ("pick_sequence", [3, 5, 2, 1, 4]),
        ("updated_at", [1, 2, 3, 4, 5]),
    ],
)
def test_positions_are_sorted_both_ways(depots: Erp, sort: str, order: list[int]) -> None:
    def ids(**query: object) -> list[int]:
        return [row["id"] for row in depots.walk("/warehouse-positions", per_page=2, **query)]

    assert ids(sort=sort) == order
    assert ids(sort=f"-{sort}") == order[::-1]
    in_cen = [number for number in order if number != 5]
    for place in ({"warehouse": "CEN"}, {"warehouse_id": 2}):
        assert ids(sort=sort, **place) == in_cen
        assert ids(sort=f"-{sort}", **place) == in_cen[::-1]
    if sort == "bin_code":
        assert ids() == order


@each_case(
    ("query", "found"),
    [
        ({"warehouse": "DUB"}, [5]),
        ({"warehouse_id": "1"}, [5]),
        ({"warehouse_id": "1", "warehouse": "DUB"}, [5]),
        ({"warehouse_id": "1", "warehouse": "CEN"}, []),
        ({"warehouse_id": "99"}, []),
        ({"warehouse": "NIX"}, []),
        ({"warehouse": "x" * 255, "bin_code": "y" * 255}, []),
        ({"bin_code": "A-01"}, [3, 5]),
        ({"bin_code": "A-01", "warehouse": "CEN"}, [3]),
        ({"bin_code": "a-01"}, []),
        ({"search": "a-0"}, [3, 5, 4, 2]),
        ({"search": "01", "warehouse_id": "2", "sort": "-bin_code"}, [1, 4, 3]),
    ],
)
def test_positions_are_filtered(depots: Erp, query: dict[str, str], found: list[int]) -> None:
    assert [row["id"] for row in depots.walk("/warehouse-positions", **query)] == found


def test_updated_since_finds_later_changes(depots: Erp, clock: Clock) -> None:
    since = depots.get("/warehouse-positions/4").data["updated_at"]
    clock.advance(60)
    depots.patch("/warehouse-positions/1", {"slot": "1"})
    depots.patch("/warehouses/3", {"city": "Cork"})

    positions = depots.walk("/warehouse-positions", updated_since=since, sort="updated_at")

    assert [row["id"] for row in positions] == [4, 5, 1]
    in_dub = depots.walk("/warehouse-positions", updated_since=since, warehouse="DUB")
    assert [row["id"] for row in in_dub] == [5]
    assert codes(depots.walk("/warehouses", updated_since=since)) == ["VIR"]


def test_pages_have_their_position_and_total(depots: Erp) -> None:
    query = {"per_page": 2, "page": 2, "warehouse": "CEN"}

    answer = depots.get("/warehouse-positions", query=query).json()

    meta = answer["meta"]
    assert codes(answer["data"]) == ["B-01", "a-02"]
    assert [meta[name] for name in ("from", "to", "total", "last_page")] == [3, 4, 4, 2]
    assert answer["links"]["next"] is None
    previous = depots.follow(answer["links"]["prev"]).json()["data"]
    assert codes(previous) == ["A-01", "A-01-1"]


@pytest.mark.parametrize("path", ["/warehouses", "/warehouse-positions"])
def test_all_parameter_problems_are_reported_together(erp: Erp, path: str) -> None:
    query = {
        "page": 0,
        "per_page": "x",
        "sort": "id",
        "updated_since": "2026-01-01T00:00:00",
        "search": "",
        "whs_code": "\x00",
        "is_virtual": "maybe",
        "warehouse_id": "1.5",
        "warehouse": "",
        "bin_code": "x" * 256,
    }

    wrong = set(erp.get(path, query=query).problems)

    shared = {"page", "per_page", "sort", "updated_since", "search"}
    own = {
        "/warehouses": {"whs_code", "is_virtual"},
        "/warehouse-positions": {"warehouse_id", "warehouse", "bin_code"},
    }
    assert wrong == shared | own[path]


@pytest.mark.parametrize("number", ["0", "-1", "9" * 13, "9" * 5000, "1_0", ""])
def test_invalid_id_is_refused(erp: Erp, number: str) -> None:
    answer = erp.get("/warehouse-positions", query={"warehouse_id": number})

    assert set(answer.problems) == {"warehouse_id"}
