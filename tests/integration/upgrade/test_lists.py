"""An upgraded table has the same lists as one that the new release has filled from the start."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from operations.stored_collections import COLLECTIONS
from operations.table_indexes import add_missing_indexes
from operations.upgrade import upgrade_tables
from shared.kernel.db import schema
from shared.kernel.db.alias_entries import bring_alias_up_to_date
from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import read_totals
from shared.kernel.db.items import from_attributes
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.records import HEAD, SCHEMA, Record, decode_entity
from shared.kernel.db.schema import FIRST_VERSION, TableVersion
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import UnservedTable
from shared.warehouse.stock.repository import LEVELS, TOTALS
from tests import recorded
from tests.clock import Clock
from tests.faults import AwsFaults, Call, before_each
from tests.integration.stored_entities import collections
from tests.integration.upgrade.conftest import PutTable, set_version
from tests.integration.upgrade.invention import (
    FURTHER_MARK,
    MARK,
    SHAPE,
    TARGET,
    invented_version,
    mark_of,
    shape_of,
)  # fmt: skip
from tests.integration.upgrade.writers import Writers, WritersInTurn, store_of
from tests.lists import LISTS
from tests.lists.spec import HOURLY, Listed
from tests.recorded import ROWS, STORY
from tests.sampling import is_complete, sampled
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

RECORDED = recorded.recorded()
_LISTS = [name for name in LISTS if name in RECORDED.tables]
"""The lists that the previous release has."""
DESCRIBED = {listed.collection.kind: listed for listed in LISTS.values()}


def heads(items: list[dict[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    """Yield the heads of the entities of a kind."""
    for attributes in items:
        if attributes["SK"]["S"] == HEAD and attributes["PK"]["S"].partition("#")[0] == kind:
            item = from_attributes(attributes)
            if not item.get("deleted"):
                yield item


def numbers_of(stack: Stack, kind: str) -> list[int]:
    """Return the ids of the entities of a kind in a table."""
    return [int(head["id"]) for head in heads(stack.items(), kind)]


# The recorded tables


def test_recorded_tables_are_of_the_version_before_or_of_this_one() -> None:
    """A release with a new version is developed against the tables of the one before.

    After two new versions without a release in between, nothing would show that tables of the
    older one are refused. Record the tables at each release (CONTRIBUTING.md).
    """
    assert schema.SCHEMA_VERSION - 1 <= RECORDED.version <= schema.SCHEMA_VERSION


@pytest.mark.parametrize("name", RECORDED.tables)
def test_recorded_items_are_what_this_code_writes_in_a_table_of_their_version(name: str) -> None:
    """Who adds a facet or an index has to raise SCHEMA_VERSION and to name it in `since`."""
    items = RECORDED.tables[name]
    for kind, collection in COLLECTIONS.items():
        form = collection.at(RECORDED.version)
        for head in heads(items, kind):
            entity = decode_entity(form.model, head, {}).entity  # type: ignore[union-attr]
            _, wanted, _ = form._items(_Writing(RECORDED.version), head["id"], 1, entity)  # type: ignore[arg-type]
            shown = {key: value for key, value in wanted.items() if value is not None}
            for attribute in (head.keys() | shown.keys()) - {"data", "version", "parts"}:
                assert head.get(attribute) == shown.get(attribute), (kind, head["id"], attribute)


class _Writing:
    """Substitute for a transaction on a table of a version, which notes no changes."""

    noted_by = None

    def __init__(self, version: int) -> None:
        self.store = self.outbox = self
        self.version = TableVersion.of(version)


def test_every_collection_is_upgraded() -> None:
    assert {one.kind for one in collections()} == COLLECTIONS.keys()


# Lists after an upgrade under concurrent writes


def fresh_copy(stack: Stack, collections: Iterable[Collection[Any]]) -> Store:
    """Fill the table of beta with the entities of acme, by the code of the new release."""
    add_missing_indexes("beta", lambda _: None)
    set_version("beta", TARGET)
    mine = tuple(
        f"{begin}#"
        for one in collections
        for begin in (one.kind, f"count#{one.kind}", f"count#{one.totals_within or one.kind}")
    )
    items = stack.items()
    others = [item for item in items if not f"{item['PK']['S']}#".startswith(mine)]
    recorded.put(others, "beta")
    source, store = store_of("acme"), store_of("beta")
    for collection in collections:
        for head in heads(items, collection.kind):
            record = collection.get(source, int(head["id"]))
            run_transaction(store, partial(_insert_copy, collection=collection, record=record))
    return store


def _insert_copy(tx: Transaction, collection: Collection[Any], record: Record[Any]) -> None:
    collection.insert(tx, record.id, record.entity, version=record.version)
    bring_alias_up_to_date(tx, collection, record)


def interface_queries(listed: Listed) -> Iterator[Mapping[str, object]]:
    filters = listed.all_filters(HOURLY).items()
    yield {}
    yield from ({name: value} for name, one in filters for value in one.values(ROWS)[:2])
    for sort in listed.sorts:
        yield from ({"sort": sort}, {"sort": f"-{sort}", "page": 2})


def new_queries(collection: Collection[Any]) -> Iterator[ListQuery]:
    sort = next(iter(collection.sorts))
    for shape in ("1", "2"):
        yield ListQuery(sort, descending=False, equal={SHAPE: shape})
        yield ListQuery(sort, descending=True, equal={SHAPE: shape, MARK: "even"})
    yield ListQuery(SHAPE, descending=True)
    yield from (ListQuery(sort, descending=False, equal={MARK: m}) for m in ("even", FURTHER_MARK))


def page_of(store: Store, collection: Collection[Any], query: ListQuery) -> tuple[Any, ...]:
    page = read_page(store, collection, query)
    return page.total, [(one.id, one.version, one.entity) for one in page.records]


# Lists in one table, and in a complete run also each list on its own with more requests.
@pytest.mark.parametrize(
    "names",
    [
        sampled("upgraded lists", _LISTS, every=2),
        *([name] for name in _LISTS if is_complete()),
    ],
)
def test_upgraded_lists_equal_those_made_fresh(  # noqa: PLR0917
    put_table: PutTable, stack: Stack, clock: Clock, aws_faults: AwsFaults, names: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    clock.freeze()  # however long moto takes
    put_table(*names)
    writers = [
        Writers.of(LISTS[name], RECORDED.version, clock, rows=ROWS, seed=sum(name.encode()))
        for name in names
    ]
    in_turn = WritersInTurn(writers, clock)
    monkeypatch.setattr(clock, "sleep", in_turn.sleep)
    collections = [LISTS[name].collection for name in names]
    with invented_version(monkeypatch, *collections):
        with aws_faults.faulty(in_turn.between):
            (done,) = upgrade_tables(["acme"])
        for one in writers:
            one.finish()

        assert done.version == TARGET
        assert store_of("acme").version == TableVersion.of(TARGET)
        fresh = fresh_copy(stack, collections)
        for one in writers:
            assert one.committed > (20 if len(names) == 1 else 2), one.listed.name
            assert one.refused > 0, one.listed.name
            _assert_equal_lists(stack, one.listed, fresh)


def _assert_equal_lists(stack: Stack, listed: Listed, fresh: Store) -> None:
    """Assert that a list of acme equals that of beta, whose table is `fresh`."""
    collection, kind = listed.collection, listed.collection.kind
    present = [*heads([*stack.unsorted_items()], kind)]
    assert {head[SCHEMA] for head in present} == {TARGET}
    numbers = sorted(int(head["id"]) for head in present)
    assert numbers
    entities = [collection.get(fresh, number).entity for number in numbers]
    for query in new_queries(collection):
        page = page_of(store_of("acme"), collection, query)
        assert page == page_of(fresh, collection, query), query
        if query.equal.keys() == {SHAPE}:
            wanted = sum(shape_of(one) == query.equal[SHAPE] for one in entities)
            assert page[0] == wanted, query
        elif query.equal == {MARK: "even"}:
            assert page[0] == sum(mark_of(one) is not None for one in entities)
    for asked in sampled(listed.name, list(interface_queries(listed)), every=16):
        every = {"per_page": 100, **listed.fixed_query, **asked}
        upgraded = stack.erp("acme").get(listed.path, query=every)
        assert upgraded.status == 200, upgraded.text
        expected = stack.erp("beta").get(listed.path, query=every)
        for part in ("data", "meta"):
            assert upgraded.json()[part] == expected.json()[part], asked
    totals = collection.totals(store_of("acme")).counts
    assert {n: v for n, v in totals.items() if v} == {
        n: v for n, v in collection.totals(fresh).counts.items() if v
    }


def test_lists_are_right_at_every_call_of_the_upgrade(
    put_table: PutTable, stack: Stack, aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Requests use the old indexes and totals until the upgrade is completed."""
    listed = LISTS["/exit-documents"]
    put_table(listed.name)
    erp = stack.erp()
    queries: tuple[dict[str, str], ...] = ({}, {"status": "open"}, {"sort": "priority"})
    expected = [erp.get(listed.path, query=query).json()["data"] for query in queries]
    assert all(expected)

    def read(_: Call) -> None:
        for query, rows in zip(queries, expected, strict=True):
            answer = erp.get(listed.path, query=query)
            assert answer.json()["data"] == rows
            assert answer.json()["meta"]["total"] == len(rows)

    with (
        invented_version(monkeypatch, listed.collection),
        aws_faults.faulty(before_each(read)),
    ):
        list(upgrade_tables(["acme"]))


def test_new_release_serves_a_table_of_the_version_before(
    put_table: PutTable, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes the old form, and refuses only lists that need what is new."""
    put_table("/clients")
    collection = LISTS["/clients"].collection
    with invented_version(monkeypatch, collection):
        erp, store = stack.erp(), store_of("acme")
        draft = {"document_id": 90_000_001, "name": "Late"}
        erp.post("/clients", draft).ok(201)
        assert erp.get("/clients", query={"sort": "-id"}).json()["meta"]["total"] == ROWS + 1
        for query in (
            ListQuery("id", descending=False, equal={SHAPE: "1"}),
            ListQuery(SHAPE, descending=False),
        ):
            with pytest.raises(UnservedTable, match=f"needs version {TARGET} of the table of acme"):
                read_page(store, collection, query)
        for head in heads(stack.items(), "client"):
            assert head.get(SCHEMA, FIRST_VERSION) <= RECORDED.version
            assert SHAPE not in str(head)
        assert read_totals(store, "client").counts.keys() == {"n"}


_LEVELS = (LEVELS.kind, TOTALS.kind)


def test_story_goes_on_in_the_upgraded_table(
    put_table: PutTable, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All collections change at once, in a table with items of every kind."""
    put_table(STORY)
    kept = {(item["PK"]["S"], item["SK"]["S"]): item for item in stack.items()}
    with invented_version(monkeypatch, *(DESCRIBED[kind].collection for kind in DESCRIBED)):
        (done,) = upgrade_tables(["acme"])
        # A document that is rewritten adds its shares to levels, which then have the new form.
        levels = sum(len(numbers_of(stack, kind)) for kind in _LEVELS)
        rewritten = sum(len(numbers_of(stack, kind)) for kind in DESCRIBED) - 1
        assert rewritten - levels <= done.rewritten <= rewritten
        for item in (item for item in stack.items() if "data" in item):
            if item["PK"]["S"].partition("#")[0] in _LEVELS:
                continue
            before = kept.get((item["PK"]["S"], item["SK"]["S"]), item)
            for name in ("data", "version", "parts", "id"):
                assert item.get(name) == before.get(name)
        store = store_of("acme")
        for kind, listed in DESCRIBED.items():
            collection = listed.collection
            records = collection.get_many(store, numbers_of(stack, kind))
            found = page_of(store, collection, ListQuery(SHAPE, descending=False, per_page=100))
            assert found[0] == len(records), kind
            for shape in ("", "1", "2"):
                total = collection.totals(store).of(f"{SHAPE}={shape}")
                assert total == sum((shape_of(one.entity) or "") == shape for one in records)
        assert_invariants(store)
