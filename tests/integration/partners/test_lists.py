"""Lists of clients and providers: order, filters, pages and round trips."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import each_case
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.partners.answers import ids

type Make = Callable[..., dict[str, Any]]

NAMES = ("zebra Fittings", "Árbol Eléctrico", "Meridian", "arbour", "Meridian")
BOTH = pytest.mark.parametrize("path", ["/clients", "/providers"])


@pytest.fixture
def partners(erp: Erp, create_client: Make, create_provider: Make, clock: Clock) -> Erp:
    """Five clients and five providers, created one minute apart; then the second is changed."""
    clock.freeze()
    for number, name in enumerate(NAMES, start=1):
        email = "Shared@Meridian.example" if name == "Meridian" else f"p{number}@a.example"
        create_client(name, document_id=number * 1111, email=email)
        create_provider(name, email=email)
        clock.advance(60)
    erp.patch("/clients/2", {"phone": "2"})
    erp.patch("/providers/2", {"phone": "2"})
    return erp


@BOTH
@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("id", [1, 2, 3, 4, 5]),
        ("name", [2, 4, 3, 5, 1]),
        ("created_at", [1, 2, 3, 4, 5]),
        ("updated_at", [1, 3, 4, 5, 2]),
    ],
)
def test_partners_are_sorted_both_ways(
    partners: Erp, path: str, sort: str, order: list[int]
) -> None:
    assert ids(partners.walk(path, sort=sort, per_page=2)) == order
    assert ids(partners.walk(path, sort=f"-{sort}", per_page=2)) == order[::-1]
    narrowed = [number for number in order if number in {2, 4}]
    assert ids(partners.walk(path, sort=sort, per_page=1, search="arbo")) == narrowed
    assert ids(partners.walk(path, sort=f"-{sort}", per_page=1, search="arbo")) == narrowed[::-1]
    if sort == "id":
        assert ids(partners.walk(path)) == order


@BOTH
@each_case(
    ("query", "found"),
    [
        ({"search": "ARBOL electrico"}, [2]),
        ({"search": "meri"}, [3, 5]),
        ({"search": "fit"}, [1]),
        ({"search": "nobody"}, []),
        ({"email": "p1@a.example"}, [1]),
        ({"email": "shared@meridian.EXAMPLE", "sort": "-id"}, [5, 3]),
        ({"email": "nobody@a.example"}, []),
        ({"email": "p1@a.example", "search": "meri"}, []),
        ({"email": "p2@a.example", "search": "arb"}, [2]),
        ({"document_type": "V", "phone": "9"}, [1, 2, 3, 4, 5]),
    ],
)
def test_partners_are_filtered(
    partners: Erp, path: str, query: dict[str, str], found: list[int]
) -> None:
    assert ids(partners.walk(path, **query)) == found
    assert partners.get(path, query=query).json()["meta"]["total"] == len(found)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"document_id": "2222"}, [2]),
        ({"document_id": "222"}, []),
        ({"document_id": "2222", "email": "p2@a.example"}, [2]),
        ({"document_id": "2222", "email": "p1@a.example"}, []),
        ({"search": "22"}, [2]),
        ({"search": "1111"}, [1]),
        ({"search": "mer 3333"}, [3]),
        ({"search": "3333mer"}, []),
    ],
)
def test_clients_are_found_by_their_document_id(
    partners: Erp, query: dict[str, str], found: list[int]
) -> None:
    assert ids(partners.walk("/clients", **query)) == found


def test_search_reaches_the_end_of_a_long_name(erp: Erp, create_client: Make) -> None:
    create_client(f"{'x' * 195} Co.", document_id=9_007_199_254_740_991)

    assert ids(erp.walk("/clients", search="x co.")) == [1]


@BOTH
def test_updated_since_finds_later_changes(partners: Erp, clock: Clock, path: str) -> None:
    since = partners.get(f"{path}/4").data["updated_at"]
    clock.advance(60)
    partners.patch(f"{path}/1", {"phone": "1"})
    partners.delete(f"{path}/5")

    assert ids(partners.walk(path, updated_since=since, sort="updated_at")) == [4, 2, 1]
    assert ids(partners.walk(path, updated_since=since, search="arb")) == [2, 4]


@BOTH
def test_pages_have_their_position_and_total(partners: Erp, path: str) -> None:
    answer = partners.get(path, query={"per_page": 2, "page": 3, "sort": "name"}).json()

    assert ids(answer["data"]) == [1]
    assert [answer["meta"][name] for name in ("from", "to", "total", "last_page")] == [5, 5, 5, 3]
    assert answer["links"]["next"] is None
    assert ids(partners.follow(answer["links"]["prev"]).json()["data"]) == [3, 5]


@BOTH
def test_all_parameter_problems_are_reported_together(erp: Erp, path: str) -> None:
    query = {
        "page": 0,
        "per_page": "x",
        "sort": "email",
        "updated_since": "2026-01-01T00:00:00",
        "search": "",
        "email": "nobody",
        "document_id": "12a",
    }

    wrong = set(erp.get(path, query=query).problems)

    assert wrong == set(query) - (set() if path == "/clients" else {"document_id"})


@pytest.mark.parametrize("number", ["0", "-1", "9007199254740992", "9" * 5000, "1_0", "1.0", ""])
def test_invalid_document_id_is_refused(erp: Erp, number: str) -> None:
    answer = erp.get("/clients", query={"document_id": number})

    assert set(answer.problems) == {"document_id"}


def test_number_of_round_trips(partners: Erp, aws_faults: AwsFaults) -> None:
    partners.get("/clients")  # loads the tenant into the cache
    aws_faults.latency = 0.03

    trips, examined = {}, {}
    for path in (
        "/clients/1",
        "/providers/1",
        "/clients",
        "/clients?sort=-name",
        "/clients?document_id=1111",
        "/clients?email=p1@a.example",
        "/clients?search=arb",
        "/clients?updated_since=2020-01-01T00:00:00Z",
        "/providers",
        "/providers?sort=-updated_at",
        "/providers?email=p1@a.example",
        "/providers?search=arb",
    ):
        with aws_faults.recorded() as recording:
            assert partners.get(path).status == 200
        trips[path], examined[path] = recording.round_trips, recording.entries_examined

    assert {trips.pop("/clients/1"), trips.pop("/providers/1")} == {1}
    assert set(trips.values()) == {2}, trips
    # the entry that was updated last, and the only one with this address
    assert examined["/clients?email=p1@a.example"] == 2
    assert examined["/providers?email=p1@a.example"] == 2
    assert examined["/clients?document_id=1111"] == 1
