"""An example request of each writing route of the users and roles."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.identity.users import totp
from shared.kernel.clock import now
from tests.gateway import Erp
from tests.integration.route_example import Example, Values, creation, deletion, prepared_once
from tests.integration.user_grants.oauth_requests import named_goods, request_token
from tests.integration.write_webhooks import subscribe
from tests.stack import Stack

PASSWORD = "eleven green bottles"

PACKERS = {
    "name": "Packers",
    "description": "Pick and pack.",
    "permissions": ["exits.manage", "inventory.manage"],
}
MARIA = {
    "username": "maria.lopez",
    "name": "María López",
    "email": "maria@talleres.example",
    "roles": [1],
}
_USER_CHANGE = {"name": "María López Díaz", "email": None, "roles": [2], "is_active": False}
_DEACTIVATE = {"deactivate_webhooks": True}
_NEW_PASSWORD = {"current_password": PASSWORD, "new_password": "ten green bottles"}


_role = creation("/roles", PACKERS)
_two_roles = creation("/roles", {"name": "Office", "permissions": []}, after=_role)
_user = prepared_once(creation("/users", {**MARIA, "password": PASSWORD}, after=_two_roles))


def _user_with_webhook(erp: Erp) -> Values:
    values = _user(erp)
    token = Stack(erp.gateway.template).user_token(
        sub=str(values["id"]), permissions="users.manage"
    )
    subscribe(replace(erp, token=token))
    return values


def _role_with_webhook(erp: Erp) -> Values:
    """Create a role whose user has a subscription, and another administrator."""
    for number, name in enumerate(("Packers", "Office"), 1):
        made = erp.post("/roles", {"name": name, "permissions": ["users.manage"]})
        user = erp.post("/users", {**MARIA, "username": name.lower(), "roles": [number]})
        assert (made.status, user.status) == (201, 201), user.text
    token = Stack(erp.gateway.template).user_token(sub="1", permissions="users.manage")
    subscribe(replace(erp, token=token))
    return {"id": 1}


@prepared_once
def _enrolled(erp: Erp) -> Values:
    values = _user(erp)
    return {
        **values,
        "secret": erp.post(f"/users/{values['id']}/totp", {"password": PASSWORD}).ok()["secret"],
    }


def code_of(values: Mapping[str, Any], periods: int = 0) -> str:
    """Return the code of the app for the `secret` of an enrolment, `periods` ago."""
    secret = base64.b32decode(values["secret"])
    return totp.code_at(secret, int(now()) // totp.PERIOD - periods)


def _two_step(erp: Erp) -> Values:
    values = _enrolled(erp)
    body = {"code": code_of(values)}
    erp.post(f"/users/{values['id']}/totp/confirm", body).ok()
    return values


@prepared_once
def _signed_in(erp: Erp) -> Values:
    """Create a user who has signed in."""
    values = _user(erp)
    form = {"grant_type": "password", "username": "maria.lopez@acme", "password": PASSWORD}
    token = request_token(form).access_token
    return {**values, "session": named_goods(token)["sid"]}


def user_examples() -> Mapping[str, Example]:
    """Return `METHOD /path` → example."""
    audited = {"audit": 1}
    return {
        "POST /roles": Example(201, body=PACKERS, grows={"role": 1, **audited}),
        "PATCH /roles/{id}": Example(
            200,
            body={"name": "Pickers", "permissions": ["exits.manage"], **_DEACTIVATE},
            prepare=_role_with_webhook,
            grows={"audit": 2},
        ),
        "DELETE /roles/{id}": deletion(_role, "role", **audited),
        "POST /users": Example(201, body=MARIA, prepare=_role, grows={"user": 1, **audited}),
        "PATCH /users/{id}": Example(
            200,
            body={**_USER_CHANGE, **_DEACTIVATE},
            prepare=_user_with_webhook,
            grows={"audit": 2},
        ),
        "DELETE /users/{id}": Example(
            200,
            body=_DEACTIVATE,
            prepare=_user_with_webhook,
            grows={"user": -1, "audit": 2},
            status_afterwards=410,
        ),
        "POST /users/{id}/reset-password": Example(200, prepare=_user, grows=audited),
        "POST /users/{id}/password": Example(
            200, body=_NEW_PASSWORD, prepare=_user, grows=audited, own=True
        ),
        "POST /users/{id}/totp": Example(
            200, body={"password": PASSWORD}, prepare=_user, status_afterwards=405
        ),
        "POST /users/{id}/totp/confirm": Example(
            200,
            body={"code": "000000"},
            prepare=_enrolled,
            grows=audited,
            dynamic_fields=lambda values: {"code": code_of(values)},
        ),
        "POST /users/{id}/totp/recovery-codes": Example(
            200,
            body={"password": PASSWORD},
            prepare=_two_step,
            grows=audited,
            own=True,
            status_afterwards=405,
        ),
        "DELETE /users/{id}/totp": Example(200, prepare=_two_step, grows=audited),
        "POST /users/{id}/end-sessions": Example(200, prepare=_signed_in, grows=audited),
        "DELETE /users/{id}/sessions/{session}": Example(
            200, prepare=_signed_in, grows=audited, status_afterwards=404
        ),
    }
