"""The relay and the worker of webhooks may do what they do, and reach nothing else of a tenant."""

from collections.abc import Callable, Iterator

import pytest

from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.rules import MAX_FAILURES
from tests.aws_calls import Watch
from tests.clock import Clock
from tests.iam import Access, allows
from tests.integration.roles import ARNS, Roles, is_about
from tests.stack import Stack
from tests.webhook_scenario import RELAY, WORKER, SentRequest, WebhookDesk, open_desk, respond_500

_ROLE = "WebhookDataRole"
_TABLE = ARNS.table("stowage-tenant-acme")
_LATE_MS = 4_000


@pytest.fixture
def webhooks(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookDesk]:
    """acme's webhooks."""
    assert clock
    with open_desk(stack, monkeypatch) as webhooks:
        yield webhooks


def _late(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=_LATE_MS, status=200)


def _gone(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=12, status=410, error="responded with status 410")


def _delivered(webhooks: WebhookDesk) -> None:
    """An event is delivered, at once and once more, and to an endpoint that takes its time."""
    number = webhooks.subscribe()["id"]
    webhooks.happen(1)
    webhooks.run_until_idle()
    (delivery,) = webhooks.deliveries(number)
    assert delivery["status"] == "succeeded"
    again = f"/webhooks/{number}/deliveries/{delivery['id']}/redeliver"
    assert webhooks.erp.post(again).status == 202
    webhooks.run_until_idle()
    webhooks.endpoint = _late
    for product in (2, 3):
        webhooks.happen(product)
        webhooks.run_until_idle()
    assert len(webhooks.sent) == 4


def _failed(webhooks: WebhookDesk) -> None:
    """Deliveries fail until their subscription deactivates itself, and one that is gone."""
    webhooks.endpoint = respond_500
    number = webhooks.subscribe()["id"]
    for product in range(1, MAX_FAILURES + 1):
        webhooks.happen(product)
        webhooks.run_until_idle()
    assert webhooks.get(number)["is_active"] is False
    webhooks.endpoint = _gone
    number = webhooks.subscribe()["id"]
    webhooks.happen(0)
    webhooks.run_until_idle()
    assert webhooks.get(number)["is_active"] is False


def _in_vain(webhooks: WebhookDesk) -> None:
    """Subscriptions change between the event and its delivery; messages come twice."""
    kept, inactive, deleted = (webhooks.subscribe()["id"] for _ in range(3))
    webhooks.happen()
    assert webhooks.relay() == []
    assert webhooks.erp.patch(f"/webhooks/{inactive}", {"is_active": False}).status == 200
    assert webhooks.erp.delete(f"/webhooks/{deleted}").status == 200
    bodies = webhooks.take()
    assert webhooks.work(*bodies) == webhooks.work(*bodies, receives=2) == []
    webhooks.run_until_idle()
    assert len(webhooks.sent) == 1
    assert webhooks.deliveries(kept)[0]["status"] == "succeeded"
    assert webhooks.deliveries(inactive)[0]["status"] == "cancelled"


@pytest.mark.parametrize("story", [_delivered, _failed, _in_vain])
def test_every_call_is_allowed_and_none_at_a_neighbours(
    story: Callable[[WebhookDesk], None], webhooks: WebhookDesk, roles: Roles, watch: Watch
) -> None:
    story(webhooks)

    calls = [made for made in watch.made if made.handler in {RELAY, WORKER}]
    assert {made.handler for made in calls} == {RELAY, WORKER}
    assert roles.denied(watch.made) == []
    roles.assert_kept_from_the_neighbour(calls)


def test_relay_and_worker_alone_assume_their_role_and_no_other(roles: Roles) -> None:
    assert roles.assuming(_ROLE) == {RELAY, WORKER}
    assert not {RELAY, WORKER} & roles.assuming("TenantDataRole")


@pytest.mark.parametrize(
    "key", ["product#000000000001", "count#product", "idempotency#erp#key", "open", "sequence"]
)
def test_they_reach_nothing_of_a_tenant_but_webhooks(roles: Roles, key: str) -> None:
    for action in ("GetItem", "BatchGetItem", "PutItem", "UpdateItem"):
        right = Access(f"dynamodb:{action}", _TABLE, ("webhook#000000000001",))
        wrong = Access(f"dynamodb:{action}", _TABLE, ("webhook#000000000001", key))
        assert allows(roles.of_data[_ROLE], right)
        assert not allows(roles.of_data[_ROLE], wrong)
    for action in ("DeleteItem", "Query", "Scan"):
        assert not allows(roles.of_data[_ROLE], Access(f"dynamodb:{action}", _TABLE, ("webhooks",)))


def test_who_may_unseal_what(roles: Roles, stack: Stack) -> None:
    key = ARNS.key(stack.template._names["SealingKey"])
    may = {
        (handler, purpose)
        for handler, policy in roles.functions.items()
        for purpose in ("signing", "replay", "totp", "")
        if allows(policy, Access("kms:Decrypt", key, (), {"purpose": purpose}))
    }
    assert may == {
        (WORKER, "signing"),
        ("functions.webhooks.app.lambda_handler", "replay"),
        ("functions.settings.app.lambda_handler", "replay"),
        ("functions.settings.app.lambda_handler", "totp"),
        ("functions.oauth.app.lambda_handler", "totp"),
    }


_NEEDED = {
    RELAY: (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:UpdateItem", "sqs:SendMessage",
        "TENANT#*", "webhooks",
    ),
    WORKER: (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem",
        "dynamodb:UpdateItem", "kms:Decrypt", "signing", "sqs:SendMessage", "TENANT#*",
        "webhooks", "webhook#*", "count#webhook", "delivery#*",
    ),
}  # fmt: skip


@pytest.mark.parametrize("handler", _NEEDED)
def test_a_permission_that_is_missing_would_be_found(
    handler: str, webhooks: WebhookDesk, stack: Stack, watch: Watch
) -> None:
    _failed(webhooks)

    for lacking in _NEEDED[handler]:
        denied = [
            access for name, access in Roles(stack, lacking).denied(watch.made) if name == handler
        ]
        assert denied, f"nobody misses {lacking}"
        assert all(is_about(access, lacking) for access in denied)


def test_functions_behind_queues_and_streams_read_those_alone(roles: Roles, stack: Stack) -> None:
    """SAM's own policies for them would reach all of the account's."""
    template = stack.template
    queues = template.resources("AWS::SQS::Queue")
    behind = {"SQS": 0, "DynamoDB": 0}
    for function in template.resources("AWS::Serverless::Function").values():
        sources = [
            (event["Type"], event["Properties"])
            for event in function.get("Events", {}).values()
            if event["Type"] in behind
        ]
        for kind, _ in sources:
            behind[kind] += 1
        assert not sources or "Role" in function, function["Handler"]
        own = {facts["Queue"]["Fn::GetAtt"] for kind, facts in sources if kind == "SQS"}
        policy = roles.functions[function["Handler"]]
        for action in ("ReceiveMessage", "DeleteMessage"):
            may = {
                f"{queue}.Arn"
                for queue in queues
                if allows(policy, Access(f"sqs:{action}", ARNS.queue(template._names[queue])))
            }
            assert may == own, function["Handler"]
    assert behind == {"SQS": 3, "DynamoDB": 1}
