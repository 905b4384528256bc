"""What is delivered, to whom, with which signature, and what is logged."""

import pytest
from standardwebhooks import Webhook as StandardWebhook
from stripe import WebhookSignature

from operations import provisioning
from shared.identity.tenancy.directory import directory
from tests.clock import Clock
from tests.webhook_scenario import WebhookDesk, respond_204, respond_500


def test_an_event_arrives_signed(desk: WebhookDesk) -> None:
    hook = desk.subscribe("product.created")
    product = desk.happen()

    desk.run_until_idle()

    (sent,) = desk.sent
    event = sent.event
    assert sent.url == hook["url"]
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
    StandardWebhook(hook["secret"]).verify(sent.body, dict(sent.headers))
    signature = sent.headers["X-Service-Signature"]
    assert WebhookSignature.verify_header(sent.body.decode(), signature, hook["secret"], 300)


def test_a_delivery_is_in_the_log(desk: WebhookDesk) -> None:
    hook = desk.subscribe("product.created")
    product = desk.happen()
    desk.run_until_idle()

    (row,) = desk.deliveries(hook["id"])
    (attempt,) = row.pop("attempts")
    assert row == {
        "id": desk.sent[0].event["id"],
        "webhook_id": hook["id"],
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
    one = desk.erp.get(f"/webhooks/{hook['id']}/deliveries/{row['id']}").data
    assert one == {**row, "attempts": [attempt]}
    assert desk.get(hook["id"])["last_triggered_at"] == attempt["at"]


def test_each_gets_what_it_asked_for(desk: WebhookDesk) -> None:
    desk.subscribe("product.created", url="https://one.example.com/")
    desk.subscribe("product.updated", url="https://two.example.com/")
    desk.subscribe("product.created", "product.updated", url="https://both.example.com/")
    number = desk.happen()["id"]
    desk.erp.patch(f"/products/{number}", {"name": "Another"})

    desk.run_until_idle()

    got = sorted((sent.url, sent.event["type"], sent.event["sequence"]) for sent in desk.sent)
    assert got == [
        ("https://both.example.com/", "product.created", 1),
        ("https://both.example.com/", "product.updated", 2),
        ("https://one.example.com/", "product.created", 1),
        ("https://two.example.com/", "product.updated", 2),
    ]
    ids = {(sent.event["type"], sent.event["id"]) for sent in desk.sent}
    assert len(ids) == 2, "an event has one id, whoever gets it"


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
def test_a_change_while_a_retry_waits_is_honoured(
    desk: WebhookDesk, change: dict[str, object], reason: str
) -> None:
    hook = desk.subscribe()
    first_attempt_failed(desk)
    desk.erp.patch(f"/webhooks/{hook['id']}", change)
    desk.endpoint = respond_204

    desk.run_until_idle()

    assert len(desk.sent) == 1
    (row,) = desk.deliveries(hook["id"])
    assert (row["status"], row["reason"]) == ("cancelled", reason)
    assert desk.get(hook["id"])["failure_count"] == 0


def first_attempt_failed(desk: WebhookDesk) -> None:
    """Let something happen, and its first attempt fail."""
    desk.endpoint = respond_500
    desk.happen()
    desk.relay()
    while not desk.sent:
        assert desk.work(*desk.take()) == []


def test_a_retry_goes_to_the_new_address_with_the_new_secret(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    first_attempt_failed(desk)
    desk.erp.patch(f"/webhooks/{hook['id']}", {"url": "https://new.example.com/"})
    secret = desk.erp.post(f"/webhooks/{hook['id']}/rotate-secret", {"overlap_hours": 0}).data[
        "secret"
    ]
    desk.endpoint = respond_204

    desk.run_until_idle()

    last = desk.sent[-1]
    assert last.url == "https://new.example.com/"
    StandardWebhook(secret).verify(last.body, dict(last.headers))
    assert last.headers["X-Service-Signature"].count("v1=") == 1


def test_a_deleted_subscription_gets_nothing_more(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    first_attempt_failed(desk)
    desk.erp.delete(f"/webhooks/{hook['id']}")

    desk.run_until_idle()

    assert len(desk.sent) == 1
    assert desk.messages() == []


def test_both_secrets_sign_until_the_overlap_ends(desk: WebhookDesk, clock: Clock) -> None:
    hook = desk.subscribe()
    rotated = desk.erp.post(f"/webhooks/{hook['id']}/rotate-secret")
    assert rotated.status == 200
    assert rotated.data.keys() == hook.keys()
    secrets = (rotated.data["secret"], hook["secret"])
    desk.happen(1)
    desk.run_until_idle()
    for secret in secrets:
        StandardWebhook(secret).verify(desk.sent[0].body, dict(desk.sent[0].headers))

    clock.advance(24 * 3600 + 1)
    desk.happen(2)
    desk.run_until_idle()
    assert desk.sent[1].headers["X-Service-Signature"].count("v1=") == 1


def test_a_rotation_that_is_repeated_takes_nothing_from_the_receiver(
    desk: WebhookDesk, clock: Clock
) -> None:
    hook = desk.subscribe()
    path = f"/webhooks/{hook['id']}/rotate-secret"
    rotated = [desk.erp.post(path).data["secret"] for _ in range(2)]
    desk.happen(1)
    desk.run_until_idle()
    for secret in (*rotated, hook["secret"]):
        StandardWebhook(secret).verify(desk.sent[0].body, dict(desk.sent[0].headers))

    for _ in range(5):
        desk.erp.post(path)
    desk.happen(2)
    desk.run_until_idle()
    assert desk.sent[1].headers["X-Service-Signature"].count("v1=") == 4, "but not for ever"

    clock.advance(24 * 3600)
    desk.erp.post(path, {"overlap_hours": 0})
    desk.happen(3)
    desk.run_until_idle()
    assert desk.sent[2].headers["X-Service-Signature"].count("v1=") == 1


@pytest.mark.parametrize("hours", [-1, 169, 1.5, "24", None])
def test_overlaps_that_are_refused(desk: WebhookDesk, hours: object) -> None:
    path = f"/webhooks/{desk.subscribe()['id']}/rotate-secret"
    refused = desk.erp.post(path, {"overlap_hours": hours})
    assert refused.json()["error"]["field"] == "overlap_hours"


def test_a_test_event_goes_to_its_subscription_alone(desk: WebhookDesk) -> None:
    hook = desk.subscribe("wave.planned", url="https://one.example.com/")
    desk.subscribe("wave.planned", url="https://two.example.com/")

    answer = desk.erp.post(f"/webhooks/{hook['id']}/test")

    assert answer.status == 202
    assert (answer.data["event"], answer.data["status"]) == ("webhook.test", "pending")
    where = f"/webhooks/{hook['id']}/deliveries/{answer.data['id']}"
    assert answer.headers["Location"].endswith(where)
    desk.run_until_idle()
    (sent,) = desk.sent
    assert (sent.url, sent.event["type"]) == ("https://one.example.com/", "webhook.test")
    assert desk.erp.get(where).data["status"] == "succeeded"


def test_redelivery_starts_anew_and_ends_what_waited(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    first_attempt_failed(desk)
    (waiting,) = desk.take()
    event = desk.sent[0].event["id"]
    path = f"/webhooks/{hook['id']}/deliveries/{event}"
    desk.endpoint = respond_204

    answer = desk.erp.post(f"{path}/redeliver")

    assert (answer.status, answer.data["status"]) == (202, "pending")
    assert desk.work({**waiting, "due": 0}) == []
    assert len(desk.sent) == 1, "the retry of the round before is dropped"
    desk.run_until_idle()
    assert [sent.event["id"] for sent in desk.sent] == [event, event]
    row = desk.erp.get(path).data
    assert (row["status"], len(row["attempts"])) == ("succeeded", 2)
    desk.erp.post(f"{path}/redeliver")
    desk.run_until_idle()
    assert len(desk.erp.get(path).data["attempts"]) == 3


def test_a_delivery_is_kept_no_longer_than_its_event(desk: WebhookDesk, clock: Clock) -> None:
    hook = desk.subscribe()
    desk.happen()
    desk.run_until_idle()
    path = f"/webhooks/{hook['id']}/deliveries/{desk.sent[0].event['id']}"

    clock.advance(29 * 86_400)
    assert desk.erp.post(f"{path}/redeliver").status == 202
    desk.run_until_idle()
    assert desk.erp.get(path).data["status"] == "succeeded"
    clock.advance(86_400)

    assert desk.erp.get(path).status == 404
    assert desk.erp.post(f"{path}/redeliver").status == 404


def test_what_is_not_active_is_neither_tested_nor_sent_again(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    desk.happen()
    desk.run_until_idle()
    desk.erp.patch(f"/webhooks/{hook['id']}", {"is_active": False})
    event = desk.sent[0].event["id"]

    for path in ("test", f"deliveries/{event}/redeliver"):
        refused = desk.erp.post(f"/webhooks/{hook['id']}/{path}")
        assert (refused.status, refused.code) == (409, "conflict")


def test_a_plan_that_no_longer_has_webhooks_ends_deliveries(desk: WebhookDesk) -> None:
    hook = desk.subscribe()
    first_attempt_failed(desk)
    provisioning.set_plan("acme", "essentials")
    directory.forget()
    desk.run_until_idle()
    provisioning.set_plan("acme", "enterprise")
    directory.forget()

    (row,) = desk.deliveries(hook["id"])
    assert row["status"] == "cancelled"
    assert "plan" in row["reason"]
