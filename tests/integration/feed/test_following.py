"""A follower of the feed sees each transaction once, in order, and what it may read."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.identity.auth.scopes import SCOPES
from shared.integration.changes import service
from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.changes.models import ChangesParameters
from shared.kernel.caller import Caller
from shared.kernel.db.items import to_attributes
from shared.kernel.db.outbox_item import VersionChange
from shared.kernel.db.schema import TableVersion
from shared.kernel.errors import Gone, UnservedTable, ValidationFailed
from shared.kernel.events.feed import CHUNK_SECONDS, FeedHead, head_item
from shared.kernel.json_text import dumps
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.feed_scenario import FeedScenario, append_transactions

_CLIENT = Caller(
    tenant="acme", subject="erp", kind="client", client_id="erp", scopes=frozenset(SCOPES),
    permissions=frozenset(), second_factor=True, token_id="t1",
)  # fmt: skip


def _reader(feed: FeedScenario, **caller: Any) -> Reader:
    return Reader(feed.store, feed.stack.tenant(), replace(_CLIENT, **caller))


def _read(feed: FeedScenario, caller: dict[str, Any] | None = None, **query: Any) -> dict[str, Any]:
    """Return a page as the interface shows it."""
    parameters = ChangesParameters.model_validate(query)
    page = service.list_changes(_reader(feed, **(caller or {})), parameters)
    data = [one.model_dump() for one in page.transactions]
    return {"data": data, **page.frame.model_dump()}


def _followed(feed: FeedScenario, **query: Any) -> Iterator[dict[str, Any]]:
    """Yield all transactions, page by page."""
    after = 0
    while True:
        page = _read(feed, after=after, **query)
        yield from page["data"]
        if page["meta"]["last"] == page["meta"]["latest"]:
            return
        assert page["meta"]["last"] > after
        after = page["meta"]["last"]


def test_a_page_shows_who_changed_what_and_where_to_continue(feed: FeedScenario) -> None:
    number = feed.create(1)["id"]
    feed.rename(number, "Another")
    assert feed.webhooks.erp.delete(f"/products/{number}").status == 200
    feed.relay()
    base = feed.stack.tenant().base_url

    page = _read(feed, objects="product", per_page="2")

    assert [one["position"] for one in page["data"]] == [1, 2]
    created, renamed = (one["changes"] for one in page["data"])
    change = {"object": "product", "id": number, "href": f"{base}/products/{number}"}
    assert created == [{**change, "version": 1, "operation": "created"}]
    assert renamed == [{**change, "version": 2, "operation": "updated"}]
    assert page["meta"] == {"after": 0, "last": 2, "latest": 3, "epoch": feed.head.epoch}
    query = f"objects=product&per_page=2&after=2&epoch={feed.head.epoch}"
    assert sorted(page["links"]["next"].partition("?")[2].split("&")) == sorted(query.split("&"))
    (deleted,) = _read(feed, objects="product", after=2)["data"]
    assert deleted["changes"] == [{**change, "version": 3, "operation": "deleted"}]
    assert deleted["actor"]["type"] == "client"
    assert deleted["request_id"]
    end = _read(feed, after=3)
    assert (end["data"], end["meta"]["last"]) == ([], 3)
    assert end["links"]["next"]


def test_pages_of_any_size_show_each_transaction_once(feed: FeedScenario) -> None:
    for number in range(1, 8):
        feed.create(number)
        if number in {1, 2, 5}:
            feed.relay()
    feed.relay()
    whole = list(_followed(feed))
    assert [one["position"] for one in whole] == list(range(1, feed.head.position + 1))
    for per_page in (1, 2, 3, 500):
        assert list(_followed(feed, per_page=per_page)) == whole


def test_resources_are_shown_as_they_are_now(feed: FeedScenario) -> None:
    kept, gone = feed.create(1), feed.create(2)
    feed.rename(kept["id"], "Another")
    assert feed.webhooks.erp.delete(f"/products/{gone['id']}").status == 200
    feed.relay()
    shown = [
        (change["id"], change["resource"])
        for one in _read(feed, objects="product", include="resource")["data"]
        for change in one["changes"]
    ]
    (row,) = (one for one in feed.webhooks.erp.get("/products").data if one["id"] == kept["id"])
    now = {name: row[name] for name in ("id", "item_code", "name")}
    for number, resource in shown:
        if number == gone["id"]:
            assert resource is None
        else:
            assert resource["version"] == 2
            assert {name: resource[name] for name in now} == now


def test_a_level_is_shown_though_its_record_has_another_id(feed: FeedScenario) -> None:
    erp = feed.webhooks.erp
    product = feed.create(1)
    assert erp.post("/warehouses", {"whs_code": "W1", "name": "One"}).status == 201
    position = {"whs_code": "W1", "bin_code": "A-01"}
    assert erp.post("/warehouse-positions", position).status == 201
    goods = {"item_code": product["item_code"], "warehouse": "W1", "bin_code": "A-01"}
    answer = erp.post("/stock-adjustments", {**goods, "increase": 5, "reason": "Count"})
    assert answer.status == 201, answer.text
    feed.relay()
    (entry,) = _read(feed, objects="stock_level", include="resource")["data"]
    (change,) = entry["changes"]
    assert change["href"].endswith(f"/stock-levels?product_id={product['id']}")
    level = change["resource"]
    assert (level["item_code"], level["on_hand"], level["version"]) == (product["item_code"], 5, 1)


def test_a_page_shows_the_requests_that_made_the_changes(feed: FeedScenario) -> None:
    number = feed.create(1)["id"]
    append_transactions(feed.store, [[VersionChange("product", number, 1, 2)]])
    feed.relay()

    shown = _read(feed, include="action,resource", objects="product")
    assert {one["action"] for one in shown["data"]} == {"POST /products", None}
    assert {one["changes"][0]["resource"]["id"] for one in shown["data"]} == {number}
    assert "include=action%2Cresource" in shown["links"]["next"]
    assert "action" not in _read(feed, include="resource")["data"][0]


def test_resources_of_a_page_are_limited_but_never_below_one_entry(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        feed.create(number)
    feed.relay()
    query: dict[str, Any] = {"include": "resource", "objects": "product"}
    monkeypatch.setattr(service, "_MOST_RESOURCES", 2)
    assert _read(feed, **query)["meta"]["last"] == 2
    monkeypatch.setattr(service, "_MOST_BYTES", 1)
    assert _read(feed, **query)["meta"]["last"] == 1
    assert len(list(_followed(feed, **query))) == 3


def test_a_transaction_whose_resources_exceed_a_response_comes_without(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.create(1)
    feed.relay()
    query: dict[str, Any] = {"include": "resource", "objects": "product"}
    whole = _read(feed, **query)
    size = len(json.dumps(dumps(whole["data"][0])))
    monkeypatch.setattr(service, "_MOST_BYTES", size)
    assert _read(feed, **query) == whole
    monkeypatch.setattr(service, "_MOST_BYTES", size - 1)
    [entry] = _read(feed, **query)["data"]
    [change] = whole["data"][0]["changes"]
    assert entry["changes"] == [{name: change[name] for name in change if name != "resource"}]
    [entry] = _read(feed, objects="product", include="resource,action")["data"]
    assert (entry["action"], "resource" in entry["changes"][0]) == ("POST /products", False)


def test_resources_are_not_read_beyond_the_page_that_shows_them(
    feed: FeedScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 8):
        feed.create(number)
    feed.relay()
    monkeypatch.setattr(service, "_AT_ONCE", 2)
    query: dict[str, Any] = {"include": "resource", "objects": "product"}
    shown = [change for one in _read(feed, **query)["data"] for change in one["changes"]]
    assert [one["resource"]["id"] for one in shown] == [one["id"] for one in shown]
    assert len(shown) == 7
    monkeypatch.setattr(service, "_MOST_BYTES", 1)
    with aws_faults.recorded() as seen:
        assert _read(feed, **query)["meta"]["last"] == 1
    [read] = [call.request for call in seen.calls if call.operation == "BatchGetItem"]
    assert len(read["RequestItems"][feed.store.table]["Keys"]) == 2


@pytest.mark.parametrize("include", [None, "resource"])
def test_a_page_of_large_transactions_fits_into_a_response(
    feed: FeedScenario, include: str | None
) -> None:
    number = feed.create(1)["id"]
    # Lambda writes each letter with an accent as six bytes.
    metadata = {f"k{part}": "ñ" * 250 for part in range(16)}
    erp = feed.webhooks.erp
    assert erp.patch(f"/products/{number}", {"metadata": metadata}).status == 200
    feed.relay()
    others = 1 if include else 75
    first = feed.head.position
    append_transactions(
        feed.store,
        (
            [VersionChange("product", number, at, at + 1)]
            + [VersionChange("stock_movement", at * 75 + one, None, 1) for one in range(others)]
            for at in range(2, 502)
        ),
    )
    query = {"after": first, "per_page": 500, **({"include": include} if include else {})}

    page = erp.get("/changes", query=query)

    assert page.status == 200, page.text
    last = page.json()["meta"]["last"]
    assert first < last < feed.head.position
    assert page.data[-1]["position"] == last
    assert erp.follow(page.json()["links"]["next"]).data[0]["position"] == last + 1


def test_objects_that_the_caller_may_not_read_are_left_out(feed: FeedScenario) -> None:
    feed.create(1)
    assert feed.webhooks.erp.post("/warehouses", {"whs_code": "W1", "name": "One"}).status == 201
    feed.relay()
    scopes = {"scopes": frozenset({"changes:read", "warehouses:read"})}
    page = _read(feed, scopes)
    objects = {change["object"] for one in page["data"] for change in one["changes"]}
    assert objects == {"warehouse"}
    assert page["meta"]["last"] == page["meta"]["latest"] == 2
    assert _read(feed, scopes, objects="product")["data"] == []
    latest = service.latest_position(_reader(feed, **scopes))
    assert set(latest.checksums) == {"warehouse", "warehouse_position", "pick_face", "export"}


def test_users_need_the_permission_of_a_list(feed: FeedScenario) -> None:
    user: dict[str, Any] = {"kind": "user", "subject": "7", "scopes": frozenset[str]()}
    without = service.latest_position(_reader(feed, **user)).checksums
    manager = service.latest_position(
        _reader(feed, **user, permissions=frozenset({"users.manage"}))
    ).checksums
    assert set(manager) - set(without) == {"user", "role", "api_client", "webhook"}
    assert "product" in without


def test_the_latest_position_has_the_checksums_of_a_copy(feed: FeedScenario) -> None:
    for number in (1, 2):
        feed.create(number)
    feed.relay()
    latest = service.latest_position(_reader(feed))
    assert (latest.position, latest.epoch) == (feed.head.position, feed.head.epoch)
    assert set(latest.checksums) == set(LISTED_OBJECTS)
    count, total = feed.head.checksums["product"]
    assert latest.checksums["product"].model_dump() == {"count": count, "sum": str(total)}


def test_a_position_that_was_never_given_is_refused(feed: FeedScenario) -> None:
    with pytest.raises(ValidationFailed) as refused:
        _read(feed, after=1)
    (problem,) = refused.value.problems
    assert problem.field == "after"
    assert "the last position is 0" in problem.message


def test_another_epoch_and_an_expired_position_are_gone(feed: FeedScenario, clock: Clock) -> None:
    feed.create(1)
    feed.relay()
    latest = {"position": 1, "epoch": feed.head.epoch}
    with pytest.raises(Gone) as other:
        _read(feed, after=1, epoch=feed.head.epoch - 1)
    assert other.value.extra == {"latest": latest}
    clock.advance(CHUNK_SECONDS + 1)
    with pytest.raises(Gone) as expired:
        _read(feed)
    assert expired.value.extra == {"latest": latest}
    assert _read(feed, after=1)["data"] == []
    feed.create(2)
    feed.relay()
    assert [one["position"] for one in _read(feed, after=1)["data"]] == [2]


def test_a_table_without_a_complete_feed_is_not_served(feed: FeedScenario) -> None:
    store = feed.store
    head = FeedHead(feed.head.epoch, position=0, checksums={}, is_complete=False)
    item = to_attributes(head_item(store.table, head))
    store.client.put_item(TableName=store.table, Item=item)
    with pytest.raises(UnservedTable, match="has not started"):
        _read(feed)
    old = _reader(feed)
    old.store.version = TableVersion.of(3)
    with pytest.raises(UnservedTable, match="needs version 4"):
        service.latest_position(old)


def test_a_page_takes_three_reads(feed: FeedScenario, aws_faults: AwsFaults) -> None:
    for number in range(1, 31):
        feed.create(number)
        if number % 10 == 0:
            feed.relay()
    reader, parameters = _reader(feed), ChangesParameters(per_page=25)
    with aws_faults.recorded() as seen:
        page = service.list_changes(reader, parameters)
    assert [one.position for one in page.transactions] == list(range(1, 26))
    assert seen.operations == ["GetItem", "Query", "Query"]
