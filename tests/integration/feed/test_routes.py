"""The routes of the feed: how its refusals are shown, and versions in lists."""

from typing import Any

import pytest

from tests.cases import each_case
from tests.feed_scenario import FeedScenario
from tests.gateway import Erp


def test_a_follower_keeps_an_equal_copy(feed: FeedScenario) -> None:
    erp, query = feed.webhooks.erp, {"include": "resource", "objects": "product"}
    copy: dict[int, dict[str, Any]] = {
        row["id"]: row for row in erp.walk("/products", include="version")
    }
    kept, gone = feed.create(1)["id"], feed.create(2)["id"]
    feed.rename(kept, "Another")
    assert erp.delete(f"/products/{gone}").status == 200
    feed.relay()
    page = erp.get("/changes", query={**query, "per_page": 1}).json()
    while page["data"]:
        for change in (change for one in page["data"] for change in one["changes"]):
            if change["resource"] is None:
                copy.pop(change["id"], None)
            elif copy.get(change["id"], {"version": 0})["version"] <= change["version"]:
                copy[change["id"]] = change["resource"]
        page = erp.follow(page["links"]["next"]).json()
    assert list(copy.values()) == erp.walk("/products", sort="id", include="version")
    assert copy[kept]["version"] == 2


def test_an_epoch_that_has_ended_is_410_with_the_latest_position(feed: FeedScenario) -> None:
    feed.create(1)
    feed.relay()
    answer = feed.webhooks.erp.get("/changes", query={"epoch": feed.head.epoch - 1})
    assert (answer.status, answer.code) == (410, "gone")
    assert answer.json()["error"]["latest"] == {"position": 1, "epoch": feed.head.epoch}


@each_case(
    ("query", "field"),
    [
        ({"after": 1}, "after"),
        ({"after": -1}, "after"),
        ({"after": "9" * 5000}, "after"),
        ({"epoch": "x"}, "epoch"),
        ({"per_page": 0}, "per_page"),
        ({"objects": "product,bolt"}, "objects"),
        ({"objects": ""}, "objects"),
        ({"include": "version"}, "include"),
    ],
)
def test_a_wrong_parameter_is_named(
    feed: FeedScenario, query: dict[str, object], field: str
) -> None:
    answer = feed.webhooks.erp.get("/changes", query=query)
    assert (answer.status, answer.json()["error"]["field"]) == (422, field), answer.text


def test_an_unknown_object_is_named_beside_those_that_exist(feed: FeedScenario) -> None:
    answer = feed.webhooks.erp.get("/changes", query={"objects": "product,bolt,nut"})
    message = answer.json()["errors"][0]["message"]
    assert message.startswith("no object is called bolt, nut; known: product, product_category,")


def test_a_large_page_has_at_most_500_transactions(
    feed: FeedScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.integration.changes.models.MAX_ENTRIES", 2)
    for number in (1, 2, 3):
        feed.create(number)
    feed.relay()
    page = feed.webhooks.erp.get("/changes", query={"per_page": 501}).json()
    assert [one["position"] for one in page["data"]] == [1, 2]


def test_a_scope_of_its_own_is_needed(feed: FeedScenario) -> None:
    stack = feed.stack
    for scope, status in (("products:read", 403), ("changes:read", 200)):
        caller = Erp(stack.gateway, stack.token(scopes=[scope]))
        assert caller.get("/changes").status == caller.get("/changes/latest").status == status
    only = Erp(stack.gateway, stack.token(scopes=["changes:read"]))
    assert only.get("/changes/latest").data["checksums"].keys() == {"export"}


def test_totals_of_levels_have_no_version(feed: FeedScenario) -> None:
    answer = feed.webhooks.erp.get("/stock-levels", query={"totals": "true", "include": "version"})
    assert (answer.status, answer.json()["error"]["field"]) == (422, "totals")


def test_api_clients_show_their_version(feed: FeedScenario) -> None:
    erp = feed.webhooks.erp
    made = erp.post("/api-clients", {"name": "Shop", "scopes": ["stocks:read"]}).ok(201)
    assert erp.patch(f"/api-clients/{made['id']}", {"name": "Shop 2"}).status == 200
    feed.relay()
    rows = {row["id"]: row for row in erp.get("/api-clients", query={"include": "version"}).data}
    last = erp.get("/changes", query={"objects": "api_client", "include": "resource"}).data[-1]
    (change,) = last["changes"]
    assert change["resource"] == rows[made["id"]]
    assert change["version"] == change["resource"]["version"] == 2
