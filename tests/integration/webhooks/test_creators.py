"""Who created a subscription, what the audit log says, and the end of the creator's access."""

from typing import Any

import pytest

from operations.api_clients import revoke_client
from shared.identity.audit.models import Actor
from shared.integration.webhooks.ended_access import webhooks_of
from shared.integration.webhooks.repository import WEBHOOKS, read_register
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.settings.api_client_requests import create_api_client, erp_with_token
from tests.integration.users.user_requests import (
    as_user,
    audit_entries,
    before_next_commit,
    create_user,
)
from tests.webhook_scenario import URL, WebhookScenario, respond_500

_BODY = {"url": URL, "events": ["product.created"]}
_DEACTIVATE = {"deactivate_webhooks": True}


def new_client(webhooks: WebhookScenario, name: str = "Shop") -> tuple[str, Erp]:
    """Create a client that may only manage webhooks; return its id and the client."""
    made = create_api_client(webhooks.erp, name=name, scopes=["webhooks:manage"])
    return made["id"], erp_with_token(webhooks.stack, made["id"], made["client_secret"])


def subscribe(caller: Erp) -> int:
    """Create a subscription as this caller; return its id."""
    return caller.post("/webhooks", _BODY).id


def is_active(webhooks: WebhookScenario, *numbers: int) -> list[bool]:
    """Return whether the subscriptions are active; check that the register says the same."""
    shown = {number: webhooks.get(number)["is_active"] for number in numbers}
    register = read_register(webhooks.stack.store())
    assert {number: number in register.active_events for number in numbers} == shown
    return list(shown.values())


def webhook_entries(erp: Erp) -> list[dict[str, Any]]:
    """Return the audit entries about subscriptions, oldest first."""
    return audit_entries(erp, target_type="webhook")


# The creator


def test_subscription_shows_the_client_that_created_it(webhooks: WebhookScenario) -> None:
    client_id, shop = new_client(webhooks)

    created = shop.post("/webhooks", _BODY).data

    assert created["created_by"] == {"type": "client", "id": client_id, "name": "Shop"}
    assert webhooks.get(created["id"])["created_by"] == created["created_by"]
    assert [one["created_by"] for one in shop.get("/webhooks").data] == [created["created_by"]]


def test_subscription_shows_the_user_who_created_it(webhooks: WebhookScenario) -> None:
    number = create_user(webhooks.erp, name="Ana Ruiz")

    webhook = subscribe(as_user(webhooks.stack, number, "users.manage"))

    expected = {"type": "user", "id": str(number), "name": "Ana Ruiz"}
    assert webhooks.get(webhook)["created_by"] == expected


@pytest.mark.parametrize("caller", ["client", "user"])
def test_creator_without_a_record_has_no_name(webhooks: WebhookScenario, caller: str) -> None:
    erp = webhooks.erp if caller == "client" else as_user(webhooks.stack, 7, "users.manage")

    webhook = subscribe(erp)

    number = "erp" if caller == "client" else "7"
    assert webhooks.get(webhook)["created_by"] == {"type": caller, "id": number, "name": None}


def test_changes_and_the_creators_new_name_keep_the_creator(webhooks: WebhookScenario) -> None:
    client_id, shop = new_client(webhooks)
    number = subscribe(shop)
    before = webhooks.get(number)["created_by"]

    webhooks.erp.patch(f"/api-clients/{client_id}", {"name": "New shop"})
    webhooks.erp.patch(f"/webhooks/{number}", {"events": ["stock.updated"]})
    webhooks.erp.post(f"/webhooks/{number}/rotate-secret")

    assert webhooks.get(number)["created_by"] == before


def _set_actors(webhooks: WebhookScenario, number: int, actors: dict[str, Actor | None]) -> None:
    def change(tx: Transaction) -> None:
        WEBHOOKS.update(tx, WEBHOOKS.get(tx.store, number), actors)

    run_transaction(webhooks.stack.store(), change)


_LATER_ATTRIBUTES = ("url_set_by", "secret_set_by", "activated_by")
"""What subscriptions lack that were stored with `created_by` only."""


def test_creator_counts_for_a_subscription_stored_without_later_attributes(
    webhooks: WebhookScenario,
) -> None:
    client_id, shop = new_client(webhooks)
    number = subscribe(shop)
    _set_actors(webhooks, number, dict.fromkeys(_LATER_ATTRIBUTES))

    answer = webhooks.erp.delete(f"/api-clients/{client_id}", _DEACTIVATE)

    assert [one["id"] for one in answer.data["webhooks"]] == [number]
    assert is_active(webhooks, number) == [False]


def test_subscription_stored_without_a_creator_can_be_used(webhooks: WebhookScenario) -> None:
    client_id, shop = new_client(webhooks)
    number = subscribe(shop)
    _set_actors(webhooks, number, dict.fromkeys(("created_by", *_LATER_ATTRIBUTES)))

    assert webhooks.get(number)["created_by"] is None
    assert webhooks.erp.delete(f"/api-clients/{client_id}", _DEACTIVATE).data["webhooks"] == []
    assert is_active(webhooks, number) == [True]


def test_test_event_does_not_reveal_the_creator(webhooks: WebhookScenario) -> None:
    _, shop = new_client(webhooks)
    number = subscribe(shop)
    shop.post(f"/webhooks/{number}/test")
    webhooks.run_until_idle()

    (sent,) = webhooks.requests
    assert not sent.event["data"]["attributes"].keys() & {"created_by", *_LATER_ATTRIBUTES}


# The audit log


def test_every_change_of_a_subscription_is_audited(webhooks: WebhookScenario) -> None:
    erp = webhooks.erp
    number = subscribe(erp)
    path = f"/webhooks/{number}"
    moved = "https://hooks.example.com/v2"
    assert erp.patch(path, {"url": moved, "events": _BODY["events"]}).status == 200
    assert erp.patch(path, {"is_active": False}).status == 200
    assert erp.patch(path, {"is_active": True}).status == 200
    chosen = "a-secret-of-our-own"
    assert erp.post(f"{path}/rotate-secret", {"secret": chosen, "overlap_hours": 2}).status == 200
    event = erp.post(f"{path}/test").data["id"]
    assert erp.post(f"{path}/deliveries/{event}/redeliver").status == 202
    assert erp.delete(path).status == 200

    log = webhook_entries(erp)

    assert [(one["action"], one["changes"], one["details"]) for one in log] == [
        ("webhook.created", {}, _BODY),
        ("webhook.changed", {"url": {"from": URL, "to": moved}}, {"url": URL}),
        ("webhook.changed", {"is_active": {"from": True, "to": False}}, {"url": moved}),
        ("webhook.changed", {"is_active": {"from": False, "to": True}}, {"url": moved}),
        ("webhook.secret_rotated", {}, {"url": moved, "overlap_hours": 2}),
        ("webhook.tested", {}, {"url": moved, "event_id": event}),
        ("webhook.redelivered", {}, {"url": moved, "event_id": event}),
        ("webhook.deleted", {}, {"url": moved, "events": _BODY["events"]}),
    ]
    assert all(one["target"] == {"type": "webhook", "id": str(number)} for one in log)
    assert all((one["actor"]["type"], one["actor"]["id"]) == ("client", "erp") for one in log)
    assert chosen not in repr(log)


def test_reset_of_the_failure_count_is_audited_and_a_repeated_state_is_not(
    webhooks: WebhookScenario,
) -> None:
    number = subscribe(webhooks.erp)
    webhooks.endpoint = respond_500
    webhooks.create_product(1)
    webhooks.run_until_idle()

    for _ in range(2):
        assert webhooks.erp.patch(f"/webhooks/{number}", {"is_active": True}).status == 200

    _, reset = webhook_entries(webhooks.erp)
    assert reset["changes"] == {"failure_count": {"from": 1, "to": 0}}


# The end of the creator's access


def revoke(webhooks: WebhookScenario, client_id: str, body: object = None, **more: Any) -> Response:
    """Revoke a client over HTTP."""
    return webhooks.erp.delete(f"/api-clients/{client_id}", body, **more)


def test_revocation_lists_the_subscriptions_of_the_client_and_keeps_them(
    webhooks: WebhookScenario,
) -> None:
    client_id, shop = new_client(webhooks)
    _, other = new_client(webhooks, "ERP")
    first, _, second = subscribe(shop), subscribe(other), subscribe(shop)
    shop.patch(f"/webhooks/{second}", {"is_active": False})

    answer = revoke(webhooks, client_id).ok()

    assert answer["webhooks"] == [
        {"id": first, "url": URL, "events": ["product.created"], "is_active": True},
        {"id": second, "url": URL, "events": ["product.created"], "is_active": False},
    ]
    assert is_active(webhooks, first, second) == [True, False]


def test_revocation_deactivates_the_subscriptions_of_the_client_on_request(
    webhooks: WebhookScenario,
) -> None:
    client_id, shop = new_client(webhooks)
    own = [subscribe(shop) for _ in range(3)]
    other = subscribe(webhooks.erp)
    shop.patch(f"/webhooks/{own[1]}", {"is_active": False})
    before = len(webhook_entries(webhooks.erp))

    answer = revoke(webhooks, client_id, _DEACTIVATE)

    shown = [(one["id"], one["is_active"]) for one in answer.data["webhooks"]]
    assert shown == [(number, False) for number in own]
    assert is_active(webhooks, *own, other) == [False, False, False, True]
    log = webhook_entries(webhooks.erp)[before:]
    assert [(one["action"], one["target"]["id"], one["changes"]) for one in log] == [
        ("webhook.changed", str(number), {"is_active": {"from": True, "to": False}})
        for number in (own[0], own[2])
    ]
    webhooks.create_product(1)
    webhooks.run_until_idle()
    assert len(webhooks.requests) == 1, "only the other subscription gets the event"


def test_all_subscriptions_of_a_tenant_can_be_deactivated_at_once(
    webhooks: WebhookScenario,
) -> None:
    client_id, shop = new_client(webhooks)
    limit = webhooks.stack.tenant().limits["webhook_subscriptions"]
    numbers = [subscribe(shop) for _ in range(limit)]

    assert revoke(webhooks, client_id, _DEACTIVATE, key="k").status == 200

    assert is_active(webhooks, *numbers) == [False] * limit


def test_body_of_the_revocation_is_checked(webhooks: WebhookScenario) -> None:
    client_id, _ = new_client(webhooks)
    number = create_user(webhooks.erp)

    for path in (f"/api-clients/{client_id}", f"/users/{number}"):
        refused = webhooks.erp.delete(path, {"deactivate_webhooks": "yes"})
        assert refused.invalid_fields == ["deactivate_webhooks"]
        assert webhooks.erp.get(path).status == 200


@pytest.mark.parametrize("end", ["disable", "delete"])
@pytest.mark.parametrize("deactivate", [False, True])
def test_end_of_a_user_lists_and_deactivates_the_subscriptions(
    webhooks: WebhookScenario, end: str, *, deactivate: bool
) -> None:
    number = create_user(webhooks.erp)
    client_id, shop = new_client(webhooks)
    assert client_id
    own = subscribe(as_user(webhooks.stack, number, "users.manage"))
    other = subscribe(shop)
    body = {"deactivate_webhooks": deactivate}

    path = f"/users/{number}"
    if end == "disable":
        answer = webhooks.erp.patch(path, {"is_active": False, **body})
    else:
        answer = webhooks.erp.delete(path, body)

    assert answer.status == 200, answer.text
    expected = {
        "id": own, "url": URL, "events": ["product.created"], "is_active": not deactivate,
    }  # fmt: skip
    assert answer.data["webhooks"] == [expected]
    assert is_active(webhooks, own, other) == [not deactivate, True]


def test_disabled_user_can_be_disabled_again_to_deactivate_the_subscriptions(
    webhooks: WebhookScenario,
) -> None:
    number = create_user(webhooks.erp)
    own = subscribe(as_user(webhooks.stack, number, "users.manage"))
    path, disable = f"/users/{number}", {"is_active": False}
    assert webhooks.erp.patch(path, disable).data["webhooks"][0]["is_active"] is True

    again = webhooks.erp.patch(path, {**disable, **_DEACTIVATE})

    assert again.data["webhooks"][0]["is_active"] is False
    assert is_active(webhooks, own) == [False]


def test_other_change_of_a_user_lists_no_subscriptions(webhooks: WebhookScenario) -> None:
    number = create_user(webhooks.erp)
    answer = webhooks.erp.patch(f"/users/{number}", {"name": "Ana"})
    assert answer.data["webhooks"] is None
    assert "webhooks" not in webhooks.erp.get(f"/users/{number}").data


@pytest.mark.parametrize("more", [{}, {"is_active": True}])
def test_subscriptions_of_an_active_user_cannot_be_deactivated_with_the_user(
    webhooks: WebhookScenario, more: dict[str, bool]
) -> None:
    number = create_user(webhooks.erp)
    refused = webhooks.erp.patch(f"/users/{number}", {**_DEACTIVATE, **more, "email": "x"})
    assert refused.invalid_fields == ["email", "deactivate_webhooks"]


def test_invalid_is_active_is_the_only_problem(webhooks: WebhookScenario) -> None:
    number = create_user(webhooks.erp)
    refused = webhooks.erp.patch(f"/users/{number}", {**_DEACTIVATE, "is_active": "no"})
    assert refused.invalid_fields == ["is_active"]


def test_operator_deactivates_the_subscriptions_of_a_revoked_client(
    webhooks: WebhookScenario,
) -> None:
    client_id, shop = new_client(webhooks)
    number = subscribe(shop)
    assert [one.is_active for one in revoke_client(client_id)] == [True]

    for _ in range(2):
        created = revoke_client(client_id, deactivate_webhooks=True)
        assert [(one.id, one.is_active) for one in created] == [(number, False)]

    assert is_active(webhooks, number) == [False]
    _, entry = webhook_entries(webhooks.erp)
    assert entry["actor"]["type"] == "operator"


# Interruptions and concurrent requests


def test_subscription_created_during_the_revocation_is_deactivated(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    client_id, shop = new_client(webhooks)
    made: list[int] = []

    with before_next_commit(aws_faults, lambda: made.append(subscribe(shop))):
        answer = revoke(webhooks, client_id, _DEACTIVATE)

    assert [one["id"] for one in answer.data["webhooks"]] == made
    assert is_active(webhooks, *made) == [False]


@pytest.mark.parametrize("end", ["revoke", "narrow"])
@pytest.mark.parametrize("act", ["create", "activate", "rotate"])
def test_revoked_client_cannot_activate_a_subscription_with_a_token_in_the_cache(
    act: str, end: str, webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    """The end of the access commits just before the change, whose handler cached the tenant."""
    client_id, shop = new_client(webhooks)
    number = subscribe(shop)
    shop.patch(f"/webhooks/{number}", {"is_active": False})

    def end_access() -> None:
        path, narrowed = f"/api-clients/{client_id}", {"scopes": ["stocks:read"]}
        if end == "revoke":
            answer = webhooks.erp.delete(path, _DEACTIVATE)
        else:
            answer = webhooks.erp.patch(path, {**narrowed, **_DEACTIVATE})
        assert answer.status == 200, answer.text

    with before_next_commit(aws_faults, end_access):
        if act == "create":
            refused = shop.post("/webhooks", _BODY)
        elif act == "rotate":
            refused = shop.post(f"/webhooks/{number}/rotate-secret")
        else:
            refused = shop.patch(f"/webhooks/{number}", {"is_active": True})

    assert (refused.status, refused.code) == (401, "unauthenticated"), refused.text
    assert read_register(webhooks.stack.store()).active_events == {}
    assert len(webhooks.erp.get("/webhooks").data) == 1


def test_operator_is_a_creator_without_an_id(webhooks: WebhookScenario) -> None:
    """Nothing creates subscriptions outside of a request; a stored one must still be readable."""
    number = subscribe(webhooks.erp)
    marta = Actor(type="operator", id=None, name="marta")
    _set_actors(webhooks, number, {"created_by": marta})
    assert webhooks.get(number)["created_by"] == marta.model_dump()
    found = run_transaction(
        webhooks.stack.store(), lambda tx: webhooks_of(tx, "client", "None", deactivate=True)
    )
    assert found == []
