"""The routes of subscriptions."""

from base64 import b64decode
from typing import Any

import pytest
from botocore.exceptions import ClientError

from shared.http.idempotency import request_fingerprint
from shared.integration.webhooks.repository import WEBHOOKS
from shared.kernel.config import config
from shared.kernel.sealing import unseal
from tests.cases import each_case
from tests.webhook_scenario import URL, WebhookScenario

FIELDS = {
    "id", "url", "events", "is_active", "failure_count", "last_triggered_at", "created_by",
    "url_set_by", "secret_set_by", "activated_by", "created_at", "updated_at",
}  # fmt: skip


def test_only_the_response_to_the_creation_has_the_secret(
    webhooks: WebhookScenario,
) -> None:
    answer = webhooks.erp.post(
        "/webhooks", {"url": URL, "events": ["stock.updated", "wave.planned"]}
    )

    assert answer.status == 201
    assert answer.headers["Location"] == f"https://api.stowage.test/api/v1/webhooks/{1}"
    created = answer.data
    assert created.keys() == {*FIELDS, "secret"}
    assert created["secret"].startswith("whsec_")
    creator = {"type": "client", "id": "erp", "name": None}
    assert created == {
        "id": 1,
        "url": URL,
        "events": ["stock.updated", "wave.planned"],
        "is_active": True,
        "failure_count": 0,
        "last_triggered_at": None,
        "created_by": creator,
        "url_set_by": creator,
        "secret_set_by": creator,
        "activated_by": creator,
        "created_at": created["created_at"],
        "updated_at": created["created_at"],
        "secret": created["secret"],
    }
    shown = {name: value for name, value in created.items() if name != "secret"}
    assert webhooks.get(1) == shown
    assert webhooks.erp.get("/webhooks").data == [shown]


@each_case(
    ("body", "fields"),
    [
        ({}, {"url", "events"}),
        ({"url": URL, "events": ["stock.updated", "stock.updated"]}, {"events.1"}),
        ({"url": URL, "events": ["stock.updated", "stock.gone", 7]}, {"events.1", "events.2"}),
        (
            {"url": URL, "events": ["wave.gone", "stock.updated", "stock.updated", {}]},
            {"events.0", "events.2", "events.3"},
        ),
        (
            {"url": URL, "events": ["stock.updated"] * 50_000},
            {"events", *(f"events.{number}" for number in range(1, 22))},
        ),
        ({"url": URL, "events": ["webhook.test"]}, {"events.0"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "sixteen chars ok"}, {"secret"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "señor-secreto-1234"}, {"secret"}),
        (
            {"url": "https://private.example.com/", "events": ["nothing"], "secret": "short"},
            {"url", "events.0", "secret"},
        ),
    ],
)
def test_all_problems_are_reported_together(
    webhooks: WebhookScenario, body: dict[str, Any], fields: set[str]
) -> None:
    assert webhooks.erp.post("/webhooks", body).problems.keys() == fields
    assert webhooks.erp.get("/webhooks").data == []


def test_a_chosen_secret_is_used_and_null_generates_one(webhooks: WebhookScenario) -> None:
    chosen = "x" * 16
    assert webhooks.subscribe(secret=chosen)["secret"] == chosen
    assert webhooks.subscribe(secret=None)["secret"].startswith("whsec_")


def test_the_21st_subscription_is_rejected_with_limit_reached(webhooks: WebhookScenario) -> None:
    created = [webhooks.subscribe() for _ in range(20)]
    body = {"url": URL, "events": ["stock.updated"]}

    refused = webhooks.erp.post("/webhooks", body)

    assert (refused.status, refused.code) == (402, "limit_reached")
    offer = refused.json()["error"]["offer"]
    assert offer == {
        "limit": 20,
        "used": 20,
        "plan": "enterprise",
        "next_plan": None,
        "upgrade_url": config().upgrade_url,
    }
    webhooks.erp.delete(f"/webhooks/{created[3]['id']}")
    assert webhooks.erp.post("/webhooks", body).status == 201


def test_patch_changes_only_the_fields_sent(webhooks: WebhookScenario) -> None:
    created = webhooks.subscribe("stock.updated", "wave.planned")
    path = f"/webhooks/{created['id']}"

    moved = webhooks.erp.patch(path, {"url": "https://other.example.com:8443/x?y=1"}).data
    assert moved["url"] == "https://other.example.com:8443/x?y=1"
    assert (moved["events"], moved["is_active"]) == (["stock.updated", "wave.planned"], True)

    fewer = webhooks.erp.patch(path, {"events": ["wave.planned"]}).data
    assert (fewer["url"], fewer["events"]) == (moved["url"], ["wave.planned"])

    ended = webhooks.erp.patch(path, {"is_active": False}).data
    assert (ended["events"], ended["is_active"]) == (["wave.planned"], False)
    assert ended.keys() == FIELDS
    assert webhooks.get(created["id"]) == ended
    assert webhooks.erp.patch(path, {}).status == 200


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"url": "https://private.example.com/", "events": [], "is_active": "no"},
         {"url", "events", "is_active"}),
        ({"url": None}, {"url"}),
        ({"events": None, "is_active": None}, {"events", "is_active"}),
    ],
)  # fmt: skip
def test_an_invalid_change_changes_nothing(
    webhooks: WebhookScenario, body: dict[str, Any], fields: set[str]
) -> None:
    created = webhooks.subscribe()
    before = webhooks.get(created["id"])

    assert webhooks.erp.patch(f"/webhooks/{created['id']}", body).problems.keys() == fields
    assert webhooks.get(created["id"]) == before


def test_deliveries_do_not_make_the_etag_of_a_change_stale(webhooks: WebhookScenario) -> None:
    path = f"/webhooks/{webhooks.subscribe()['id']}"
    first = webhooks.erp.get(path).headers["ETag"]
    webhooks.create_product()
    webhooks.run_until_idle()

    answer = webhooks.erp.get(path, headers={"If-None-Match": first})
    assert answer.status == 200, "last_triggered_at has changed"
    assert webhooks.erp.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status == 304
    webhooks.erp.patch(path, {"events": ["wave.planned"]}, headers={"If-Match": first}).ok()
    stale = webhooks.erp.patch(path, {"is_active": False}, headers={"If-Match": first})
    assert (stale.status, stale.code) == (409, "stale_state")
    webhooks.erp.patch(path, {"is_active": False}, headers={"If-Match": "*"}).ok()


def test_the_fingerprint_of_a_request_with_a_secret_is_not_a_plain_hash(
    webhooks: WebhookScenario,
) -> None:
    body = {"url": URL, "events": ["wave.planned"], "secret": "CorrectHorse2026"}
    assert webhooks.erp.post("/webhooks", body, key="k").status == 201

    plain = request_fingerprint("POST", "/webhooks", body)
    records = [
        item for item in webhooks.stack.items() if item["PK"]["S"].startswith("idempotency#")
    ]
    assert len(records) == 1
    assert records[0]["fingerprint"]["S"] != plain
    assert len(records[0]["fingerprint"]["S"]) == len(plain)


def test_a_deleted_subscription_is_gone(webhooks: WebhookScenario) -> None:
    created = webhooks.subscribe()
    path = f"/webhooks/{created['id']}"

    answer = webhooks.erp.delete(path).ok()

    assert answer == {name: value for name, value in created.items() if name != "secret"}
    below = ("", "/deliveries", f"/deliveries/evt_{'0' * 32}")
    assert {webhooks.erp.get(path + end).status for end in below} == {410}
    assert webhooks.erp.patch(path, {"is_active": True}).status == 410
    assert {webhooks.erp.post(f"{path}/{act}").status for act in ("test", "rotate-secret")} == {410}
    assert webhooks.erp.get("/webhooks").data == []


def test_a_sealed_secret_is_bound_to_tenant_and_subscription(webhooks: WebhookScenario) -> None:
    created = webhooks.subscribe()
    (stored,) = WEBHOOKS.get(webhooks.stack.store(), created["id"]).entity.secrets
    sealed = b64decode(stored.sealed)

    assert unseal(sealed, "signing", "acme", "webhook 1").decode() == created["secret"]
    for tenant, what in (("beta", "webhook 1"), ("acme", "webhook 2")):
        with pytest.raises(ClientError, match="InvalidCiphertext"):
            unseal(sealed, "signing", tenant, what)
