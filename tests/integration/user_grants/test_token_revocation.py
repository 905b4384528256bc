"""Revocation of users' tokens, for which possession is sufficient."""

import pytest

from operations.api_clients import create_client, create_mobile_client
from operations.provisioning import set_address, set_state
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    ExampleUser,
    is_accepted,
    post,
    refresh,
    revocation_entries,
    revoke,
    token_of,
)
from tests.integration.user_grants.test_refresh_grant import reused_sessions
from tests.tenant_cache import apply_now

pytestmark = pytest.mark.usefixtures("stack")


def test_revoking_a_refresh_token_ends_its_session(user: ExampleUser) -> None:
    first, other = user.sign_in(), user.sign_in()
    second = refresh(first.refresh_token)
    for _ in range(2):
        answer = revoke(second.refresh_token)
        assert (answer.status, answer.body) == (200, None)
    assert refresh(second.refresh_token).outcome == INVALID_GRANT
    assert not is_accepted(first.access_token)
    assert not is_accepted(second.access_token)
    assert is_accepted(other.access_token)
    assert reused_sessions() == []


def test_revoking_a_used_refresh_token_ends_the_session(user: ExampleUser) -> None:
    first = user.sign_in()
    second = refresh(first.refresh_token)
    assert revoke(first.refresh_token).status == 200
    assert refresh(second.refresh_token).outcome == INVALID_GRANT


def test_revoking_an_access_token_keeps_the_session(user: ExampleUser) -> None:
    first = user.sign_in()
    for _ in range(2):
        assert revoke(first.access_token, token_type_hint="refresh_token").status == 200
    assert not is_accepted(first.access_token)
    assert is_accepted(refresh(first.refresh_token).access_token)


@pytest.mark.parametrize("token", ["nonsense", "a.b.c", "\0", "é", "x" * 5000, "str_acme.1-2.3"])
def test_revocation_of_an_invalid_token_is_ignored(token: str) -> None:
    answer = revoke(token)
    assert (answer.status, answer.body) == (200, None)
    assert revocation_entries() == {}


def test_session_id_alone_cannot_end_a_session(user: ExampleUser) -> None:
    token = user.sign_in().refresh_token
    forged = token[: token.rindex(".") + 1] + "A" * 65
    assert revoke(forged).status == 200
    assert refresh(token).status == 200


def test_application_cannot_revoke_tokens_of_another_application(user: ExampleUser) -> None:
    app, other = (create_mobile_client("acme", name) for name in ("Scanner", "Other"))
    tokens = user.sign_in(client_id=app.client_id)
    for token in (tokens.access_token, tokens.refresh_token):
        refused = revoke(token, client_id=other.client_id)
        assert refused.outcome == (400, "unauthorized_client")
        unknown = revoke(token, client_id="stm_acme_" + "0" * 24)
        assert unknown.outcome == (401, "invalid_client")
    assert revocation_entries() == {}
    assert revoke(tokens.refresh_token, client_id=app.client_id).status == 200
    assert not is_accepted(tokens.access_token)


def test_clients_and_users_can_only_revoke_their_own_tokens(user: ExampleUser) -> None:
    erp = create_client("acme", "ERP")
    tokens = user.sign_in()
    for token in (tokens.access_token, tokens.refresh_token):
        refused = revoke(token, **erp._asdict())
        assert refused.outcome == (400, "unauthorized_client")
    own = token_of(erp)
    assert revoke(own).outcome == (401, "invalid_client")
    assert revoke(own, client_id=erp.client_id).outcome == (401, "invalid_client")
    assert revocation_entries() == {}
    assert revoke(own, **erp._asdict()).status == 200


def test_revocation_at_the_host_of_another_tenant_is_ignored(user: ExampleUser) -> None:
    apply_now(set_address, "beta", host="wms.beta.test")
    tokens = user.sign_in()
    for token in (tokens.access_token, tokens.refresh_token):
        assert revoke(token, host="wms.beta.test").status == 200
    assert revocation_entries() == {}


def test_tokens_of_a_suspended_tenant_can_be_revoked(user: ExampleUser) -> None:
    tokens = user.sign_in()
    apply_now(set_state, "acme", "suspended")
    assert revoke(tokens.refresh_token).status == 200
    assert len(revocation_entries()) == 1


def test_missing_token_parameter_causes_no_aws_call(aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as made:
        assert post("revoke", "token_type_hint=x").outcome == (400, "invalid_request")
    assert made.operations == []
