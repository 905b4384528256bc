"""Lists and details of waves, and who may read them."""

from collections.abc import Mapping, Sequence

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.entity_factories import picking, wave
from tests.stack import Stack

PATH = "/waves"
STATUSES = (
    "draft", "planned", "released", "in_progress", "picked", "completed", "closed", "cancelled",
)  # fmt: skip
STRATEGIES = ("discrete", "by_customer", "batch", "cluster", "zone", "pick_and_pass")
AT = "2026-03-01T09:30:00.000Z"


@pytest.fixture
def sixteen_waves(stack: Stack, erp: Erp) -> Erp:
    """Sixteen waves, two of each status, in two warehouses or in none."""
    for number in range(1, 17):
        wave(
            stack.store(),
            status=STATUSES[number % 8],
            strategy=STRATEGIES[number % 6],
            warehouse_code=("CEN", "DUB", None)[number % 3],
            created_at=f"2026-03-{number:02d}T12:00:00.000Z",
            updated_at=f"2026-04-{number * 5 % 16 + 1:02d}T08:00:00.000Z",
        )
    return erp


def test_wave_is_shown_with_its_pickings(stack: Stack, erp: Erp) -> None:
    started = picking(stack.store(), status="started", started_at=AT)
    pending = picking(stack.store())
    ended = picking(stack.store(), status="cancelled")
    facts = {
        "warehouse_code": "CEN",
        "strategy": "pick_and_pass",
        "status": "in_progress",
        "carrier_code": "DHL",
        "cutoff_at": "2026-03-01T15:00:00.000Z",
        "released_at": "2026-03-01T09:45:00.000Z",
        "metrics": {
            "orders": 3,
            "lines": 7,
            "units": 31.5,
            "trips": 1,
            "standard_minutes": 18.25,
            "ended_orders": 1,
            "allocated_units": 30,
            "short_units": 1.5,
        },
        "created_at": AT,
        "updated_at": "2026-03-01T09:50:00.000Z",
    }
    number = wave(
        stack.store(),
        **facts,
        picking_ids=[pending, ended, started],
        open_ids=[pending, started],
        begun=True,
    )

    shown = erp.get(f"{PATH}/{number}")
    head = {"id": number, "code": f"WV-{number}", **facts}
    assert shown.data == {
        **head,
        "orders": [
            {"picking_id": pending, "status": "pending"},
            {"picking_id": ended, "status": "cancelled"},
            {"picking_id": started, "status": "started"},
        ],
    }
    assert erp.get(PATH).data == [head]
    again = erp.get(f"{PATH}/{number}", headers={"If-None-Match": shown.headers["ETag"]})
    assert (again.status, again.text) == (304, "")


def test_wave_without_optional_fields_is_shown(stack: Stack, erp: Erp) -> None:
    number = wave(stack.store(), warehouse_code=None, picking_ids=[], created_at=AT, updated_at=AT)

    sums = ("orders", "lines", "units", "trips", "standard_minutes", "ended_orders")
    unknown = dict.fromkeys(("allocated_units", "short_units"))
    nothing = dict.fromkeys(sums, 0) | unknown
    assert erp.get(f"{PATH}/{number}").data == {
        "id": number,
        "code": f"WV-{number}",
        "warehouse_code": None,
        "strategy": "batch",
        "status": "draft",
        "carrier_code": None,
        "cutoff_at": None,
        "released_at": None,
        "metrics": nothing,
        "created_at": AT,
        "updated_at": AT,
        "orders": [],
    }


FOUND: Sequence[tuple[Mapping[str, str], list[int]]] = [
    ({}, list(range(1, 17))),
    ({"status": "draft"}, [8, 16]),
    ({"status": "planned"}, [1, 9]),
    ({"status": "released"}, [2, 10]),
    ({"status": "in_progress"}, [3, 11]),
    ({"status": "picked"}, [4, 12]),
    ({"status": "completed"}, [5, 13]),
    ({"status": "closed"}, [6, 14]),
    ({"status": "cancelled"}, [7, 15]),
    ({"warehouse": "CEN"}, [3, 6, 9, 12, 15]),
    ({"warehouse": "cen"}, []),
    ({"warehouse": "CEN", "status": "in_progress"}, [3]),
    ({"warehouse": "DUB", "status": "in_progress"}, []),
    ({"from": "2026-03-15"}, [15, 16]),
    ({"from": "2026-03-04", "to": "2026-03-05"}, [4, 5]),
    ({"to": "2026-03-09", "status": "planned"}, [1, 9]),
    ({"updated_since": "2026-04-15T08:00:00Z"}, [3, 6]),
    ({"updated_since": "2026-04-15T08:00:00.001Z"}, [3]),
]


def test_every_filter_returns_matching_waves(sixteen_waves: Erp) -> None:
    for query, found in FOUND:
        rows = sixteen_waves.walk(PATH, **query, sort="created_at", per_page=2)
        assert [row["id"] for row in rows] == found, query
        page = sixteen_waves.get(PATH, query={**query, "per_page": 1}).json()
        assert page["meta"]["total"] == len(found), query
        assert [row["id"] for row in page["data"]] == found[-1:], "the newest comes first"


@pytest.mark.parametrize("query", [{}, {"status": "planned"}, {"warehouse": "CEN"}])
def test_every_sort_works_in_both_directions(sixteen_waves: Erp, query: Mapping[str, str]) -> None:
    rows = sixteen_waves.walk(PATH, **query)
    assert len(rows) >= 2
    for sort in ("created_at", "updated_at"):
        expected = sorted(rows, key=lambda row: str(row[sort]))
        assert sixteen_waves.walk(PATH, **query, sort=sort, per_page=3) == expected
        assert sixteen_waves.walk(PATH, **query, sort=f"-{sort}", per_page=3) == expected[::-1]


def test_invalid_parameter_is_named(erp: Erp) -> None:
    for query, wrong in (
        ({"status": "open"}, ["status"]),
        ({"sort": "finalized_at"}, ["sort"]),
        ({"sort": "-id"}, ["sort"]),
        ({"warehouse": ""}, ["warehouse"]),
        ({"warehouse": "x" * 256}, ["warehouse"]),
        ({"from": "2026-3-1"}, ["from"]),
        ({"to": "soon"}, ["to"]),
        ({"from": "2026-03-02", "to": "2026-03-01"}, ["to"]),
        ({"updated_since": "2026-03-01"}, ["updated_since"]),
        ({"page": "-1", "per_page": "0"}, ["page", "per_page"]),
    ):
        answer = erp.get(PATH, query=query)
        assert sorted(answer.invalid_fields) == wrong


def test_status_filter_examines_only_matching_entries(
    sixteen_waves: Erp, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen:
        assert len(sixteen_waves.get(PATH, query={"status": "planned"}).data) == 2

    assert seen.entries_examined == 2


def test_missing_and_foreign_waves_are_not_found(stack: Stack, erp: Erp, beta: Erp) -> None:
    number = wave(stack.store())

    assert erp.get(f"{PATH}/{number}").status == 200
    assert beta.get(PATH).data == []
    for answer in (
        beta.get(f"{PATH}/{number}"),
        erp.get(f"{PATH}/{number + 1}"),
        erp.get(f"{PATH}/x"),
    ):
        assert (answer.status, answer.code) == (404, "not_found")
