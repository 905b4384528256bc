"""The plan of a list: the fewest index entries that cover the filters are read."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from shared.kernel.db.counters import Totals
from shared.kernel.db.lists.plan import (
    AliasPlan,
    GatheredPlan,
    OrderedPlan,
    Plan,
    SearchPlan,
    plan_list,
)
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.search import SEARCH
from shared.warehouse.catalog.repository import PRODUCTS
from shared.warehouse.documents.repository import ENTRIES, EXITS
from shared.warehouse.stock.models import CauseType
from shared.warehouse.stock.repository import MOVEMENTS, STOCK
from tests.cases import each_case
from tests.integration.db.crate_list import CRATES


def _no_totals() -> Totals:
    pytest.fail("totals may be read only when the number of entities decides")


def _planned(**query: Any) -> Plan:
    return plan_list(
        CRATES, ListQuery(**{"sort": "name", "descending": False, **query}), _no_totals
    )


def _counted(total: int, matching: int, **query: Any) -> Plan:
    counts = Totals({"n": total, "status=open": matching}, 1, 0)
    wanted = ListQuery(
        **{"sort": "name", "descending": False, "equal": {"status": "open"}, **query}
    )
    return plan_list(CRATES, wanted, lambda: counts)


@pytest.mark.parametrize(
    ("query", "index", "partition", "total"),
    [
        ({}, 3, "crate", None),
        ({"sort": "id", "equal": {"status": "open"}}, 4, "crate#status#open", "status=open"),
    ],
)
def test_list_with_an_order_of_its_own_is_read_in_this_order(
    query: Mapping[str, Any], index: int, partition: str, total: str | None
) -> None:
    plan = _planned(**query)

    assert isinstance(plan, OrderedPlan)
    assert (plan.path.index, plan.path.partition) == (index, partition)
    assert list(plan.total_names) == [total]


@each_case(
    ("query", "index", "partition"),
    [
        # lookups have few entities
        ({"equal": {"reference": "R1"}}, 5, "crate#reference#R1"),
        ({"equal": {"status": "open", "reference": "R1"}}, 5, "crate#reference#R1"),
        # then a value or range of an order
        ({"equal": {"name": "a"}}, 3, "crate"),
        ({"equal": {"name": "a", "status": "open"}}, 3, "crate"),
        ({"equal": {"id": "1", "status": "open"}}, 4, "crate#status#open"),
        ({"between": {"updated_at": ("2", None)}}, 2, "crate"),
        ({"between": {"updated_at": ("2", None)}, "equal": {"status": "open"}}, 2, "crate"),
        # then a partition, or all entries
        ({"contains": {"name": "a"}, "equal": {"status": "open"}}, 4, "crate#status#open"),
        ({"contains": {"reference": "a"}}, 1, "crate"),
        # only the index UPDATES shows facets that change often
        ({"equal": {"color": "red"}}, 2, "crate"),
    ],
)
def test_other_filters_read_the_fewest_entries(
    query: Mapping[str, Any], index: int, partition: str
) -> None:
    plan = _planned(**query)

    assert isinstance(plan, GatheredPlan)
    assert (plan.path.index, plan.path.partition) == (index, partition)
    assert not plan.reads_items


@pytest.mark.parametrize(
    ("equal", "planned"),
    [({}, SearchPlan), ({"type": "a"}, SearchPlan), ({"item_code": "A"}, GatheredPlan)],
)
def test_search_reads_its_index_unless_a_code_is_exact(
    equal: Mapping[str, str], planned: type[Plan]
) -> None:
    query = ListQuery("name", descending=False, equal=equal, contains={SEARCH: ("bolt", "m8")})
    plan = plan_list(PRODUCTS, query, _no_totals)
    assert isinstance(plan, planned)


def test_all_but_the_newest_are_read_in_order_and_the_newest_counted() -> None:
    until = {"equal": {"status": "open"}, "moving": {"id": (None, "7")}}
    plan = _planned(sort="id", **until)

    assert isinstance(plan, OrderedPlan)
    assert (plan.path.bounds, plan.total_names) == ((None, "7"), ["status=open"])
    [left_out] = plan.left_out
    assert left_out.key_condition() == (
        "P4 = :partition AND S4 >= :low",
        {":partition": "crate#status#open", ":low": "7 "},
    )
    by_name = _planned(moving={"name": (None, "b")}, sort="updated_at")
    assert isinstance(by_name, OrderedPlan)
    assert (by_name.path.index, by_name.path.bounds) == (2, (None, None))


def test_entities_that_a_moving_range_does_not_leave_out_are_read_with_the_others() -> None:
    plan = _planned(sort="name", moving={"name": (None, "b")}, unless=("status", ("open",)))

    assert isinstance(plan, OrderedPlan)
    assert (plan.path.bounds, plan.reads) == ((None, None), 1)
    [left_out] = plan.left_out
    assert left_out.bounds == ("b ", None)


@each_case(
    "query",
    [
        {"equal": {"status": "open"}, "moving": {"id": ("7", None)}},
        {"moving": {"name": (None, "b")}, "between": {"name": ("a", None)}},
        {"moving": {"name": (None, "b")}, "equal": {"color": "red"}},
        {"moving": {"name": (None, "b")}, "contains": {"name": "a"}},
        # no entry shows it
        {"moving": {"updated_at": (None, "2")}, "sort": "name"},
    ],
)
def test_other_moving_ranges_are_gathered(query: Mapping[str, Any]) -> None:
    assert isinstance(_planned(**{"sort": "id", **query}), GatheredPlan)


def test_moving_range_narrows_another_one() -> None:
    query = ListQuery("id", descending=False, between={"id": ("2", "8")}, moving={"id": ("1", "5")})
    assert query.ranges == {"id": ("2", "5")}
    assert not query.is_empty
    assert ListQuery(
        "id", descending=False, between={"id": ("6", None)}, moving={"id": (None, "5")}
    ).is_empty


@pytest.mark.parametrize(
    "query",
    [
        {"equal": {"reference": "R1", "color": "red"}},
        {"equal": {"reference": "R1"}, "sort": "updated_at"},
        {"equal": {"reference": "R1"}, "between": {"updated_at": ("2", None)}},
        {"equal": {"status": "open", "color": "red"}},
    ],
)
def test_items_are_read_when_the_entries_do_not_show_a_facet(query: Mapping[str, Any]) -> None:
    plan = _planned(**query)

    assert isinstance(plan, GatheredPlan)
    assert plan.reads_items


def test_large_partition_is_read_in_the_order_of_the_collection() -> None:
    plan = _counted(1_000_000, 500_000)

    assert isinstance(plan, OrderedPlan)
    assert (plan.path.index, plan.path.partition, plan.reads) == (3, "crate", 4)
    assert plan.total_names == ["status=open"]


def test_small_partition_is_gathered() -> None:
    plan = _counted(1_000_000, 50)

    assert isinstance(plan, GatheredPlan)
    assert plan.path.partition == "crate#status#open"
    assert not plan.reads_items


def test_order_by_a_volatile_facet_counts_the_items_to_read() -> None:
    # 25 of the page x 50 entries for each, or 100 entries and items, each like 40 entries
    assert isinstance(_counted(5_000, 100, sort="updated_at"), OrderedPlan)
    gathered = _counted(1_000_000, 100, sort="updated_at")
    assert isinstance(gathered, GatheredPlan)
    assert gathered.reads_items


@pytest.mark.parametrize(("mark", "kind"), [("a\x1f000000000001", OrderedPlan), (7, GatheredPlan)])
def test_cursor_keeps_the_kind_of_plan_it_was_made_by(mark: str | int, kind: type) -> None:
    for matching in (50, 500_000):
        assert isinstance(_counted(1_000_000, matching, after=mark), kind)


def test_reference_of_a_document_is_found_through_its_aliases() -> None:
    query = ListQuery(sort="created_at", descending=False, equal={"external_ref": "PO-1"})
    plan = plan_list(ENTRIES, query, _no_totals)

    assert isinstance(plan, AliasPlan)
    assert ("entry_ref#purchase_order\x1fPO-1", "ALIAS") in plan.aliases


@pytest.mark.parametrize(
    ("status", "bounds"), [("in", ("0" * 17 + "1", None)), ("out", ("0" * 18,) * 2)]
)
def test_rows_with_stock_are_a_range_of_the_quantities(
    status: str, bounds: tuple[str, str]
) -> None:
    query = ListQuery(sort="qty", descending=True, equal={"status": status})
    plan = plan_list(STOCK, query, _no_totals)

    assert isinstance(plan, OrderedPlan)
    assert (plan.path.partition, plan.path.sort, plan.path.bounds) == ("stock", "qty", bounds)
    assert plan.total_names == [f"status={status}"]


def test_filter_that_is_only_counted_reads_the_whole_in_its_order_if_many_match() -> None:
    query = ListQuery("created_at", descending=True, equal={"type": "pick"})

    def planned(matching: int) -> Plan:
        counts = Totals({"n": 1_000_000, "type=pick": matching}, 1, 0)
        return plan_list(MOVEMENTS, query, lambda: counts)

    many = planned(250_000)
    assert isinstance(many, OrderedPlan)
    assert (many.path.partition, many.reads, many.total_names) == ("movement", 8, ["type=pick"])
    for matching in (0, 25):
        few = planned(matching)
        assert isinstance(few, GatheredPlan)
        assert few.path.partition == "movement"


_SOME = {"status": ("open", "shut")}


def test_several_statuses_are_read_together_in_their_order() -> None:
    plan = _planned(sort="id", among=_SOME)

    assert isinstance(plan, OrderedPlan)
    assert [path.partition for path in plan.paths] == ["crate#status#open", "crate#status#shut"]
    assert plan.total_names == ["status=open", "status=shut"]


@each_case(("matching", "planned"), [(400, OrderedPlan), (3, GatheredPlan)])
def test_several_statuses_in_another_order_are_read_where_few_entries_are_examined(
    matching: int, planned: type[Plan]
) -> None:
    counts = Totals({"n": 1000, "status=open": matching, "status=shut": 5}, 1, 0)
    query = ListQuery("name", descending=False, among=_SOME)
    plan = plan_list(CRATES, query, lambda: counts)

    assert isinstance(plan, planned)
    assert isinstance(plan, OrderedPlan | GatheredPlan)
    assert [path.partition for path in plan.paths] == (
        ["crate"] if planned is OrderedPlan else ["crate#status#open", "crate#status#shut"]
    )


def test_few_entries_after_a_moment_are_merged_with_whole_partitions() -> None:
    recent = {"id": ("7", None)}
    plan = _planned(sort="id", among=_SOME, moving=recent, unless=("status", ("shut",)))

    assert isinstance(plan, OrderedPlan)
    assert [path.partition for path in plan.paths] == ["crate#status#shut"]
    assert plan.total_names == ["status=shut"]
    [beside] = plan.beside
    assert (beside.partition, beside.bounds) == ("crate#status#open", ("7", None))


def test_work_of_any_type_with_an_id_is_looked_up_by_each_type() -> None:
    causes = tuple(f"{kind}\x1f7" for kind in get_args(CauseType))
    query = ListQuery("created_at", descending=True, among={"document": causes})
    plan = plan_list(MOVEMENTS, query, _no_totals)

    assert isinstance(plan, GatheredPlan)
    assert {one.index for one in plan.paths} == {7}
    assert [one.partition for one in plan.paths] == [f"movement#document#{one}" for one in causes]


@each_case(
    ("query", "index"),
    [
        ({"equal": {"type": "tool"}}, 7),
        ({"equal": {"type": "tool", "item_code": "A"}}, 3),
        ({"equal": {"type": "tool"}, "between": {"updated_at": ("2", None)}}, 2),
    ],
)
def test_type_of_products_is_read_unless_another_filter_is_narrower(
    query: Mapping[str, Any], index: int
) -> None:
    plan = plan_list(PRODUCTS, ListQuery("id", descending=False, **query), _no_totals)

    assert isinstance(plan, GatheredPlan)
    assert plan.path.index == index


def test_entries_of_what_stays_do_not_show_the_status() -> None:
    query = ListQuery("created_at", False, equal={"type": "sale_order", "status": "open"})

    def planned(opened: int) -> Plan:
        counts = Totals({"n": 900, "type=sale_order": 20, "status=open": opened}, 1, 0)
        return plan_list(EXITS, query, lambda: counts)

    by_status, by_type = planned(700), planned(900)
    assert isinstance(by_status, GatheredPlan)
    assert isinstance(by_type, GatheredPlan)
    assert (by_status.path.index, by_status.reads_items) == (4, False)
    assert (by_type.path.index, by_type.reads_items) == (8, True)


def test_entries_of_what_stays_show_the_due_date() -> None:
    due = {"due_date": (None, "2026-04-15")}
    query = ListQuery("created_at", False, equal={"type": "sale_order"}, between=due)
    plan = plan_list(EXITS, query, _no_totals)

    assert isinstance(plan, GatheredPlan)
    assert (plan.path.index, plan.reads_items) == (8, False)
