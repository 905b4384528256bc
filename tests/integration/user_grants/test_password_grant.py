"""The password grant, which does not reveal which users exist."""

import base64
import json
from typing import Any
from urllib.parse import urlencode

import pytest

from operations.api_clients import create_client, create_mobile_client, revoke_client
from operations.provisioning import set_address, set_state
from shared.identity.auth.attempt_limits import LONG_WINDOW
from shared.identity.auth.tokens import LIFETIME
from shared.identity.tenancy.access import operator_store
from shared.identity.users.models import UserChange
from shared.identity.users.service import change_user
from shared.kernel.db.unit_of_work import run_transaction
from tests.aws_calls import Watch
from tests.cases import each_case
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, refusal
from tests.gateway import Erp
from tests.integration.roles import Roles
from tests.integration.user_grants.oauth_requests import (
    PASSWORD,
    ExampleUser,
    caller_of,
    create_example_user,
    enable_two_step,
    named_goods,
    refresh,
    request_token,
)
from tests.stack import Stack
from tests.tenant_cache import apply_now

pytestmark = pytest.mark.usefixtures("stack")

INVALID_CREDENTIALS = {
    "error": "invalid_grant",
    "error_description": "The user name, the password or the code is wrong.",
}


def test_tokens_contain_the_permissions_of_the_roles(user: ExampleUser) -> None:
    answer = user.sign_in()
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.body.keys() == {
        "access_token", "token_type", "expires_in", "scope", "refresh_token", "timezone",
    }  # fmt: skip
    assert (answer.body["token_type"], answer.body["expires_in"]) == ("Bearer", LIFETIME)
    assert answer.body["scope"] == ""
    assert answer.body["timezone"] == "UTC"
    caller = caller_of(answer.access_token)
    assert (caller.tenant, caller.subject, caller.user_id) == ("acme", str(user.id), user.id)
    assert (caller.kind, caller.client_id) == ("user", None)
    assert named_goods(answer.access_token)["client_id"] == "stowage"
    assert caller.permissions == {"entries.manage", "exits.manage"}
    assert caller.roles == {str(user.roles[0])}
    assert caller.scopes == frozenset()
    assert caller.second_factor
    assert caller.session
    assert answer.refresh_token.startswith(f"str_acme.{caller.session}.")


@pytest.mark.parametrize("written", ["anna@acme", "Anna@acme", " anna @ACME ", "ANNA@Acme"])
def test_case_and_spaces_of_the_user_name_are_ignored(written: str, user: ExampleUser) -> None:
    assert request_token(user.form(username=written)).status == 200


def test_user_name_without_tenant_is_accepted_at_the_tenants_host(user: ExampleUser) -> None:
    apply_now(set_address, "acme", host="wms.acme.test")
    for name in ("anna", "anna@acme"):
        assert request_token(user.form(username=name), host="wms.acme.test").status == 200
    apply_now(set_address, "beta", host="wms.beta.test")
    for name in ("anna", "anna@acme"):
        answer = request_token(user.form(username=name), host="wms.beta.test")
        assert (answer.status, answer.body) == (400, INVALID_CREDENTIALS)


# Failed sign-ins


def wrong_credentials(user: ExampleUser) -> dict[str, dict[str, str]]:
    """Return sign-ins that must get the same response."""
    return {
        "wrong password": user.form(password="wrong horse battery"),
        "unknown user": user.form(username="berta@acme"),
        "no name at all": user.form(username="@acme"),
        "a name that cannot be": user.form(username="an\0na#1@acme"),
        "a name of 10 000 characters": user.form(username="a" * 10_000 + "@acme"),
        "a password of 10 000 characters": user.form(password="p" * 10_000),
        "the password and more": user.form(password=PASSWORD + "\0" + "x" * 1_000),
        "a password with a NUL": user.form(password=PASSWORD + "\0"),
        "a password of one line feed": user.form(password="\n"),
        "two names": user.form(username="anna@anna@acme"),
    }


def test_every_failed_sign_in_gets_the_same_response_after_the_same_calls(
    user: ExampleUser, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.freeze_in_new_window(LONG_WINDOW)
    disabled = create_example_user("dora")
    store = operator_store("acme")
    run_transaction(store, lambda tx: change_user(tx, disabled.id, UserChange(is_active=False)))
    user.sign_in()
    seen = {}
    forms = {**wrong_credentials(user), "disabled user": disabled.form()}
    for number, (name, form) in enumerate(forms.items()):
        for turn in ("first", "second"):
            with aws_faults.recorded() as made:
                answer = request_token(form, address=f"198.51.100.{number}")
            seen[name, turn] = (answer.status, json.dumps(answer.body), sorted(made.operations))
            assert made.round_trips <= (6 if turn == "first" else 5)
    # four counters, updated before and after the check
    calls = ["BatchGetItem", "BatchGetItem", "GetItem", *["UpdateItem"] * 8]
    # the first failure of a name at an address: the id and the transaction of an audit entry
    calls_of = {"first": sorted([*calls, "UpdateItem", "TransactWriteItems"]), "second": calls}
    assert seen == {
        (name, turn): (400, json.dumps(INVALID_CREDENTIALS), calls_of[turn]) for name, turn in seen
    }


def test_every_failed_sign_in_with_a_code_makes_the_same_calls(
    two_step_user: ExampleUser, aws_faults: AwsFaults
) -> None:
    user, berta = two_step_user, create_example_user("berta")
    spent = user.code()
    user.sign_in(otp=spent)
    seen = {}
    forms = {
        "wrong code": user.form(otp="000000"),
        "spent code": user.form(otp=spent),
        "no code at all": user.form(otp="x" * 10_000),
        "digits of another script": user.form(otp="\uff11\uff12\uff13\uff14\uff15\uff16"),
        "wrong password, right code": user.form(password="wrong", otp=user.code(periods=1)),
        "wrong password of one without": berta.form(password="wrong", otp="000000"),
        "unknown user": user.form(username="nobody@acme", otp="000000"),
    }
    for number, (name, form) in enumerate(forms.items()):
        with aws_faults.recorded() as made:
            answer = request_token(form, address=f"198.51.100.{number}")
        seen[name] = (answer.status, json.dumps(answer.body), tuple(sorted(made.operations)))
    assert len(set(seen.values())) == 1, seen
    ((status, body, calls),) = set(seen.values())
    assert (status, json.loads(body)) == (400, INVALID_CREDENTIALS)
    assert calls.count("Decrypt") == 1
    assert user.sign_in(otp=user.code(periods=1)).status == 200, "a wrong password uses up no code"


def test_sign_in_whose_code_cannot_be_checked_gets_the_same_response(
    two_step_user: ExampleUser, aws_faults: AwsFaults
) -> None:
    berta = create_example_user("berta")

    def throttled(call: Call, forward: Forward) -> Answer:
        return refusal("ThrottlingException") if call.operation == "Decrypt" else forward()

    with aws_faults.faulty(throttled):
        for form in (two_step_user.form(), berta.form(), berta.form(username="nobody@acme")):
            answer = request_token({**form, "password": "wrong", "otp": "000000"})
            assert answer.outcome == (503, "service_unavailable")


@pytest.mark.parametrize(
    "slug", ["nobody", "ACME.", "acme.evil", "-acme", "x" * 10_000, "a\0b", "Ácme", "", "ac me"]
)
def test_unknown_and_malformed_tenants_get_the_same_response(slug: str, user: ExampleUser) -> None:
    answer = request_token(user.form(username=f"anna@{slug}"))
    assert (answer.status, answer.body) == (400, INVALID_CREDENTIALS)


BAD_FORMS: dict[str, tuple[dict[str, str], dict[str, Any], tuple[int, str]]] = {
    "no user name": ({"username": ""}, {}, (400, "invalid_request")),
    "no password": ({"password": ""}, {}, (400, "invalid_request")),
    "no tenant": ({"username": "anna"}, {}, (400, "invalid_request")),
    "a scope": ({"scope": "products:read"}, {}, (400, "invalid_scope")),
    "an empty scope": ({"scope": " "}, {}, (200, "")),
    "an unknown application": ({"client_id": "stm_acme_" + "0" * 24}, {}, (401, "invalid_client")),
    "a hostile application": ({"client_id": "CLIENT#\0 é" * 20}, {}, (401, "invalid_client")),
    "a secret alone": ({"client_secret": "sws_x"}, {}, (401, "invalid_client")),
    "a wrong secret": (
        {"client_id": "stw_acme_" + "0" * 24, "client_secret": "sws_x"},
        {},
        (401, "invalid_client"),
    ),
    "nobody by Basic": ({}, {"authorization": "Basic Og=="}, (401, "invalid_client")),
    "another scheme": ({}, {"authorization": "Bearer x"}, (400, "invalid_request")),
    "no Basic at all": ({}, {"authorization": "Basic !"}, (400, "invalid_request")),
    "two clients": (
        {"client_id": "stm_a"},
        {"authorization": "Basic " + base64.b64encode(b"stm_b:").decode()},
        (400, "invalid_request"),
    ),
    "another type": ({}, {"content_type": "text/plain"}, (400, "invalid_request")),
}


@each_case("name", BAD_FORMS)
def test_invalid_forms_get_specific_errors(name: str, user: ExampleUser) -> None:
    changes, more, outcome = BAD_FORMS[name]
    assert request_token(user.form(**changes), **more).outcome == outcome


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("suspended", (402, "tenant_suspended")),
        ("cancelled", (402, "tenant_cancelled")),
        ("moved", (410, "tenant_moved")),
    ],
)
def test_state_of_an_inactive_tenant_is_only_revealed_to_authenticated_users(
    state: Any, outcome: tuple[int, str], user: ExampleUser
) -> None:
    token = user.sign_in().refresh_token
    apply_now(set_state, "acme", state, moved_to="https://acme.test" if state == "moved" else None)
    # not counted as failures
    for _ in range(12):
        assert user.sign_in().outcome == outcome
    assert refresh(token).outcome == outcome
    assert request_token(user.form(password="wrong")).body == INVALID_CREDENTIALS
    assert refresh(token[:-1] + ("A" if token[-1] != "A" else "B")).status != 200


# Two-step verification


def test_token_of_a_two_step_user_without_a_code_lacks_the_second_factor(
    two_step_user: ExampleUser,
) -> None:
    assert not caller_of(two_step_user.sign_in().access_token).second_factor
    with_code = two_step_user.sign_in(otp=two_step_user.code())
    assert caller_of(with_code.access_token).second_factor


def test_code_works_once_and_tolerates_clock_drift(
    two_step_user: ExampleUser, clock: Clock
) -> None:
    user = two_step_user
    early, late = user.code(), user.code(periods=1)
    assert user.sign_in(otp=early).status == 200
    assert user.sign_in(otp=early).body == INVALID_CREDENTIALS
    assert user.sign_in(otp=late).status == 200
    clock.advance(60)
    assert user.sign_in(otp=early).body == INVALID_CREDENTIALS
    assert user.sign_in(otp=user.code(periods=-2)).body == INVALID_CREDENTIALS
    assert user.sign_in(otp=user.code()).status == 200


def test_recovery_code_replaces_a_code_once(two_step_user: ExampleUser) -> None:
    first, second, *_ = two_step_user.recovery_codes
    assert caller_of(two_step_user.sign_in(otp=first).access_token).second_factor
    assert two_step_user.sign_in(otp=first).body == INVALID_CREDENTIALS
    assert two_step_user.sign_in(otp=second.upper().replace("-", " ")).status == 200


def test_code_of_a_user_without_two_step_verification_is_ignored(user: ExampleUser) -> None:
    assert caller_of(user.sign_in(otp="123456").access_token).second_factor


# Mobile applications


def test_sign_in_with_a_mobile_application_issues_a_mobile_token(user: ExampleUser) -> None:
    app = create_mobile_client("acme", "Scanner")
    basic = "Basic " + base64.b64encode(f"{app.client_id}:".encode()).decode()
    for answer in (
        user.sign_in(client_id=app.client_id),
        user.sign_in(client_id=app.client_id, client_secret=""),
        request_token(user.form(), authorization=basic),
    ):
        caller = caller_of(answer.access_token)
        assert (caller.kind, caller.client_id) == ("mobile", app.client_id)
        assert named_goods(answer.access_token)["client_id"] == app.client_id
        assert caller.user_id == user.id


def test_only_active_applications_of_the_tenant_are_accepted(user: ExampleUser) -> None:
    revoked, foreign = create_mobile_client("acme", "Old"), create_mobile_client("beta", "Theirs")
    revoke_client(revoked.client_id)
    for client in (revoked, foreign):
        assert user.sign_in(client_id=client.client_id).outcome == (401, "invalid_client")
    erp = create_client("acme", "ERP")
    assert user.sign_in(client_id=erp.client_id).outcome == (401, "invalid_client")
    assert user.sign_in(**erp._asdict()).outcome == (400, "unauthorized_client")
    wrong = user.sign_in(client_id=erp.client_id, client_secret="sws_wrong")
    assert wrong.outcome == (401, "invalid_client")


def test_mobile_application_cannot_use_the_client_credentials_grant() -> None:
    app = create_mobile_client("acme", "Scanner")
    for secret in ({}, {"client_secret": "sws_x"}):
        form = {"grant_type": "client_credentials", "client_id": app.client_id, **secret}
        assert request_token(form).outcome == (401, "invalid_client")


# AWS calls


def test_warm_sign_in_takes_seven_round_trips(user: ExampleUser, aws_faults: AwsFaults) -> None:
    user.sign_in()
    with aws_faults.recorded() as made:
        assert request_token(user.form(), address="198.51.100.1").status == 200
    assert made.round_trips <= 7, "the address becomes known while the attempt is cancelled"
    with aws_faults.recorded() as made:
        assert user.sign_in().status == 200
    assert sorted(made.operations) == sorted(
        [
            "BatchGetItem",  # keys, the tenant, failures and known addresses
            *["UpdateItem"] * 3,  # the attempt is counted, concurrently with the next reads
            *["GetItem", "BatchGetItem"],  # the user
            *["UpdateItem"] * 3,  # the attempt is cancelled
            *["BatchGetItem", "UpdateItem"],  # roles; the token is counted
            "Sign",
            "TransactWriteItems",
        ]
    )
    assert made.round_trips <= 7


def test_iam_policies_allow_every_call_and_no_access_to_other_tenants(
    stack: Stack, roles: Roles, watch: Watch
) -> None:
    user = create_example_user()
    app = create_mobile_client("acme", "Scanner")
    enable_two_step(user)
    for more in ({}, {"otp": "000000"}, {"otp": user.code()}, {"client_id": app.client_id}):
        first = _through_the_gateway(stack, user.form(**more))
        if first:
            form = {"grant_type": "refresh_token", "refresh_token": first}
            client = {"client_id": app.client_id} if "client_id" in more else {}
            _through_the_gateway(stack, form | client)
            _through_the_gateway(stack, form | client)  # already used
    assert roles.denied(watch.made) == []
    # revocation entries are written with the role of the function, without a tenant session
    in_table = [
        made
        for made in watch.made
        if not any("ControlTable" in access.resource for access in made.accesses)
    ]
    roles.assert_no_access_to_other_tenant(in_table)


def _through_the_gateway(stack: Stack, form: dict[str, str]) -> str | None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = Erp(stack.gateway, None).post("/oauth/token", raw=urlencode(form), headers=headers)
    token: str | None = answer.json().get("refresh_token")
    return token
