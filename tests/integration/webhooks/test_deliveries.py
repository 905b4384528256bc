"""Deliveries: recipients, signatures and the log."""

import pytest
from standardwebhooks import Webhook as StandardWebhook
from stripe import WebhookSignature

from operations import provisioning
from tests.clock import Clock
from tests.tenant_cache import apply_now
from tests.webhook_scenario import WebhookScenario, respond_204, respond_500


def test_an_event_is_delivered_with_both_signatures(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe("product.created")
    product = webhooks.create_product()

    webhooks.run_until_idle()

    (sent,) = webhooks.requests
    event = sent.event
    assert sent.url == webhook["url"]
    assert event["id"].startswith("evt_")
    assert event == {
        "id": event["id"],
        "type": "product.created",
        "version": 1,
        "created_at": product["created_at"],
        "tenant": "acme",
        "sequence": 1,
        "data": {
            "object": "product",
            "id": product["id"],
            "status": None,
            "resource_version": 1,
            "href": f"https://api.stowage.test/api/v1/products/{product['id']}",
            "attributes": product,
        },
    }
    StandardWebhook(webhook["secret"]).verify(sent.body, dict(sent.headers))
    signature = sent.headers["X-Service-Signature"]
    assert WebhookSignature.verify_header(sent.body.decode(), signature, webhook["secret"], 300)


def test_a_delivery_is_logged_with_its_attempt(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe("product.created")
    product = webhooks.create_product()
    webhooks.run_until_idle()

    (row,) = webhooks.deliveries(webhook["id"])
    (attempt,) = row.pop("attempts")
    assert row == {
        "id": webhooks.requests[0].event["id"],
        "webhook_id": webhook["id"],
        "event": "product.created",
        "status": "succeeded",
        "reason": None,
        "next_attempt_at": None,
        "created_at": product["created_at"],
        "updated_at": row["updated_at"],
    }
    assert attempt == {
        "at": attempt["at"],
        "status": 204,
        "duration_ms": 12,
        "error": None,
        "response": "",
    }
    one = webhooks.erp.get(f"/webhooks/{webhook['id']}/deliveries/{row['id']}").data
    assert one == {**row, "attempts": [attempt]}
    assert webhooks.get(webhook["id"])["last_triggered_at"] == attempt["at"]


def test_each_subscription_receives_its_kinds_of_events(webhooks: WebhookScenario) -> None:
    webhooks.subscribe("product.created", url="https://one.example.com/")
    webhooks.subscribe("product.updated", url="https://two.example.com/")
    webhooks.subscribe("product.created", "product.updated", url="https://both.example.com/")
    number = webhooks.create_product()["id"]
    webhooks.erp.patch(f"/products/{number}", {"name": "Another"})

    webhooks.run_until_idle()

    received = sorted(
        (sent.url, sent.event["type"], sent.event["sequence"]) for sent in webhooks.requests
    )
    assert received == [
        ("https://both.example.com/", "product.created", 1),
        ("https://both.example.com/", "product.updated", 2),
        ("https://one.example.com/", "product.created", 1),
        ("https://two.example.com/", "product.updated", 2),
    ]
    ids = {(sent.event["type"], sent.event["id"]) for sent in webhooks.requests}
    assert len(ids) == 2, "an event has the same id in all deliveries"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_active": False}, "the subscription is not active"),
        (
            {"events": ["stock.updated"]},
            "the subscription no longer includes this event",
        ),
    ],
)
def test_a_change_before_a_retry_cancels_the_delivery(
    webhooks: WebhookScenario, change: dict[str, object], reason: str
) -> None:
    webhook = webhooks.subscribe()
    fail_first_attempt(webhooks)
    webhooks.erp.patch(f"/webhooks/{webhook['id']}", change)
    webhooks.endpoint = respond_204

    webhooks.run_until_idle()

    assert len(webhooks.requests) == 1
    (row,) = webhooks.deliveries(webhook["id"])
    assert (row["status"], row["reason"]) == ("cancelled", reason)
    assert webhooks.get(webhook["id"])["failure_count"] == 0


def fail_first_attempt(webhooks: WebhookScenario) -> None:
    """Raise an event and fail its first attempt."""
    webhooks.endpoint = respond_500
    webhooks.create_product()
    webhooks.run_relay()
    while not webhooks.requests:
        assert webhooks.run_worker(*webhooks.take_messages()) == []


def test_a_retry_uses_the_new_url_and_the_new_secret(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    fail_first_attempt(webhooks)
    webhooks.erp.patch(f"/webhooks/{webhook['id']}", {"url": "https://new.example.com/"})
    secret = webhooks.erp.post(
        f"/webhooks/{webhook['id']}/rotate-secret", {"overlap_hours": 0}
    ).data["secret"]
    webhooks.endpoint = respond_204

    webhooks.run_until_idle()

    last = webhooks.requests[-1]
    assert last.url == "https://new.example.com/"
    StandardWebhook(secret).verify(last.body, dict(last.headers))
    assert last.headers["X-Service-Signature"].count("v1=") == 1


def test_a_deleted_subscription_receives_no_retry(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    fail_first_attempt(webhooks)
    webhooks.erp.delete(f"/webhooks/{webhook['id']}")

    webhooks.run_until_idle()

    assert len(webhooks.requests) == 1
    assert webhooks.messages() == []


def test_both_secrets_sign_until_the_overlap_ends(webhooks: WebhookScenario, clock: Clock) -> None:
    webhook = webhooks.subscribe()
    rotated = webhooks.erp.post(f"/webhooks/{webhook['id']}/rotate-secret").ok()
    assert rotated.keys() == webhook.keys()
    secrets = (rotated["secret"], webhook["secret"])
    webhooks.create_product(1)
    webhooks.run_until_idle()
    for secret in secrets:
        StandardWebhook(secret).verify(
            webhooks.requests[0].body, dict(webhooks.requests[0].headers)
        )

    clock.advance(24 * 3600 + 1)
    webhooks.create_product(2)
    webhooks.run_until_idle()
    assert webhooks.requests[1].headers["X-Service-Signature"].count("v1=") == 1


def test_repeated_rotations_keep_up_to_three_previous_secrets(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    webhook = webhooks.subscribe()
    path = f"/webhooks/{webhook['id']}/rotate-secret"
    rotated = [webhooks.erp.post(path).data["secret"] for _ in range(2)]
    webhooks.create_product(1)
    webhooks.run_until_idle()
    for secret in (*rotated, webhook["secret"]):
        StandardWebhook(secret).verify(
            webhooks.requests[0].body, dict(webhooks.requests[0].headers)
        )

    for _ in range(5):
        webhooks.erp.post(path)
    webhooks.create_product(2)
    webhooks.run_until_idle()
    assert webhooks.requests[1].headers["X-Service-Signature"].count("v1=") == 4, (
        "at most three previous secrets sign"
    )

    clock.advance(24 * 3600)
    webhooks.erp.post(path, {"overlap_hours": 0})
    webhooks.create_product(3)
    webhooks.run_until_idle()
    assert webhooks.requests[2].headers["X-Service-Signature"].count("v1=") == 1


@pytest.mark.parametrize("hours", [-1, 169, 1.5, "24", None])
def test_invalid_overlap_is_rejected(webhooks: WebhookScenario, hours: object) -> None:
    path = f"/webhooks/{webhooks.subscribe()['id']}/rotate-secret"
    refused = webhooks.erp.post(path, {"overlap_hours": hours})
    assert refused.json()["error"]["field"] == "overlap_hours"


def test_a_test_event_is_delivered_only_to_its_subscription(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe("wave.planned", url="https://one.example.com/")
    webhooks.subscribe("wave.planned", url="https://two.example.com/")

    answer = webhooks.erp.post(f"/webhooks/{webhook['id']}/test")

    assert answer.status == 202
    assert (answer.data["event"], answer.data["status"]) == ("webhook.test", "pending")
    where = f"/webhooks/{webhook['id']}/deliveries/{answer.data['id']}"
    assert answer.headers["Location"].endswith(where)
    webhooks.run_until_idle()
    (sent,) = webhooks.requests
    assert (sent.url, sent.event["type"]) == ("https://one.example.com/", "webhook.test")
    assert webhooks.erp.get(where).data["status"] == "succeeded"


def test_redelivery_starts_a_new_round_and_drops_the_waiting_retry(
    webhooks: WebhookScenario,
) -> None:
    webhook = webhooks.subscribe()
    fail_first_attempt(webhooks)
    (waiting,) = webhooks.take_messages()
    event = webhooks.requests[0].event["id"]
    path = f"/webhooks/{webhook['id']}/deliveries/{event}"
    webhooks.endpoint = respond_204

    answer = webhooks.erp.post(f"{path}/redeliver")

    assert (answer.status, answer.data["status"]) == (202, "pending")
    assert webhooks.run_worker({**waiting, "due": 0}) == []
    assert len(webhooks.requests) == 1, "the retry of the previous round is dropped"
    webhooks.run_until_idle()
    assert [sent.event["id"] for sent in webhooks.requests] == [event, event]
    row = webhooks.erp.get(path).data
    assert (row["status"], len(row["attempts"])) == ("succeeded", 2)
    webhooks.erp.post(f"{path}/redeliver")
    webhooks.run_until_idle()
    assert len(webhooks.erp.get(path).data["attempts"]) == 3


def test_redelivery_does_not_extend_the_expiry_of_a_delivery(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    webhook = webhooks.subscribe()
    webhooks.create_product()
    webhooks.run_until_idle()
    path = f"/webhooks/{webhook['id']}/deliveries/{webhooks.requests[0].event['id']}"

    clock.advance(30 * 86_400)
    assert webhooks.erp.post(f"{path}/redeliver").status == 202
    webhooks.run_until_idle()
    assert webhooks.erp.get(path).data["status"] == "succeeded"
    clock.advance(86_400)

    assert webhooks.erp.get(path).status == 404
    assert webhooks.erp.post(f"{path}/redeliver").status == 404


def test_an_inactive_subscription_rejects_test_and_redelivery(webhooks: WebhookScenario) -> None:
    webhook = webhooks.subscribe()
    webhooks.create_product()
    webhooks.run_until_idle()
    webhooks.erp.patch(f"/webhooks/{webhook['id']}", {"is_active": False})
    event = webhooks.requests[0].event["id"]

    for path in ("test", f"deliveries/{event}/redeliver"):
        refused = webhooks.erp.post(f"/webhooks/{webhook['id']}/{path}")
        assert (refused.status, refused.code) == (409, "conflict")


def test_a_downgrade_to_a_plan_without_webhooks_cancels_deliveries(
    webhooks: WebhookScenario,
) -> None:
    webhook = webhooks.subscribe()
    fail_first_attempt(webhooks)
    apply_now(provisioning.set_plan, "acme", "essentials")
    webhooks.run_until_idle()
    apply_now(provisioning.set_plan, "acme", "enterprise")

    (row,) = webhooks.deliveries(webhook["id"])
    assert row["status"] == "cancelled"
    assert "plan" in row["reason"]
