"""From which instant, and from which day of the company to which, lists show rows."""

from collections.abc import Mapping, Sequence

import pytest

from operations.provisioning import create_tenant
from shared.identity.tenancy.rules import TenantSettings
from shared.identity.tenancy.tenant import MODULES
from tests.contract.house import House
from tests.lists import LISTS
from tests.lists.description import Times
from tests.stack import ADDRESS

PERIODS = [name for name, listed in LISTS.items() if listed.period]

BORDERS: Mapping[str, Sequence[tuple[str, str]]] = {
    "America/Santiago": [
        # The clocks go back at midnight: 4 April has 25 hours.
        ("2026-04-04T02:59:59.999Z", "2026-04-03"),
        ("2026-04-04T03:00:00.000Z", "2026-04-04"),
        ("2026-04-05T02:59:59.999Z", "2026-04-04"),
        ("2026-04-05T03:00:00.000Z", "2026-04-04"),
        ("2026-04-05T03:59:59.999Z", "2026-04-04"),
        ("2026-04-05T04:00:00.000Z", "2026-04-05"),
        # They go forward at midnight: 6 September begins at one o'clock.
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
        # They go forward in the night of 27 September.
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
"""Time zone → instants at the borders of its days, and the day that each is part of."""

TIMES = {
    zone: Times(*[lambda number, of=instants: of[number - 1][0]] * 2)
    for zone, instants in BORDERS.items()
}


@pytest.fixture(scope="module")
def tenants(house: House) -> Mapping[str, str]:
    """Time zone → a tenant there."""
    slugs = {zone: zone.rpartition("/")[2].lower() for zone in BORDERS}
    for zone, slug in slugs.items():
        create_tenant(
            TenantSettings(slug, "enterprise", base_url=ADDRESS, modules=MODULES, timezone=zone)
        )
    assert house.stack.tenant("auckland").timezone == "Pacific/Auckland"
    return slugs


@pytest.mark.parametrize("zone", BORDERS)
@pytest.mark.parametrize("path", PERIODS)
def test_days_are_those_of_the_company(
    house: House, tenants: Mapping[str, str], path: str, zone: str
) -> None:
    listed, instants = LISTS[path], BORDERS[zone]
    days = sorted({day for _, day in instants})
    with house.shelf(listed, len(instants), TIMES[zone], tenants[zone]) as shelf:

        def found(**query: str) -> set[str]:
            rows = shelf.walk({"sort": "created_at", **query})
            return {shelf.rows[listed.identify(row)]["created_at"] for row in rows}

        for number, first in enumerate(days):
            assert found(**{"from": first}) == {at for at, day in instants if day >= first}
            assert found(to=first) == {at for at, day in instants if day <= first}
            for last in days[number:]:
                between = {at for at, day in instants if first <= day <= last}
                assert found(**{"from": first, "to": last}) == between
        assert found(**{"from": "0001-01-01", "to": "9999-12-31"}) == {at for at, _ in instants}


def test_a_day_is_that_of_the_company_beside_other_filters(
    house: House, tenants: Mapping[str, str]
) -> None:
    zone = "Pacific/Auckland"
    for path in PERIODS:
        listed, instants = LISTS[path], BORDERS[zone]
        with house.shelf(listed, len(instants), TIMES[zone], tenants[zone]) as shelf:
            for parameter, one in listed.filters.items():
                for value in one.values(len(instants)):
                    query = {parameter: value, "from": "2026-04-05", "to": "2026-04-05"}
                    rows = [shelf.rows[listed.identify(row)] for row in shelf.walk(query)]
                    wanted = [
                        row["created_at"]
                        for row in shelf.rows.values()
                        if one.holds(row, value)
                        and ("2026-04-04T11:" <= row["created_at"] < "2026-04-05T12:")
                    ]
                    assert sorted(row["created_at"] for row in rows) == wanted, query


def test_updated_since_includes_the_instant_itself(house: House, name: str) -> None:
    listed = LISTS[name]
    with house.shelf(listed, 26) as shelf:
        moments = sorted({row["updated_at"] for row in shelf.rows.values()})
        for moment in (moments[0], moments[len(moments) // 2], moments[-1]):
            after = moment.replace(".000Z", ".001Z")
            assert shelf.wrong([{"updated_since": moment}, {"updated_since": after}]) == []
            same = set(shelf.expected({"updated_since": moment}))
            later = set(shelf.expected({"updated_since": after}))
            assert {shelf.rows[number]["updated_at"] for number in same - later} == {moment}


@pytest.mark.parametrize(
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
def test_an_instant_may_be_written_in_any_zone(house: House, name: str, written: str) -> None:
    with house.shelf(LISTS[name], 26) as shelf:
        expected = shelf.expected({"updated_since": "2013-01-01T05:00:00.000Z"})
        found = [shelf.listed.identify(row) for row in shelf.walk({"updated_since": written})]
        assert found == expected
        assert 0 < len(found) < 26
