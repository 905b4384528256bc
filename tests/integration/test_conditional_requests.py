"""ETag, If-None-Match and If-Match."""

from urllib.parse import urlsplit

import pytest

from shared.http.routes import resource_path
from shared.kernel.db.claim import LEASE_MS
from tests.cases import each_case
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.call_faults import at_calls, die
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES, FOUND
from tests.sampling import sampled
from tools.openapi import declared

OPERATIONS = operations()
BOLT = {"item_code": "BOLT-M8", "name": "Bolt M8"}


@pytest.fixture
def bolt(erp: Erp) -> str:
    return f"/products/{erp.post('/products', BOLT).data['id']}"


def test_unchanged_resource_is_304(erp: Erp, bolt: str) -> None:
    for path in (bolt, "/products", "/products?search=bolt"):
        first = erp.get(path)
        tag = first.headers["ETag"]
        assert tag.startswith('W/"')

        again = erp.get(path, headers={"If-None-Match": f'"other", {tag}'})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
        assert erp.get(path, headers={"If-None-Match": '"other"'}).text == first.text

    erp.patch(bolt, {"name": "Bolt M8 zinc"})
    assert erp.get(bolt, headers={"If-None-Match": tag}).status == 200


def test_first_page_of_a_filtered_list_is_304_until_a_later_page_changes(
    erp: Erp, clock: Clock
) -> None:
    """The cursor differs from request to request: it has the time at which the rows were read."""
    for number in (1, 2, 3):
        erp.post("/products", {"item_code": f"BOLT-{number}", "name": "Bolt"}).ok(201)
    path = "/products?search=bolt&sort=item_code&per_page=1"
    clock.advance(60)
    first = erp.get(path)
    clock.advance(60)
    again = erp.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.text) == (304, "")
    assert erp.get(path).json()["links"]["next"] != first.json()["links"]["next"]

    erp.patch("/products/2", {"item_code": "BOLT-4"}).ok()
    clock.advance(60)
    changed = erp.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert changed.data == first.data
    assert changed.json()["meta"]["total"] == 3
    assert [row["id"] for row in erp.follow(changed.json()["links"]["next"]).data] == [3]


def test_if_match_with_an_old_tag_refuses_the_change(erp: Erp, bolt: str) -> None:
    seen = erp.get(bolt).headers["ETag"]

    assert erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}).status == 200
    for refused in (
        erp.patch(bolt, {"name": "B"}, headers={"If-Match": seen}, key="k1"),
        erp.delete(bolt, headers={"If-Match": seen}),
    ):
        assert (refused.status, refused.code) == (409, "stale_state")
    assert erp.get(bolt).data["name"] == "A"

    now = erp.get(bolt).headers["ETag"]
    assert erp.patch(bolt, {"name": "B"}, headers={"If-Match": now}, key="k1").status == 200
    assert erp.patch(bolt, {"name": "C"}, headers={"If-Match": "*"}).status == 200
    assert erp.patch("/products/99", {"name": "C"}, headers={"If-Match": "*"}).status == 404


@each_case("sent", ["", "2", "today", '"open', 'W/"a" "b"', '*, "a"', "0123456789abcdef"])
def test_if_match_that_is_no_tag_is_refused(erp: Erp, sent: str) -> None:
    path = f"/products/{erp.post('/products', {**BOLT, 'item_code': f'B-{sent}'}).id}"
    refused = erp.patch(path, {"name": "A"}, headers={"If-Match": sent}, key=f"k{sent}")

    assert (refused.status, refused.code) == (400, "bad_request")
    assert erp.patch(path, {"name": "A"}, key=f"k{sent}").status == 200, "the key is free"


def test_own_tag_is_accepted_without_quotes(erp: Erp, bolt: str) -> None:
    tag = erp.get(bolt).headers["ETag"].removeprefix("W/").strip('"')
    assert erp.patch(bolt, {"name": "A"}, headers={"If-Match": tag}).status == 200
    assert erp.patch(bolt, {"name": "B"}, headers={"If-Match": tag}).code == "stale_state"


def test_if_match_on_a_map_that_is_not_published_refuses_the_first_one(erp: Erp) -> None:
    erp.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    path, hall = "/warehouses/1/layout", {"width_m": 40, "depth_m": 25}
    for tag in ("*", 'W/"0"'):
        refused = erp.put(path, hall, headers={"If-Match": tag}, key=tag)
        assert (refused.status, refused.code) == (409, "stale_state")
        assert erp.put("/warehouses/9/layout", hall, headers={"If-Match": tag}).status == 404
    assert erp.get(path).status == 404

    assert erp.put(path, hall, key="*").status == 200, "the refusal is not stored under its key"
    assert erp.put(path, hall, headers={"If-Match": "*"}).data["version"] == 2
    erp.delete("/warehouses/1")
    assert erp.put(path, hall, headers={"If-Match": "*"}).status == 410


def test_if_match_applies_to_the_settings(erp: Erp) -> None:
    seen = erp.get("/settings").headers["ETag"]
    change = {"timezone": "Europe/Madrid"}
    assert erp.patch("/settings", change, headers={"If-Match": seen}).status == 200
    refused = erp.patch("/settings", {"timezone": "UTC"}, headers={"If-Match": seen})
    assert (refused.status, refused.code) == (409, "stale_state")


@pytest.mark.parametrize("name", sampled("tags of writes", list(EXAMPLES), every=6))
def test_write_honours_if_match_and_responds_with_a_tag_as_documented(erp: Erp, name: str) -> None:
    """The tag is the one that GET has afterwards."""
    method, _, path = name.partition(" ")
    example = EXAMPLES[name]
    values = example.prepared(erp)
    target, body = path.format(**values), example.filled(values)
    sender = example.sender(erp, values)

    answer = sender.send(method, target, body, key="k1", headers={"If-Match": 'W/"0"'})

    if declared.honours_if_match(OPERATIONS[name]):
        assert (answer.status, answer.code) == (409, "stale_state")
        answer = sender.send(method, target, body, key="k2")
    assert answer.status == example.status
    tag = answer.headers.get("ETag")
    if declared.sends_etag(OPERATIONS[name]):
        location = urlsplit(answer.headers.get("Location", "")).path.partition("/v1")[2]
        resource = target if f"GET {path}" in OPERATIONS else resource_path(target)
        now = erp.get(location or resource).headers["ETag"]
        # Volatile parts may have changed since.
        assert tag
        assert tag.partition(".")[0] == now.partition(".")[0]
    else:
        assert tag is None


def test_tag_of_a_write_is_that_of_the_next_change(erp: Erp, bolt: str) -> None:
    seen = erp.patch(bolt, {"name": "A"}).headers["ETag"]

    assert erp.patch(bolt, {"name": "B"}, headers={"If-Match": seen}).status == 200
    assert erp.patch(bolt, {"name": "C"}, headers={"If-Match": seen}).code == "stale_state"


def test_only_writes_that_show_no_resource_as_get_does_have_no_tag() -> None:
    untagged = [
        name
        for name, one in OPERATIONS.items()
        if one.method != "GET" and not declared.sends_etag(one)
    ]
    deletions = [name for name in untagged if name.startswith("DELETE ")]
    below = {
        name for name in deletions if resource_path(OPERATIONS[name].path) != OPERATIONS[name].path
    }
    assert below == {"DELETE /users/{id}/sessions/{session}"}  # nothing shows one session
    assert set(untagged) - {*deletions} == {
        "POST /stock-adjustments",
        "POST /warehouse-positions/bulk",
        "POST /replenishments",
        "POST /webhooks/{id}/recover",
        # These show a count without its lines.
        "POST /counts",
        "POST /counts/{id}/cancel",
        "POST /counts/{id}/finish",
        "POST /counts/{id}/lines",
        "POST /counts/{id}/post",
        "POST /counts/{id}/recount",
        # These show a secret.
        "POST /api-clients",
        "POST /api-clients/{id}/rotate-secret",
        "POST /users",
        "POST /users/{id}/reset-password",
        "POST /users/{id}/totp",
        "POST /users/{id}/totp/recovery-codes",
        "POST /webhooks",
        "POST /webhooks/{id}/rotate-secret",
    }


def test_tag_of_a_changed_warehouse_is_that_of_its_detail(erp: Erp) -> None:
    erp.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "Y-1"})

    changed = erp.patch("/warehouses/1", {"city": "Gijón"})

    assert "positions" not in changed.data
    assert changed.headers["ETag"] == erp.get("/warehouses/1").headers["ETag"]


def test_tag_of_an_import_includes_the_warning_that_get_shows(erp: Erp) -> None:
    upload = EXAMPLES["POST /imports"]
    erp.post("/imports", upload.body)
    again = erp.post("/imports", upload.body)
    assert again.json()["warning"]
    tag = erp.get(f"/imports/{again.data['id']}").headers["ETag"]
    assert again.headers["ETag"] == tag


def test_if_match_applies_to_subscriptions(erp: Erp) -> None:
    example = EXAMPLES["PATCH /webhooks/{id}"]
    hook = f"/webhooks/{example.prepared(erp)['id']}"
    seen = erp.get(hook).headers["ETag"]

    assert erp.patch(hook, example.body, headers={"If-Match": seen}).status == 200
    for refused in (
        erp.delete(hook, headers={"If-Match": seen}),
        erp.post(f"{hook}/rotate-secret", headers={"If-Match": seen}, key="k1"),
    ):
        assert (refused.status, refused.code) == (409, "stale_state")
    now = erp.get(hook).headers["ETag"]
    assert erp.post(f"{hook}/rotate-secret", headers={"If-Match": now}, key="k1").status == 200


def test_retry_with_an_old_tag_gets_the_first_response(erp: Erp, bolt: str) -> None:
    seen = erp.get(bolt).headers["ETag"]
    first = erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}, key="k1")
    erp.patch(bolt, {"name": "B"})

    again = erp.patch(bolt, {"name": "A"}, headers={"If-Match": seen}, key="k1")

    assert (again.status, again.text) == (200, first.text)


@pytest.fixture
def picking(erp: Erp, monkeypatch: pytest.MonkeyPatch) -> str:
    """A picking that is cancelled in two steps: an allocation is released, a pick is undone."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    return f"/pickings/{EXAMPLES['POST /pickings/{id}/cancel'].prepared(erp)['id']}"


@pytest.mark.usefixtures("clock")  # without real waits
def test_request_does_not_become_stale_by_its_own_steps(
    erp: Erp, picking: str, aws_faults: AwsFaults
) -> None:
    seen = {"If-Match": erp.get(picking).headers["ETag"]}

    def other() -> None:
        assert erp.post("/stock-adjustments", FOUND).status == 201

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=other)):
        cancelled = erp.post(f"{picking}/cancel", headers=seen)

    assert (cancelled.status, cancelled.data["status"]) == (200, "cancelled")


@pytest.mark.parametrize(
    "name",
    [
        "POST /imports/{id}/commit",
        "POST /pickings/{id}/cancel",
    ],
)
def test_repeat_goes_on_after_the_steps_of_a_killed_request(
    name: str, erp: Erp, aws_faults: AwsFaults, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    example, path = EXAMPLES[name], name.partition(" ")[2]
    values = example.prepared(erp)
    path, body = path.format(**values), example.filled(values)
    resource = resource_path(path)
    seen = {"If-Match": erp.get(resource).headers["ETag"]}
    one_step = at_calls("TransactWriteItems", {0}, after=die)
    assert aws_faults.kills(one_step, lambda: erp.post(path, body, headers=seen, key="k1"))
    assert erp.get(resource).headers["ETag"] != seen["If-Match"]

    clock.advance(LEASE_MS / 1000)
    done = erp.post(path, body, headers=seen, key="k1")

    assert done.status == example.status, done.text


def test_repeat_of_a_request_that_was_killed_before_its_first_step_is_compared(
    erp: Erp, picking: str, aws_faults: AwsFaults, clock: Clock
) -> None:
    seen = {"If-Match": erp.get(picking).headers["ETag"]}
    no_step = at_calls("TransactWriteItems", {0}, before=die)
    assert aws_faults.kills(no_step, lambda: erp.post(f"{picking}/cancel", headers=seen, key="k1"))
    erp.post(f"{picking}/picks", {"as_allocated": True}).ok()

    clock.advance(LEASE_MS / 1000)
    refused = erp.post(f"{picking}/cancel", headers=seen, key="k1")

    assert (refused.status, refused.code) == (409, "stale_state")
    assert erp.get(picking).data["status"] == "started"
