"""Who set a subscription last, and what happens when somebody loses the right to manage them."""

from dataclasses import dataclass
from typing import Any

import pytest

from functions.webhooks.app import routes
from shared.integration.webhooks.ended_access import MANAGING_PERMISSION, MANAGING_SCOPE
from tests.gateway import Erp, Response
from tests.integration.users.user_requests import as_user, create_role, create_user
from tests.integration.webhooks.test_creators import is_active, new_client, subscribe
from tests.webhook_scenario import URL, WebhookScenario

_MOVED = "https://hooks.example.com/v2"
_DEACTIVATE = {"deactivate_webhooks": True}
_SETTERS = ("url_set_by", "secret_set_by", "activated_by")


def test_the_rights_that_count_are_those_of_the_webhook_routes() -> None:
    rights = {(one.scope, one.permission) for one in routes.operations}
    assert rights == {(MANAGING_SCOPE, MANAGING_PERMISSION)}


# Who set a subscription last


def _move(caller: Erp, number: int) -> Response:
    path = f"/webhooks/{number}"
    url = URL if caller.get(path).data["url"] == _MOVED else _MOVED
    return caller.patch(path, {"url": url})


def _rotate(caller: Erp, number: int) -> Response:
    return caller.post(f"/webhooks/{number}/rotate-secret")


def _activate(caller: Erp, number: int) -> Response:
    assert caller.patch(f"/webhooks/{number}", {"is_active": False}).status == 200
    return caller.patch(f"/webhooks/{number}", {"is_active": True})


_ACTS = {"url_set_by": _move, "secret_set_by": _rotate, "activated_by": _activate}


def _setters(webhooks: WebhookScenario, number: int) -> dict[str, str]:
    shown = webhooks.get(number)
    return {name: shown[name]["name"] or shown[name]["id"] for name in _SETTERS}


def test_subscription_shows_who_set_address_secret_and_activation(
    webhooks: WebhookScenario,
) -> None:
    number = subscribe(webhooks.erp)
    expected = dict.fromkeys(_SETTERS, "erp")
    assert _setters(webhooks, number) == expected

    for setter, act in _ACTS.items():
        _, caller = new_client(webhooks, setter)
        answer = act(caller, number).ok()
        assert answer[setter]["name"] == setter
        expected[setter] = setter
        assert _setters(webhooks, number) == expected

    _, other = new_client(webhooks, "other")
    for same in ({"url": _MOVED}, {"is_active": True}, {"events": ["stock.updated"]}):
        assert other.patch(f"/webhooks/{number}", same).status == 200
    assert other.patch(f"/webhooks/{number}", {"is_active": False}).status == 200
    assert _setters(webhooks, number) == expected
    assert webhooks.get(number)["created_by"]["id"] == "erp"


@pytest.mark.parametrize("setter", _ACTS)
def test_end_of_who_set_a_subscription_last_deactivates_it(
    setter: str, webhooks: WebhookScenario
) -> None:
    first, second = subscribe(webhooks.erp), subscribe(webhooks.erp)
    client_id, shop = new_client(webhooks)
    for number in (first, second):
        assert _ACTS[setter](shop, number).status == 200
    assert _ACTS[setter](webhooks.erp, second).status == 200

    answer = webhooks.erp.delete(f"/api-clients/{client_id}", _DEACTIVATE)

    assert [one["id"] for one in answer.data["webhooks"]] == [first]
    assert is_active(webhooks, first, second) == [False, True]


# The loss of the right


@dataclass(frozen=True)
class Narrowing:
    """A subscription, and the change that takes the right away from who is responsible for it."""

    path: str
    keeps: dict[str, Any]
    loses: dict[str, Any]
    webhook: int


def _of_client(webhooks: WebhookScenario) -> Narrowing:
    client_id, shop = new_client(webhooks)
    return Narrowing(
        f"/api-clients/{client_id}",
        keeps={"scopes": ["webhooks:manage", "stocks:read"]},
        loses={"scopes": ["stocks:read"]},
        webhook=subscribe(shop),
    )


def _of_user(webhooks: WebhookScenario) -> Narrowing:
    chiefs = create_role(webhooks.erp, "Chiefs", "users.manage")
    others = create_role(webhooks.erp, "Others", "users.manage", "exits.manage")
    packers = create_role(webhooks.erp, "Packers", "exits.manage")
    create_user(webhooks.erp, "last.administrator", roles=[chiefs])
    number = create_user(webhooks.erp, roles=[chiefs])
    return Narrowing(
        f"/users/{number}",
        keeps={"roles": [others]},
        loses={"roles": [packers]},
        webhook=subscribe(as_user(webhooks.stack, number, "users.manage")),
    )


def _of_role(webhooks: WebhookScenario) -> Narrowing:
    chiefs = create_role(webhooks.erp, "Chiefs", "users.manage")
    lost = create_role(webhooks.erp, "Office", "users.manage")
    number = create_user(webhooks.erp, roles=[lost])
    # These keep the right: another role gives it, or they do not have the role.
    for name, roles in (("with.both", [lost, chiefs]), ("with.other", [chiefs])):
        other = create_user(webhooks.erp, name, roles=roles)
        subscribe(as_user(webhooks.stack, other, "users.manage"))
    return Narrowing(
        f"/roles/{lost}",
        keeps={"permissions": ["users.manage", "exits.manage"]},
        loses={"permissions": ["exits.manage"]},
        webhook=subscribe(as_user(webhooks.stack, number, "users.manage")),
    )


_NARROWINGS = {"client": _of_client, "user": _of_user, "role": _of_role}


@pytest.mark.parametrize("who", _NARROWINGS)
def test_loss_of_the_right_lists_subscriptions_and_deactivates_them_on_request(
    who: str, webhooks: WebhookScenario
) -> None:
    case, erp = _NARROWINGS[who](webhooks), webhooks.erp
    others = [one["id"] for one in erp.get("/webhooks").data if one["id"] != case.webhook]

    for unrelated in ({"name": "Other name"}, case.keeps, {**case.keeps, **_DEACTIVATE}):
        answer = erp.patch(case.path, unrelated)
        assert answer.status == 200, answer.text
        assert answer.data["webhooks"] is None
    (listed,) = erp.patch(case.path, case.loses).data["webhooks"]
    assert (listed["id"], listed["is_active"]) == (case.webhook, True)
    assert is_active(webhooks, case.webhook) == [True]

    for _ in range(2):  # the change can be repeated with the field
        answer = erp.patch(case.path, {**case.loses, **_DEACTIVATE})
        (listed,) = answer.data["webhooks"]
        assert (listed["id"], listed["is_active"]) == (case.webhook, False)
    assert is_active(webhooks, case.webhook, *others) == [False, *(True for _ in others)]
    assert "webhooks" not in erp.get(case.path).data


def test_deactivation_needs_a_change_that_can_take_the_right_away(
    webhooks: WebhookScenario,
) -> None:
    client_id, _ = new_client(webhooks)
    role = create_role(webhooks.erp)
    for path in (f"/api-clients/{client_id}", f"/roles/{role}"):
        refused = webhooks.erp.patch(path, {"name": "", **_DEACTIVATE})
        assert refused.invalid_fields == ["name", "deactivate_webhooks"]
