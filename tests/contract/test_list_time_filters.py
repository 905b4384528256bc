"""`updated_since` filters by instant; `from` and `to` filter by day in the tenant's time zone."""

from collections.abc import Mapping, Sequence

import pytest

from operations.provisioning import create_tenant
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.tenant import MODULES
from tests.cases import each_case
from tests.contract.filled_lists import FilledLists
from tests.lists import LISTS
from tests.lists.spec import Times
from tests.sampling import sampled
from tests.stack import ADDRESS

PERIODS = [name for name, spec in LISTS.items() if spec.period]

BORDERS: Mapping[str, Sequence[tuple[str, str]]] = {
    "America/Santiago": [
        # The clocks go back at midnight: 4 April has 25 hours.
        ("2026-04-04T02:59:59.999Z", "2026-04-03"),
        ("2026-04-04T03:00:00.000Z", "2026-04-04"),
        ("2026-04-05T02:59:59.999Z", "2026-04-04"),
        ("2026-04-05T03:00:00.000Z", "2026-04-04"),
        ("2026-04-05T03:59:59.999Z", "2026-04-04"),
        ("2026-04-05T04:00:00.000Z", "2026-04-05"),
        # The clocks go forward at midnight: 6 September starts at 01:00.
        ("2026-09-06T03:59:59.999Z", "2026-09-05"),
        ("2026-09-06T04:00:00.000Z", "2026-09-06"),
        ("2026-09-07T02:59:59.999Z", "2026-09-06"),
        ("2026-09-07T03:00:00.000Z", "2026-09-07"),
    ],
    "Pacific/Auckland": [
        ("2026-04-04T10:59:59.999Z", "2026-04-04"),
        ("2026-04-04T11:00:00.000Z", "2026-04-05"),
        # The clocks go back in the night of 5 April.
        ("2026-04-05T11:59:59.999Z", "2026-04-05"),
        ("2026-04-05T12:00:00.000Z", "2026-04-06"),
        ("2026-09-26T11:59:59.999Z", "2026-09-26"),
        ("2026-09-26T12:00:00.000Z", "2026-09-27"),
        # The clocks go forward in the night of 27 September.
        ("2026-09-27T10:59:59.999Z", "2026-09-27"),
        ("2026-09-27T11:00:00.000Z", "2026-09-28"),
    ],
    "UTC": [
        ("2026-02-27T23:59:59.999Z", "2026-02-27"),
        ("2026-02-28T00:00:00.000Z", "2026-02-28"),
        ("2026-02-28T23:59:59.999Z", "2026-02-28"),
        ("2026-03-01T00:00:00.000Z", "2026-03-01"),
    ],
}
"""Time zone → instants at the bounds of its days, and the day of each instant."""

TIMES = {
    zone: Times(*[lambda number, of=instants: of[number - 1][0]] * 2)
    for zone, instants in BORDERS.items()
}


@pytest.fixture(scope="module")
def tenants(lists: FilledLists) -> Mapping[str, str]:
    """Time zone → the slug of a tenant in it."""
    slugs = {zone: zone.rpartition("/")[2].lower() for zone in BORDERS}
    for zone, slug in slugs.items():
        create_tenant(
            NewTenant(slug, "enterprise", base_url=ADDRESS, modules=MODULES, timezone=zone)
        )
    assert lists.stack.tenant("auckland").timezone == "Pacific/Auckland"
    return slugs


@pytest.mark.parametrize(
    ("path", "zone"),
    [
        (path, zone)
        for path in PERIODS
        for zone in sampled(f"zone of {path}", list(BORDERS), every=len(BORDERS))
    ],
)
def test_from_and_to_are_days_in_the_tenants_time_zone(
    lists: FilledLists, tenants: Mapping[str, str], path: str, zone: str
) -> None:
    spec, instants = LISTS[path], BORDERS[zone]
    days = sorted({day for _, day in instants})
    with lists.filled(spec, len(instants), TIMES[zone], tenants[zone]) as listing:

        def found(**query: str) -> set[str]:
            rows = listing.walk({"sort": "created_at", **query})
            return {listing.rows[spec.row_id(row)]["created_at"] for row in rows}

        for number, first in enumerate(days):
            assert found(**{"from": first}) == {at for at, day in instants if day >= first}
            assert found(to=first) == {at for at, day in instants if day <= first}
            for last in days[number:]:
                between = {at for at, day in instants if first <= day <= last}
                assert found(**{"from": first, "to": last}) == between
        assert found(**{"from": "0001-01-01", "to": "9999-12-31"}) == {at for at, _ in instants}


def test_from_and_to_combine_with_filters(lists: FilledLists, tenants: Mapping[str, str]) -> None:
    zone = "Pacific/Auckland"
    for path in PERIODS:
        spec, instants = LISTS[path], BORDERS[zone]
        with lists.filled(spec, len(instants), TIMES[zone], tenants[zone]) as listing:
            for parameter, one in spec.filters.items():
                for value in one.values(len(instants)):
                    query = {parameter: value, "from": "2026-04-05", "to": "2026-04-05"}
                    rows = [listing.rows[spec.row_id(row)] for row in listing.walk(query)]
                    wanted = [
                        row["created_at"]
                        for row in listing.rows.values()
                        if one.matches(row, value)
                        and ("2026-04-04T11:" <= row["created_at"] < "2026-04-05T12:")
                    ]
                    assert sorted(row["created_at"] for row in rows) == wanted, query


def test_updated_since_includes_the_given_instant(lists: FilledLists, list_name: str) -> None:
    spec = LISTS[list_name]
    with lists.filled(spec, 26) as listing:
        moments = sorted({row["updated_at"] for row in listing.rows.values()})
        for moment in (moments[0], moments[len(moments) // 2], moments[-1]):
            after = moment.replace(".000Z", ".001Z")
            assert listing.mismatches([{"updated_since": moment}, {"updated_since": after}]) == []
            same = set(listing.expected({"updated_since": moment}))
            later = set(listing.expected({"updated_since": after}))
            assert {listing.rows[number]["updated_at"] for number in same - later} == {moment}


@each_case(
    "written",
    [
        "2013-01-01T05:00:00Z",
        "2013-01-01T05:00:00.000Z",
        "2013-01-01T05:00Z",
        "2013-01-01T02:00:00-03:00",
        "2013-01-01T18:00:00+13:00",
        "2013-01-01T10:30:00+0530",
        "2013-01-01t05:00:00,000z",
    ],
)
def test_updated_since_accepts_any_offset(lists: FilledLists, list_name: str, written: str) -> None:
    with lists.filled(LISTS[list_name], 26) as listing:
        expected = listing.expected({"updated_since": "2013-01-01T05:00:00.000Z"})
        found = [listing.spec.row_id(row) for row in listing.walk({"updated_since": written})]
        assert found == expected
        assert 0 < len(found) < 26
