"""The authorizer: the context that it returns, and its AWS calls."""

import time
from typing import Any

from operations.api_clients import Credentials
from operations.provisioning import set_address
from operations.tenant_changes import show_tenant
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.directory import directory
from shared.kernel.caller import Caller
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import authorize
from tests.stack import clear_caches_except_clients


def issue_token(client: Credentials) -> str:
    return tokens.issue_to_client(show_tenant("acme"), client.client_id, frozenset(SCOPES))


def test_context_describes_the_caller(acme: Credentials) -> None:
    verdict = authorize(issue_token(acme))
    assert verdict["principalId"] == f"acme/{acme.client_id}"
    assert all(isinstance(value, str) for value in verdict["context"].values())
    caller = Caller.from_context(verdict["context"])
    assert caller.tenant == "acme"
    assert caller.kind == "client"
    assert caller.client_id == acme.client_id
    assert caller.scopes == frozenset(SCOPES)
    assert caller.permissions == frozenset()
    assert 3000 < caller.expires_at - time.time() <= 3600


def test_policy_covers_all_methods_of_the_stage(acme: Credentials) -> None:
    statement = authorize(issue_token(acme))["policyDocument"]["Statement"]
    assert statement == [
        {
            "Action": "execute-api:Invoke",
            "Effect": "Allow",
            "Resource": "arn:aws:execute-api:eu-west-1:123456789012:abc123/api/*",
        }
    ]


def test_warm_authorizer_makes_no_aws_call(acme: Credentials, aws_faults: AwsFaults) -> None:
    first, second = issue_token(acme), issue_token(acme)
    clear_caches_except_clients()
    with aws_faults.recorded() as cold:
        authorize(first)
    with aws_faults.recorded() as warm:
        authorize(first)
        authorize(second)
    # the keys, the tenant and the host
    assert sorted(cold.operations) == ["GetItem", "GetItem", "GetItem", "GetPublicKey"]
    assert warm.operations == []


def test_authorizer_caches_tenants_longer_than_the_handlers(
    acme: Credentials, aws_faults: AwsFaults, monkeypatch: Any
) -> None:
    token = issue_token(acme)
    authorize(token)
    later = time.time() + 60
    monkeypatch.setattr(directory, "_clock", lambda: later)
    with aws_faults.recorded() as calls:
        authorize(token)
    assert calls.operations == []


def test_new_host_of_a_tenant_is_accepted_at_once(acme: Credentials, monkeypatch: Any) -> None:
    authorize(issue_token(acme))
    set_address("acme", host="wms.acme.test")
    later = time.time() + 11
    monkeypatch.setattr(directory, "_clock", lambda: later)
    assert authorize(issue_token(acme), host="wms.acme.test")["context"]["tenant"] == "acme"
