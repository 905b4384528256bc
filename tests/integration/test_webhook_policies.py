"""IAM permissions of relay and worker: sufficient for their calls, and limited to webhooks."""

from collections.abc import Callable

import pytest

from functions.webhook_worker.app import MAX_DELIVERIES
from shared.integration.webhooks.http_client import AttemptResult
from shared.integration.webhooks.rules import MAX_FAILURES
from shared.kernel.clock import instant, now_ms
from tests.aws_calls import Watch
from tests.cases import each_case
from tests.clock import Clock
from tests.expanded_template import expanded_of
from tests.iam import Access, Policy, allows
from tests.integration.roles import ARNS, Roles, concerns
from tests.stack import Stack
from tests.webhook_scenario import (
    RELAY,
    WORKER,
    SentRequest,
    WebhookScenario,
    respond_500,
    run_relay,
    stream_batch,
)

_ROLE = "WebhookDataRole"
_TABLE = ARNS.table("stowage-tenant-acme")
_SLOW_MS = 4_000


def _respond_slowly(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=_SLOW_MS, status=200)


def _respond_410(_: SentRequest) -> AttemptResult:
    return AttemptResult(milliseconds=12, status=410, error="responded with status 410")


def _succeeding_deliveries(webhooks: WebhookScenario) -> None:
    """Deliver an event, redeliver it, and deliver events to a slow endpoint."""
    number = webhooks.subscribe()["id"]
    webhooks.create_product(1)
    webhooks.run_until_idle()
    (delivery,) = webhooks.deliveries(number)
    assert delivery["status"] == "succeeded"
    again = f"/webhooks/{number}/deliveries/{delivery['id']}/redeliver"
    assert webhooks.erp.post(again).status == 202
    webhooks.run_until_idle()
    since = instant(now_ms() - 86_400_000)
    assert webhooks.erp.post(f"/webhooks/{number}/recover", {"since": since}).status == 202
    webhooks.run_until_idle()
    webhooks.endpoint = _respond_slowly
    for product in (2, 3):
        webhooks.create_product(product)
        webhooks.run_until_idle()
    assert len(webhooks.requests) == 4


def _failing_deliveries(webhooks: WebhookScenario) -> None:
    """Fail deliveries until their subscription is deactivated, and respond with 410."""
    webhooks.endpoint = respond_500
    number = webhooks.subscribe()["id"]
    for product in range(1, MAX_FAILURES + 1):
        webhooks.create_product(product)
        webhooks.run_until_idle()
    assert webhooks.get(number)["is_active"] is False
    webhooks.endpoint = _respond_410
    number = webhooks.subscribe()["id"]
    webhooks.create_product(0)
    webhooks.run_until_idle()
    assert webhooks.get(number)["is_active"] is False


def _obsolete_deliveries(webhooks: WebhookScenario) -> None:
    """Change subscriptions between event and delivery, and duplicate messages."""
    kept, inactive, deleted = (webhooks.subscribe()["id"] for _ in range(3))
    webhooks.create_product()
    assert webhooks.run_relay() == []
    assert webhooks.erp.patch(f"/webhooks/{inactive}", {"is_active": False}).status == 200
    assert webhooks.erp.delete(f"/webhooks/{deleted}").status == 200
    bodies = webhooks.take_messages()
    assert webhooks.run_worker(*bodies) == webhooks.run_worker(*bodies, receives=2) == []
    webhooks.run_until_idle()
    assert len(webhooks.requests) == 1
    assert webhooks.deliveries(kept)[0]["status"] == "succeeded"
    assert webhooks.deliveries(inactive)[0]["status"] == "cancelled"


def _dead_letters(webhooks: WebhookScenario) -> None:
    """Fail the last delivery of a message, which the worker sends to the dead-letter queue."""
    _obsolete_deliveries(webhooks)
    assert webhooks.run_worker({"no": "task"}, receives=MAX_DELIVERIES) == []


@pytest.mark.parametrize(
    "scenario", [_succeeding_deliveries, _failing_deliveries, _obsolete_deliveries, _dead_letters]
)
def test_every_call_is_allowed_and_none_on_another_tenant(
    scenario: Callable[[WebhookScenario], None],
    webhooks: WebhookScenario,
    roles: Roles,
    watch: Watch,
) -> None:
    scenario(webhooks)

    calls = [made for made in watch.made if made.handler in {RELAY, WORKER}]
    assert {made.handler for made in calls} == {RELAY, WORKER}
    assert roles.denied(watch.made) == []
    roles.assert_no_access_to_other_tenant(calls)


def test_only_relay_and_worker_assume_their_data_roles_and_no_other(roles: Roles) -> None:
    for handler, own in ((WORKER, _ROLE), (RELAY, "RelayDataRole")):
        assert {r for r in roles.data_roles if handler in roles.functions_assuming(r)} == {own}
        assert roles.functions_assuming(own) == {handler}


def test_the_relay_reads_subscriptions_appends_changes_and_marks_entries(
    roles: Roles, stack: Stack
) -> None:
    role = roles.data_roles["RelayDataRole"]
    reached = {
        (action, key)
        for action in ("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query")
        for key in (
            "feed",
            "webhooks",
            "webhook#000000000001",
            "delivery#1",
            "product#000000000001",
        )
        if allows(role, Access(f"dynamodb:{action}", _TABLE, (key,)))
    }
    assert reached == {
        ("GetItem", "webhooks"), ("GetItem", "feed"), ("Query", "feed"),
        ("PutItem", "feed"), ("UpdateItem", "feed"),
    }  # fmt: skip
    outbox = ARNS.table(stack.template._names["OutboxTable"])

    def may(policy: Policy, action: str, *attributes: str) -> bool:
        access = Access(f"dynamodb:{action}", outbox, ("acme#0",), attributes=attributes)
        return allows(policy, access)

    own = roles.functions[RELAY]
    assert may(own, "UpdateItem", "PK", "SK", "expires_at")
    assert not may(own, "UpdateItem", "PK", "SK", "event")
    assert not may(own, "UpdateItem")
    assert not may(own, "PutItem", "PK", "SK", "expires_at")
    assert may(role, "BatchGetItem")
    assert not may(role, "UpdateItem", "PK", "SK", "expires_at")


@pytest.mark.parametrize(
    "key", ["product#000000000001", "count#product", "idempotency#erp#key", "open", "sequence"]
)
def test_the_data_role_reaches_only_webhook_items_of_a_tenant(roles: Roles, key: str) -> None:
    for action in ("GetItem", "BatchGetItem", "PutItem", "UpdateItem"):
        allowed = Access(f"dynamodb:{action}", _TABLE, ("webhook#000000000001",))
        forbidden = Access(f"dynamodb:{action}", _TABLE, ("webhook#000000000001", key))
        assert allows(roles.data_roles[_ROLE], allowed)
        assert not allows(roles.data_roles[_ROLE], forbidden)
    for action in ("DeleteItem", "Query", "Scan"):
        assert not allows(
            roles.data_roles[_ROLE], Access(f"dynamodb:{action}", _TABLE, ("webhooks",))
        )


_PURPOSES = ("signing", "replay", "totp", "client", "canary", "")


def _purposes(roles: Roles, stack: Stack, action: str) -> set[tuple[str, str]]:
    """Return handler and purpose of the calls with the sealing key that are allowed."""
    key = ARNS.key(stack.template._names["SealingKey"])
    return {
        (handler.split(".")[1], purpose)
        for handler, policy in roles.functions.items()
        for purpose in _PURPOSES
        if allows(policy, Access(action, key, (), {"purpose": purpose} if purpose else {}))
    }


def test_each_function_decrypts_only_for_its_purposes(roles: Roles, stack: Stack) -> None:
    assert _purposes(roles, stack, "kms:Decrypt") == {
        ("webhook_worker", "signing"),
        ("webhooks", "replay"),
        ("settings", "replay"),
        ("settings", "totp"),
        ("oauth", "totp"),
        ("canary", "canary"),
    }


def test_each_function_encrypts_only_for_its_purposes(roles: Roles, stack: Stack) -> None:
    assert _purposes(roles, stack, "kms:Encrypt") == {
        ("webhooks", "replay"),
        ("webhooks", "signing"),
        ("settings", "replay"),
        ("settings", "totp"),
        ("settings", "client"),
    }


_NEEDED = {
    RELAY: (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:UpdateItem", "sqs:SendMessage",
        "dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:Query", "TENANT#*",
        "feed", "webhooks",
    ),
    WORKER: (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:PutItem",
        "dynamodb:UpdateItem", "kms:Decrypt", "signing", "sqs:SendMessage", "TENANT#*",
        "scheduler:CreateSchedule", "iam:PassRole", "scheduler.amazonaws.com",
        "webhooks", "webhook#*", "delivery#*",
    ),
}  # fmt: skip


def test_a_removed_permission_is_detected(
    webhooks: WebhookScenario,
    roles: Roles,
    watch: Watch,
    clock: Clock,
    request: pytest.FixtureRequest,
) -> None:
    clock.advance(60)  # what is as old as the feed is recognized by its mark
    webhooks.create_product(MAX_FAILURES + 1)
    batch = stream_batch(webhooks.stack.outbox_items("acme"))
    _failing_deliveries(webhooks)
    run_relay(batch)  # a repeat looks for its entries in the feed

    @each_case(
        ("handler", "removed"),
        [(handler, removed) for handler, needed in _NEEDED.items() for removed in needed],
    )
    def check(handler: str, removed: str) -> None:
        denied = [
            access for name, access in roles.lacking(removed).denied(watch.made) if name == handler
        ]
        assert denied, f"no call needs {removed}"
        assert all(concerns(access, removed) for access in denied)

    check(request)


def test_queue_and_stream_consumers_read_only_their_own_sources(roles: Roles, stack: Stack) -> None:
    """The policies that SAM generates would allow all queues and streams of the account."""
    names = stack.template._names
    actions = {
        "sqs": ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes"),
        "dynamodb": ("DescribeStream", "GetRecords", "GetShardIterator"),
    }
    every: dict[str, dict[str, str]] = {"sqs": {}, "dynamodb": {}}
    for queue in stack.template.resources("AWS::SQS::Queue"):
        every["sqs"][f"{queue}.Arn"] = ARNS.queue(names[queue])
    for table in stack.template.resources("AWS::DynamoDB::Table"):
        every["dynamodb"][f"{table}.StreamArn"] = f"{ARNS.table(names[table])}/stream/1"
    mappings = [
        one["Properties"] for one in expanded_of("AWS::Lambda::EventSourceMapping").values()
    ]
    assert len(mappings) == 4
    for name, function in expanded_of("AWS::Lambda::Function").items():
        own = {
            ".".join(one["EventSourceArn"]["Fn::GetAtt"])
            for one in mappings
            if one["FunctionName"] == {"Ref": f"{name}Aliaslive"}
        }
        policy = roles.functions[function["Properties"]["Handler"]]
        for service, sources in every.items():
            for action in actions[service]:
                allowed = {
                    source
                    for source, arn in sources.items()
                    if allows(policy, Access(f"{service}:{action}", arn))
                }
                assert allowed == own & sources.keys(), (name, action)
