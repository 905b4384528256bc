"""The queues of a deployment: their depth and age, dead letters by cause, and their redrive.

A redrive sends each dead letter to the queue that it came from, then deletes it. A run that ends in
between leaves a message in both queues; the workers process a message that they receive twice only
once (D-270). The failures of the relay are no messages to send: their events are in the outbox.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from operations import provisioning
from operations.progress import ReportProgress, no_progress
from shared.integration.webhooks.relay import relay_missed_entries
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.dead_letters import CAUSE, Cause
from shared.kernel.json_text import loads

DEFAULT_SAMPLE = 100
"""Dead letters of a queue that are read to show their causes."""
READ_SECONDS = 30
"""Longest time for which other readers do not see the dead letters that are read."""
_HELD_SECONDS = 60
"""Time in which a redrive sends and deletes the messages of one call."""
_HELD_BY_RELAY_SECONDS = 900
"""Time in which all events are relayed, before the failures of the relay can be read again."""
_LONG_POLL_SECONDS = 1
"""With a wait, SQS asks all its servers; without, an answer may be empty although messages wait."""
_MAX_MESSAGES = 10
"""Messages of one call."""
_AGE_MINUTES = 15

NO_CAUSE = Cause(
    error="none recorded",
    message="The function died (timeout, memory), or Lambda stopped a loop. See its log group.",
)

UNREADABLE = Cause(
    error="unreadable",
    message="This service did not write the message, or not its cause.",
)


@dataclass(frozen=True, slots=True)
class WorkQueue:
    """A queue and its dead-letter queue; several queues may have the same one.

    Attributes:
        name: Name in the command line.
        url: URL; None for the stream that the relay reads.
        dead_letters: URL of the queue of its dead letters.
    """

    name: str
    url: str | None
    dead_letters: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """What a queue holds, as SQS reports it: approximately, and some seconds late.

    Attributes:
        name: Name in the command line.
        waiting: Messages that can be received.
        in_flight: Messages that a worker has received.
        delayed: Messages that are due later.
        oldest_seconds: Age of the oldest message; None if CloudWatch has none.
        dead_letters: Dead letters; None if they are those of a queue in REDRIVEN.
    """

    name: str
    waiting: int | None = None
    in_flight: int | None = None
    delayed: int | None = None
    oldest_seconds: int | None = None
    dead_letters: int | None = None


@dataclass(slots=True)
class CauseCount:
    """Dead letters of a queue with the same error at the same place.

    Attributes:
        queue: Name of the queue.
        cause: The cause of the newest one.
        count: Number in the sample.
        tenants: Slugs.
        first_at: Time of the first failure in the sample.
    """

    queue: str
    cause: Cause
    count: int
    tenants: list[str]
    first_at: str | None


@dataclass(frozen=True, slots=True)
class Sample:
    """The causes of some dead letters of a queue, most frequent first."""

    queue: str
    read: int
    of: int
    causes: list[CauseCount]


@dataclass(slots=True)
class Redriven:
    """The result of a redrive: numbers of dead letters, and of relayed events."""

    queue: str
    sent: int = 0
    failed: int = 0
    left: int = 0
    events: int = 0


@dataclass(frozen=True, slots=True)
class _DeadLetter:
    id: str
    receipt: str
    body: str
    group: str | None
    cause: Cause | None
    """None if SQS has moved it."""
    source: str | None
    """ARN of the queue that it came from."""


def work_queues() -> tuple[WorkQueue, ...]:
    """Return the queues of the deployment."""
    settings = config()
    return (
        WorkQueue("imports", settings.import_queue, settings.import_dead_letters),
        WorkQueue("webhooks", settings.webhook_queue, settings.webhook_dead_letters),
        WorkQueue("webhooks-slow", settings.webhook_slow_queue, settings.webhook_dead_letters),
        WorkQueue("relay", None, settings.relay_failures),
    )


REDRIVEN = ("imports", "webhooks", "relay")
"""Names of the queues with dead letters; both queues of deliveries share theirs."""


def list_queues() -> list[QueueState]:
    """Return the state of every queue."""
    return [_state(queue) for queue in work_queues()]


def sample_causes(limit: int = DEFAULT_SAMPLE) -> list[Sample]:
    """Return the causes of up to `limit` dead letters of each queue, without consuming them.

    Other readers do not see these messages for at most READ_SECONDS; they are released at the end.
    """
    samples = []
    for queue in work_queues():
        if queue.name not in REDRIVEN:
            continue
        count = _count(queue.dead_letters)
        with _borrowed(queue.dead_letters, limit if count else 0) as letters:
            of = max(len(letters), count)
            samples.append(Sample(queue.name, len(letters), of, _by_cause(queue.name, letters)))
    return samples


def redrive(name: str, *, progress: ReportProgress = no_progress) -> Redriven:
    """Send the dead letters of a queue to where they came from. Safe to repeat."""
    (queue,) = (one for one in work_queues() if one.name == name)
    result = Redriven(name)
    if queue.url is None:
        _redrive_relay(queue.dead_letters, result, progress)
    else:
        _redrive_messages(queue, result, progress)
    result.left = _count(queue.dead_letters)
    return result


# Depth and age


def _state(queue: WorkQueue) -> QueueState:
    dead_letters = _count(queue.dead_letters) if queue.name in REDRIVEN else None
    if queue.url is None:
        return QueueState(queue.name, dead_letters=dead_letters)
    waiting, in_flight, delayed = _counts(queue.url)
    oldest = _oldest_seconds(queue.url)
    return QueueState(queue.name, waiting, in_flight, delayed, oldest, dead_letters)


def _counts(url: str) -> tuple[int, int, int]:
    """Return the numbers of waiting messages, of those in flight, and of delayed ones."""
    names = ["", "NotVisible", "Delayed"]
    found = client("sqs").get_queue_attributes(
        QueueUrl=url, AttributeNames=[f"ApproximateNumberOfMessages{name}" for name in names]
    )["Attributes"]
    waiting, in_flight, delayed = (
        int(found[f"ApproximateNumberOfMessages{name}"]) for name in names
    )
    return waiting, in_flight, delayed


def _count(url: str) -> int:
    return sum(_counts(url))


def _oldest_seconds(url: str) -> int | None:
    """Return the newest value of the metric; receiving messages would count as a delivery."""
    now = datetime.now(UTC)
    found = client("cloudwatch").get_metric_statistics(
        Namespace="AWS/SQS",
        MetricName="ApproximateAgeOfOldestMessage",
        Dimensions=[{"Name": "QueueName", "Value": url.rpartition("/")[2]}],
        StartTime=now - timedelta(minutes=_AGE_MINUTES),
        EndTime=now,
        Period=60,
        Statistics=["Maximum"],
    )["Datapoints"]
    newest = max(found, key=lambda point: point["Timestamp"], default=None)
    return int(newest["Maximum"]) if newest else None


# Reading dead letters


def _receive(url: str, seconds: int, limit: int = _MAX_MESSAGES) -> list[_DeadLetter]:
    """Receive up to `limit` dead letters, at most ten; nobody else gets them for `seconds`."""
    received = client("sqs").receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=min(limit, _MAX_MESSAGES),
        VisibilityTimeout=seconds,
        WaitTimeSeconds=_LONG_POLL_SECONDS,
        MessageSystemAttributeNames=["All"],
        MessageAttributeNames=[CAUSE],
    )
    return [_dead_letter(message) for message in received.get("Messages", ())]


def _dead_letter(message: Mapping[str, Any]) -> _DeadLetter:
    system = message["Attributes"]
    recorded = message.get("MessageAttributes", {}).get(CAUSE)
    cause = _read(_parse_cause, recorded["StringValue"]) if recorded else None
    return _DeadLetter(
        id=message["MessageId"],
        receipt=message["ReceiptHandle"],
        body=message["Body"],
        group=system.get("MessageGroupId"),
        cause=cause,
        source=cause.source if cause else system.get("DeadLetterQueueSourceArn"),
    )


def _read(parse: Callable[[str], Cause], text: str) -> Cause:
    """Return the cause in a text; UNREADABLE if anybody may have written it."""
    try:
        return parse(text)
    except (AttributeError, KeyError, TypeError, ValueError):
        return UNREADABLE


@contextmanager
def _borrowed(url: str, limit: int) -> Iterator[list[_DeadLetter]]:
    """Receive up to `limit` dead letters, and release them at the end of the block."""
    letters: dict[str, _DeadLetter] = {}
    try:
        while (room := limit - len(letters)) and (received := _receive(url, READ_SECONDS, room)):
            letters |= {letter.id: letter for letter in received}
        yield list(letters.values())
    finally:
        _release(url, letters.values())


def _release(url: str, letters: Iterable[_DeadLetter]) -> None:
    """Let others receive the messages at once."""
    _for_each_batch(
        client("sqs").change_message_visibility_batch, url, letters,
        lambda letter: {"ReceiptHandle": letter.receipt, "VisibilityTimeout": 0},
    )  # fmt: skip


def _delete(url: str, letters: Iterable[_DeadLetter]) -> None:
    _for_each_batch(
        client("sqs").delete_message_batch, url, letters,
        lambda letter: {"ReceiptHandle": letter.receipt},
    )  # fmt: skip


def _for_each_batch(
    call: Callable[..., Mapping[str, Any]],
    url: str,
    letters: Iterable[_DeadLetter],
    entry: Callable[[_DeadLetter], dict[str, Any]],
) -> list[_DeadLetter]:
    """Make a batch call for the messages, ten at a time; return those that SQS did not accept."""
    rest, refused = list(letters), []
    while batch := rest[:_MAX_MESSAGES]:
        entries = [{"Id": str(number), **entry(letter)} for number, letter in enumerate(batch)]
        answer = call(QueueUrl=url, Entries=entries)
        refused += [batch[int(failed["Id"])] for failed in answer.get("Failed", ())]
        rest = rest[_MAX_MESSAGES:]
    return refused


def _by_cause(queue: str, letters: Iterable[_DeadLetter]) -> list[CauseCount]:
    """Count the dead letters by error and place, most frequent first."""
    counts: dict[tuple[str, str], CauseCount] = {}
    for cause in sorted(
        (_shown_cause(queue, letter) for letter in letters), key=lambda one: one.failed_at or ""
    ):
        key = (cause.error, cause.place)
        found = counts.setdefault(key, CauseCount(queue, cause, 0, [], cause.failed_at))
        found.count += 1
        found.cause = cause
        if cause.tenant and cause.tenant not in found.tenants:
            found.tenants.append(cause.tenant)
    return sorted(counts.values(), key=lambda one: -one.count)


def _shown_cause(queue: str, letter: _DeadLetter) -> Cause:
    if letter.cause:
        return letter.cause
    return _read(_relay_cause, letter.body) if queue == "relay" else NO_CAUSE


def _relay_cause(body: str) -> Cause:
    """Return the cause that Lambda writes for a batch of a stream that it gave up."""
    record = loads(body)
    context, batch = record["requestContext"], record["DDBStreamBatchInfo"]
    return _checked_cause(
        error=context["condition"],
        message=f"The relay gave up a batch of {batch['batchSize']} events of the outbox.",
        function=context["functionArn"].partition(":function:")[2].partition(":")[0],
        request_id=context["requestId"],
        failed_at=record["timestamp"],
    )


# Redrive


def _redrive_messages(queue: WorkQueue, result: Redriven, progress: ReportProgress) -> None:
    url = queue.dead_letters
    total = _count(url)
    refused: list[_DeadLetter] = []
    try:
        while received := _receive(url, _HELD_SECONDS):
            unsent = _send_back(queue, received)
            # Not before: a message must be in one of the queues at every moment.
            _delete(url, [letter for letter in received if letter not in unsent])
            refused += unsent
            result.sent += len(received) - len(unsent)
            result.failed += len(unsent)
            progress(f"{queue.name}: {result.sent} of about {total} messages sent")
    finally:
        _release(url, refused)


def _send_back(queue: WorkQueue, letters: Iterable[_DeadLetter]) -> list[_DeadLetter]:
    """Send messages to the queues that they came from; return those that were not accepted."""
    urls = {one.url.rpartition("/")[2]: one.url for one in work_queues() if one.url}

    def target(letter: _DeadLetter) -> str:
        name = (letter.source or "").rpartition(":")[2]
        return urls.get(name) or queue.url or ""

    unsent: list[_DeadLetter] = []
    for url, ones in groupby(sorted(letters, key=target), target):
        unsent += _for_each_batch(
            client("sqs").send_message_batch, url, ones,
            lambda letter: {"MessageBody": letter.body}
            | ({"MessageGroupId": letter.group} if letter.group else {}),
        )  # fmt: skip
    return unsent


def _redrive_relay(url: str, result: Redriven, progress: ReportProgress) -> None:
    """Relay the events that the relay has given up, then delete its failures."""
    failures: list[_DeadLetter] = []
    try:
        while received := _receive(url, _HELD_BY_RELAY_SECONDS):
            failures += received
        # Only if there are failures: `stowage events relay` relays without them.
        for tenant in provisioning.list_tenants() if failures else ():
            for relayed, failed in relay_missed_entries(tenant.slug, older_than=0):
                result.events += relayed
                result.failed += failed
                progress(f"relay: {result.events} events relayed")
        if not result.failed:
            _delete(url, failures)
            result.sent = len(failures)
            failures = []
    finally:
        _release(url, failures)


def _parse_cause(text: str) -> Cause:
    """Parse the value of the attribute `CAUSE`; fields of other releases are ignored.

    Raises AttributeError, TypeError or ValueError for what is no cause.
    """
    fields = {name: one for name, one in loads(text).items() if name in Cause.__slots__}
    return _checked_cause(**fields)


def _checked_cause(**fields: Any) -> Cause:
    """Return a cause of fields of any type; TypeError if one is missing or no text."""
    if not all(isinstance(one, str) for one in fields.values() if one is not None):
        message = f"not all are texts: {fields}"
        raise TypeError(message)
    return Cause(**fields)
