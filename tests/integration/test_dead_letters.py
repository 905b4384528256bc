"""Dead letters: their causes, and the redrive, which loses no message whatever fails."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from moto.sqs.models import sqs_backends

from functions.import_worker import app as import_worker
from functions.webhook_worker import app as webhook_worker
from operations import queues
from shared.kernel import dead_letters
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.dead_letters import CAUSE
from tests import gateway
from tests.clock import Clock
from tests.faults import (
    AwsFaults,
    Call,
    Fault,
    Forward,
    Killed,
    kill_after,
    kill_before,
    lose_answer,
    refuse_calls,
    success,
)
from tests.gateway import LambdaContext
from tests.import_scenario import WORKER as IMPORT_WORKER
from tests.import_scenario import ImportScenario
from tests.integration.cli.command_line import as_json, deploy_stack, run
from tests.sampling import sampled
from tests.stack import ACCOUNT, REGION, Stack
from tests.template import Template
from tests.webhook_scenario import WORKER as WEBHOOK_WORKER
from tests.webhook_scenario import WebhookScenario

_NAMES = {
    "imports": ("ImportQueue", "ImportDeadLetters"),
    "webhooks": ("WebhookQueue", "WebhookDeadLetters"),
    "webhooks-slow": ("WebhookSlowQueue", "WebhookDeadLetters"),
}
_FAILURE = {
    "version": "1.0",
    "timestamp": "2026-03-01T10:00:00.000Z",
    "requestContext": {
        "requestId": "r-1",
        "functionArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:stowage-relay-1:live",
        "condition": "RetryAttemptsExhausted",
        "approximateInvokeCount": 21,
    },
    "responseContext": {"statusCode": 200, "executedVersion": "7", "functionError": None},
    "DDBStreamBatchInfo": {"shardId": "s", "batchSize": 3, "streamArn": "arn"},
}
"""What Lambda sends for a batch of a stream that it has given up."""


@pytest.fixture(autouse=True)
def deployment(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack with the tenants acme and beta, which the command line finds."""
    assert stack
    assert clock
    monkeypatch.setattr(queues, "_LONG_POLL_SECONDS", 0)
    deploy_stack()


@pytest.fixture
def imports(stack: Stack) -> ImportScenario:
    return ImportScenario(stack)


def _arn(queue: str) -> str:
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:stowage-{queue}"


def _deliver(
    handler: str, body: str, *, receives: int, source: str, group: str = "acme.1"
) -> list[str]:
    """Deliver one message to a worker as Lambda does; return the ids of failed messages."""
    record = {
        "messageId": "m1",
        "receiptHandle": "r",
        "body": body,
        "attributes": {"ApproximateReceiveCount": str(receives), "MessageGroupId": group},
        "eventSource": "aws:sqs",
        "eventSourceARN": _arn(source),
    }
    answer = gateway._function(handler)({"Records": [record]}, LambdaContext(120_000))
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


_deliver_import = partial(_deliver, IMPORT_WORKER, source="ImportQueue")
_deliver_event = partial(_deliver, WEBHOOK_WORKER, source="WebhookSlowQueue")


def _stored(queue: str) -> list[Any]:
    """Return the messages of a queue in moto, as a list that changes it."""
    messages: list[Any] = sqs_backends[ACCOUNT][REGION].queues[f"stowage-{queue}"]._messages
    return messages


def _bodies(queue: str) -> Counter[str]:
    return Counter(message.body for message in _stored(queue))


def _show_all_messages(queue: str) -> None:
    """Let the time pass in which nobody else receives the messages of an ended reader."""
    for message in _stored(queue):
        message.visible_at = 0


def _causes(queue: str, *options: str) -> list[dict[str, Any]]:
    (row,) = [row for row in as_json("queues", *options) if row["queue"] == queue]
    causes: list[dict[str, Any]] = row["causes"]
    return causes


def _send(queue: str, *bodies: str, group: str = "acme.1") -> None:
    for body in bodies:
        client("sqs").send_message(
            QueueUrl=f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/stowage-{queue}",
            MessageBody=body,
            **({"MessageGroupId": group} if group else {}),
        )


# The cause


def test_workers_know_the_number_of_deliveries_of_their_queues() -> None:
    declared = Template({}).resources("AWS::SQS::Queue")
    counts = {
        name: declared[source]["RedrivePolicy"]["maxReceiveCount"]
        for name, (source, _) in _NAMES.items()
    }
    assert counts == {
        "imports": import_worker.MAX_DELIVERIES,
        "webhooks": webhook_worker.MAX_DELIVERIES,
        "webhooks-slow": webhook_worker.MAX_DELIVERIES,
    }


def test_import_worker_records_why_the_last_delivery_failed(
    imports: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert imports
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "stowage-import-worker")
    body = json.dumps({"tenant": "acme", "import": "Ana Ruiz"})

    assert _deliver_import(body, receives=import_worker.MAX_DELIVERIES - 1) == ["m1"]
    assert not _stored("ImportDeadLetters")
    assert _deliver_import(body, receives=import_worker.MAX_DELIVERIES) == []

    (letter,) = _stored("ImportDeadLetters")
    assert letter.body == body
    (cause,) = _causes("imports")
    assert cause["error"] == "ValueError"
    assert cause["message"] == "invalid literal for int() with base 10: '…'"
    assert cause["place"].startswith("functions/import_worker/app.py:")
    assert cause["function"] == "stowage-import-worker"
    assert cause["request_id"] == "m1"
    assert cause["last_at"] == cause["first_at"]
    assert cause["count"] == 1


def test_webhook_worker_records_why_the_last_delivery_failed(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    webhooks.subscribe()
    webhooks.create_product()
    webhooks.run_relay()
    (message,) = webhooks.take_messages()
    body = json.dumps({**message, "slow": True})

    with aws_faults.faulty(refuse_calls("GetItem", "BatchGetItem")):
        assert _deliver_event(body, receives=webhook_worker.MAX_DELIVERIES) == []

    (cause,) = _causes("webhooks")
    assert (cause["error"], cause["tenants"]) == ("ClientError", ["acme"])
    assert "(AccessDeniedException) when calling the" in cause["message"]
    assert cause["place"].startswith("shared/")
    assert not webhooks.requests


def test_invalid_delivery_message_becomes_a_dead_letter_with_its_cause() -> None:
    assert _deliver_event("[]", receives=webhook_worker.MAX_DELIVERIES) == []
    (cause,) = _causes("webhooks")
    assert (cause["error"], cause["tenants"]) == ("TypeError", [])


def test_cause_has_no_secrets_and_no_quoted_values() -> None:
    error = ValueError(
        "Bearer abcdefghijklmnop of ana@example.com: 'Ana Ruiz' and \"Calle 1\" "
        "whsec_0123456789abcdefghij"
    )
    text = dead_letters._message(error)
    assert text == "[secret] of '…': '…' and '…' [secret]"


def test_worker_leaves_the_message_to_sqs_when_the_cause_cannot_be_recorded(
    aws_faults: AwsFaults,
) -> None:
    with aws_faults.faulty(refuse_calls("SendMessage", code="AccessDenied")):
        assert _deliver_event("[]", receives=webhook_worker.MAX_DELIVERIES) == ["m1"]
    assert not _stored("WebhookDeadLetters")


# The list


def test_queues_shows_depth_age_and_dead_letters_by_cause() -> None:
    _send("ImportQueue", "{}", "{}")
    for number in range(3):
        _deliver_import(f'{{"tenant": "acme", "import": "{number}x"}}', receives=5)
    _deliver_import('{"tenant": 1}', receives=5)
    _send("ImportDeadLetters", "moved by SQS", group="")

    rows = {row["queue"]: row for row in as_json("queues")}

    assert rows.keys() == {"imports", "webhooks", "webhooks-slow", "relay"}
    imports = rows["imports"]
    assert (imports["waiting"], imports["in_flight"], imports["delayed"]) == (2, 0, 0)
    assert imports["dead_letters"] == imports["sampled"] == 5
    assert imports["causes"][0]["count"] == 3
    assert sorted((cause["error"], cause["count"]) for cause in imports["causes"]) == [
        ("ValueError", 1), ("ValueError", 3), (queues.NO_CAUSE.error, 1),
    ]  # fmt: skip
    assert rows["webhooks-slow"]["dead_letters"] is None
    assert _visible("ImportDeadLetters") == 5, "they were released"


def _visible(queue: str) -> int:
    return int(queues._counts(config().import_dead_letters.replace("ImportDeadLetters", queue))[0])


def test_queues_says_how_many_dead_letters_it_has_read() -> None:
    _send("WebhookDeadLetters", *map(str, range(25)))
    shown = run("queues", "--sample", "12")
    assert shown.exit_code == 0, shown.stderr
    assert "webhooks: causes of 12 of 25 dead letters." in shown.stderr
    assert "Other readers did not see these for at most 30 s." in shown.stderr
    assert "none recorded" in shown.stdout
    assert _visible("WebhookDeadLetters") == 25


def test_queues_shows_the_newest_age_of_the_oldest_message() -> None:
    dimension = {"Name": "QueueName", "Value": "stowage-ImportQueue"}
    for minutes, age in ((4, 400.0), (2, 90.0)):
        client("cloudwatch").put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Value": age,
                    "Dimensions": [dimension],
                    "Timestamp": datetime.now(UTC) - timedelta(minutes=minutes),
                }
            ],
        )
    rows = as_json("queues")
    assert [row["oldest_seconds"] for row in rows] == [90, None, None, None]


def test_failures_of_the_relay_have_the_cause_that_lambda_gives() -> None:
    _send("RelayFailures", json.dumps(_FAILURE), group="")
    (cause,) = _causes("relay")
    assert cause["error"] == "RetryAttemptsExhausted"
    assert cause["message"] == "The relay gave up a batch of 3 events of the outbox."
    assert (cause["function"], cause["request_id"]) == ("stowage-relay-1", "r-1")


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "text", "5", "null", "[" * 9_000])
def test_any_message_is_shown(text: str) -> None:
    """As a body, and as the cause that is recorded with a message."""
    wrong_types = _FAILURE | {"timestamp": 5}
    _send("RelayFailures", text, json.dumps(wrong_types), json.dumps(_FAILURE), group="")
    for cause in (text, '{"error": "E", "message": 6}', '{"error": "E", "message": "M"}'):
        client("sqs").send_message(
            QueueUrl=config().import_dead_letters,
            MessageBody=text,
            MessageAttributes={CAUSE: {"DataType": "String", "StringValue": cause}},
        )

    relay, imports = _causes("relay"), _causes("imports")

    assert [(one["error"], one["count"]) for one in relay] == [
        ("unreadable", 2), ("RetryAttemptsExhausted", 1),
    ]  # fmt: skip
    assert [(one["error"], one["count"]) for one in imports] == [("unreadable", 2), ("E", 1)]


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "text", "5"])
@pytest.mark.parametrize("queue", ["imports", "webhooks"])
def test_redriven_message_that_no_worker_reads_is_a_dead_letter_again(
    queue: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    deliver = {"imports": _deliver_import, "webhooks": _deliver_event}[queue]

    assert deliver(text, receives=1)
    assert deliver(text, receives=20) == []

    assert [record.levelname for record in caplog.records].count("ERROR") == 2
    (cause,) = _causes(queue)
    assert cause["place"]


# The redrive


def test_redrive_sends_messages_to_the_queue_they_came_from_in_their_group() -> None:
    for source, body in (("WebhookQueue", '"fast"'), ("WebhookSlowQueue", '"slow"')):
        _deliver(WEBHOOK_WORKER, body, receives=20, source=source, group=f"acme.{len(body)}")
    _send("WebhookDeadLetters", '"by hand"')

    done = as_json("queues", "redrive", "webhooks")

    assert done == {"queue": "webhooks", "sent": 3, "failed": 0, "left": 0, "events": 0}
    assert _bodies("WebhookQueue") == Counter(['"fast"', '"by hand"'])
    assert _bodies("WebhookSlowQueue") == Counter(['"slow"'])
    assert _stored("WebhookSlowQueue")[0].group_id == "acme.6"
    assert CAUSE not in _stored("WebhookSlowQueue")[0].message_attributes
    again = as_json("queues", "redrive", "webhooks")
    assert (again["sent"], again["left"]) == (0, 0)


_REDRIVE, _RELAY_REDRIVE = (
    [(fault, at) for at in range(calls) for fault in (kill_before, kill_after, lose_answer)]
    for calls in (9, 10)
)
"""Faults of a redrive of 12 messages and of one of the relay, which make these calls or more."""


@pytest.mark.parametrize(("fault", "at"), sampled("redrive", _REDRIVE, every=8))
def test_redrive_that_dies_or_fails_at_any_call_loses_nothing_and_continues(
    fault: Callable[[int], Fault], at: int, aws_faults: AwsFaults
) -> None:
    bodies = {f"{number}" for number in range(12)}
    _send("ImportDeadLetters", *sorted(bodies), group="")

    with aws_faults.faulty(fault(at)), suppress(Killed):
        queues.redrive("imports")

    assert {*_bodies("ImportQueue"), *_bodies("ImportDeadLetters")} == bodies
    _show_all_messages("ImportDeadLetters")
    assert queues.redrive("imports").left == 0
    assert not _stored("ImportDeadLetters")
    sent = _bodies("ImportQueue")
    assert sent.keys() == bodies
    assert sent.total() <= len(bodies) + 20, "at most the messages of one call are sent twice"


def test_redrive_keeps_messages_that_sqs_does_not_accept(aws_faults: AwsFaults) -> None:
    _send("ImportDeadLetters", "a", "b", "c", group="")

    def refuse_one(call: Call, forward: Forward) -> Any:
        if call.operation != "SendMessageBatch":
            return forward()
        (http, _), error = success()
        parsed = {"Successful": [], "Failed": [{"Id": "1", "SenderFault": False, "Code": "x"}]}
        forward()
        return (http, parsed), error

    with aws_faults.faulty(refuse_one):
        refused = run("--json", "queues", "redrive", "imports")

    assert refused.exit_code == 1
    assert json.loads(refused.stderr)["error"]["code"] == "redrive_failed"
    assert json.loads(refused.stdout) == {
        "queue": "imports", "sent": 2, "failed": 1, "left": 1, "events": 0,
    }  # fmt: skip
    assert as_json("queues", "redrive", "imports")["left"] == 0


# The relay


def _given_up(webhooks: WebhookScenario) -> None:
    """Let the relay give up the event of a product."""
    webhooks.subscribe()
    webhooks.create_product()
    webhooks.new_stream_batch()  # never relayed
    _send("RelayFailures", json.dumps(_FAILURE), group="")


def test_redrive_of_the_relay_relays_the_events_then_removes_its_failures(
    webhooks: WebhookScenario,
) -> None:
    _given_up(webhooks)

    done = as_json("queues", "redrive", "relay")

    assert (done["sent"], done["failed"], done["left"]) == (1, 0, 0)
    assert done["events"] >= 1
    webhooks.run_until_idle()
    assert len(webhooks.requests) == 1
    assert as_json("queues", "redrive", "relay")["events"] == 0


@pytest.mark.parametrize(("fault", "at"), sampled("relay redrive", _RELAY_REDRIVE, every=8))
def test_redrive_of_the_relay_that_dies_at_any_call_loses_no_event(
    fault: Callable[[int], Fault], at: int, webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    _given_up(webhooks)

    with aws_faults.faulty(fault(at)), suppress(Killed):
        queues.redrive("relay")
    _show_all_messages("RelayFailures")
    queues.redrive("relay")
    webhooks.run_until_idle()

    assert not _stored("RelayFailures")
    assert len({request.event["id"] for request in webhooks.requests}) == 1


def test_failures_of_the_relay_are_kept_while_events_cannot_be_relayed(
    webhooks: WebhookScenario, aws_faults: AwsFaults
) -> None:
    _given_up(webhooks)

    with aws_faults.faulty(refuse_calls("SendMessageBatch", code="AccessDenied")):
        refused = run("queues", "redrive", "relay")

    assert refused.exit_code == 1
    assert "Events could not be relayed: 1. They are kept." in refused.stderr
    assert len(_stored("RelayFailures")) == 1
