"""The refresh token grant and the rotation of refresh tokens."""

import pytest

from operations.api_clients import create_client, create_mobile_client, revoke_client
from operations.provisioning import set_address
from shared.identity.audit.models import AuditParameters
from shared.identity.audit.service import list_entries
from shared.identity.tenancy import revocations
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory
from shared.identity.users.sessions import LIFETIME, session_from_item, session_key
from tests.cases import each_case
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    ExampleUser,
    caller_of,
    create_example_user,
    enable_two_step,
    is_accepted,
    refresh,
    revocation_entries,
)
from tests.stack import Stack
from tests.tenant_cache import apply_now


def reused_sessions() -> list[str | None]:
    """Return the ids of the sessions that the audit log reports as reused."""
    parameters = AuditParameters(action="session.reused")
    page = list_entries(operator_store("acme"), parameters)
    return [record.entity.target.id for record in page.records]


def with_changed_character(token: str, at: int) -> str:
    """Return the token with another character at the index `at`."""
    other = "A" if token[at] != "A" else "B"
    return token[:at] + other + token[at:][1:]


def test_refresh_returns_new_tokens_of_the_same_session(user: ExampleUser) -> None:
    first = user.sign_in()
    second = refresh(first.refresh_token)
    third = refresh(second.refresh_token)
    texts = {answer.refresh_token for answer in (first, second, third)}
    assert len(texts) == 3
    callers = [caller_of(answer.access_token) for answer in (first, second, third)]
    assert len({caller.session for caller in callers}) == 1
    assert len({caller.token_id for caller in callers}) == 3
    assert all(is_accepted(answer.access_token) for answer in (first, second, third))


def test_reused_refresh_token_ends_the_session_and_revokes_its_tokens(user: ExampleUser) -> None:
    first, other = user.sign_in(), user.sign_in()
    second = refresh(first.refresh_token)
    assert refresh(first.refresh_token).outcome == INVALID_GRANT
    assert refresh(second.refresh_token).outcome == INVALID_GRANT
    assert not is_accepted(first.access_token)
    assert not is_accepted(second.access_token)
    session = caller_of(first.access_token).session
    assert set(revocation_entries()) == {f"session:{session}"}
    assert reused_sessions() == [session]
    # other sessions of the user are not affected
    assert is_accepted(other.access_token)
    assert refresh(other.refresh_token).status == 200


def test_any_previous_refresh_token_of_the_session_is_a_reuse(user: ExampleUser) -> None:
    tokens = [user.sign_in().refresh_token]
    for _ in range(5):
        tokens.append(refresh(tokens[-1]).refresh_token)
    assert refresh(tokens[0]).outcome == INVALID_GRANT
    assert refresh(tokens[-1]).outcome == INVALID_GRANT
    assert len(reused_sessions()) == 1


def test_session_id_alone_cannot_end_a_session(user: ExampleUser) -> None:
    """Every access token contains the id of the session."""
    token = user.sign_in().refresh_token
    family = token.rindex(".") + 1
    for forged in (with_changed_character(token, family), token[:family] + "A" * 65):
        assert refresh(forged).outcome == INVALID_GRANT
    assert revocation_entries() == {}
    assert refresh(token).status == 200


INVALID_TOKENS = {
    "nothing like it": "x",
    "an access token": "a.b.c",
    "no session": "str_acme.1-" + "0" * 24 + "." + "A" * 65,
    "a session of nobody": "str_acme.999999999999-" + "0" * 24 + "." + "A" * 65,
    "user 0": "str_acme.0-" + "0" * 24 + "." + "A" * 65,
    "an unknown tenant": "str_nobody.1-" + "0" * 24 + "." + "A" * 65,
    "a tenant in capitals": "str_ACME.1-" + "0" * 24 + "." + "A" * 65,
    "a tenant with a dot": "str_ac.me.1-" + "0" * 24 + "." + "A" * 65,
    "too short": "str_acme.1-" + "0" * 24 + "." + "A" * 64,
    "too long": "str_acme.1-" + "0" * 24 + "." + "A" * 66,
    "a line feed at the end": "str_acme.1-" + "0" * 24 + "." + "A" * 65 + "\n",
    "a NUL": "str_acme.1-" + "0" * 24 + "." + "A" * 64 + "\0",
    "letters beyond ASCII": "str_acme.1-" + "0" * 24 + "." + "é" * 65,
    "10 000 characters": "str_acme." + "1" * 10_000,
}


@each_case("name", INVALID_TOKENS)
def test_malformed_refresh_token_is_refused(name: str, stack: Stack) -> None:
    assert stack
    assert refresh(INVALID_TOKENS[name]).outcome == INVALID_GRANT
    assert revocation_entries() == {}


def test_missing_token_and_scope_are_refused(user: ExampleUser) -> None:
    assert refresh("").outcome == (400, "invalid_request")
    token = user.sign_in().refresh_token
    assert refresh(token, scope="products:read").outcome == (400, "invalid_scope")
    assert refresh(token).status == 200


def test_refresh_token_is_refused_at_the_host_of_another_tenant(
    user: ExampleUser,
) -> None:
    token = user.sign_in().refresh_token
    assert refresh(token.replace("str_acme.", "str_beta.")).outcome == INVALID_GRANT
    apply_now(set_address, "beta", host="wms.beta.test")
    assert refresh(token, host="wms.beta.test").outcome == INVALID_GRANT
    assert refresh(token).status == 200


def test_session_expires_thirty_days_after_its_last_use(user: ExampleUser, clock: Clock) -> None:
    token = user.sign_in().refresh_token
    clock.advance(LIFETIME - 60)
    token = refresh(token).refresh_token
    clock.advance(LIFETIME - 60)
    token = refresh(token).refresh_token
    clock.advance(LIFETIME + 1)
    # DynamoDB has not deleted the item yet
    assert refresh(token).outcome == INVALID_GRANT


def test_stored_session_does_not_contain_the_refresh_token(user: ExampleUser, stack: Stack) -> None:
    token = user.sign_in().refresh_token
    secret = token[token.rindex(".") + 1 :]
    text = repr(stack.items())
    assert secret not in text
    assert secret[:22] not in text
    assert secret[22:] not in text


# Applications


def test_session_of_an_application_requires_the_application(user: ExampleUser) -> None:
    app, other = (create_mobile_client("acme", name) for name in ("Scanner", "Other"))
    erp = create_client("acme", "ERP")
    token = user.sign_in(client_id=app.client_id).refresh_token
    assert refresh(token).outcome == INVALID_GRANT
    assert refresh(token, client_id=other.client_id).outcome == INVALID_GRANT
    assert refresh(token, client_id="stm_acme_" + "0" * 24).outcome == (401, "invalid_client")
    assert refresh(token, **erp._asdict()).outcome == (400, "unauthorized_client")
    own = user.sign_in().refresh_token
    assert refresh(own, client_id=app.client_id).outcome == INVALID_GRANT
    good = refresh(token, client_id=app.client_id)
    assert caller_of(good.access_token).kind == "mobile"


def test_revoking_an_application_ends_its_sessions(user: ExampleUser) -> None:
    app = create_mobile_client("acme", "Scanner")
    first = user.sign_in(client_id=app.client_id)
    revoke_client(app.client_id)
    assert not is_accepted(first.access_token)
    again = refresh(first.refresh_token, client_id=app.client_id)
    assert again.outcome == (401, "invalid_client")


# Changes of the user


def test_refreshed_token_keeps_the_second_factor_of_the_session(user: ExampleUser) -> None:
    enable_two_step(user)
    without, with_code = user.sign_in(), user.sign_in(otp=user.code())
    again, proven = refresh(without.refresh_token), refresh(with_code.refresh_token)
    assert not caller_of(again.access_token).second_factor
    assert caller_of(proven.access_token).second_factor


# AWS calls


def test_many_reuses_add_one_revocation_entry_per_user(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(revocations, "SOFT_LIMIT", 2)
    for _ in range(5):
        first = user.sign_in()
        refresh(first.refresh_token)
        refresh(first.refresh_token)
        directory.clear()
    assert len(revocation_entries()) == 3
    assert f"user:{user.id}" in set(revocation_entries())


def test_warm_refresh_takes_five_round_trips(user: ExampleUser, aws_faults: AwsFaults) -> None:
    token = refresh(user.sign_in().refresh_token).refresh_token
    with aws_faults.recorded() as made:
        assert refresh(token).status == 200
    assert sorted(made.operations) == [
        "BatchGetItem",  # keys, the tenant and failures
        "BatchGetItem",  # the session and the user
        "BatchGetItem",  # roles
        "Sign",
        "TransactWriteItems",
        "UpdateItem",  # the token is counted, concurrently with the read of the roles
    ]
    assert made.round_trips <= 5


def test_session_is_stored_with_its_expiry(user: ExampleUser) -> None:
    answer = user.sign_in()
    session = caller_of(answer.access_token).session
    assert session
    item = operator_store("acme").get(session_key(session))
    assert item
    found = session_from_item(item)
    assert found
    assert found.expires_at - found.created_at == LIFETIME
    assert create_example_user("berta").id != found.user_id == user.id
