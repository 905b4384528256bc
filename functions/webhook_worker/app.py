"""Deliver events to webhook endpoints: the consumer of the two delivery queues."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

# Before pydantic (isort's order): Powertools otherwise also imports its parser models, which the
# build leaves out (tools/finish_build.py).
from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from shared.integration.webhooks.delivery import TaskOutcome, deliver
from shared.integration.webhooks.recovery import RecoveryOutcome, recover
from shared.integration.webhooks.tasks import RecoveryTask, parse_task
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.dead_letters import send_dead_letter
from shared.kernel.json_text import loads
from shared.kernel.observability import bind, count, flush, log_consumed, logger, measure

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

MAX_DELIVERIES = 20
"""The `maxReceiveCount` in the redrive policies of both queues."""
_BATCH_SIZE = 10
"""Messages of one invocation, as in the template. All of them are delivered concurrently."""
_RESERVE_MS = 5_000
"""Part of the invocation's time in which no database call is retried any more."""

_ATTEMPTED = {"succeeded", "retrying", "failed"}


class _ConflictError(Exception):
    """Another worker recorded the same attempt first; SQS must return the message."""


_threads = ThreadPoolExecutor(_BATCH_SIZE, thread_name_prefix="delivery")


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> Any:
    """Process a batch of delivery messages concurrently and report those that failed."""
    bind(request_id=context.aws_request_id)
    deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
    processor = AsyncBatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    with processor(event["Records"], partial(_process, deadline=deadline)):
        results = processor.async_process()
    delays = [ms for status, ms, _ in results if status == "success" and ms is not None]
    if delays:
        # The age of the oldest message says nothing: retries wait in the queue.
        measure("delivery_delay", max(delays))
    log_consumed()
    flush()
    return processor.response()


async def _process(record: SQSRecord, *, deadline: Deadline) -> int | None:
    """Process one message in a thread of the pool.

    Returns:
        Milliseconds between the time the attempt was due and its start; None when the message
        led to no attempt.

    Raises:
        Exception: The message must be received again.
    """
    loop = asyncio.get_running_loop()
    try:
        outcome, late_ms = await loop.run_in_executor(_threads, _deliver, record, deadline)
    except Exception as error:
        logger.exception("The delivery failed unexpectedly", message_id=record.message_id)
        count("deliveries_error")
        if await loop.run_in_executor(_threads, _send_dead_letter, record, error):
            return None
        raise
    count(f"deliveries_{outcome}")
    if outcome == "conflict":
        conflict = _ConflictError()
        if await loop.run_in_executor(_threads, _send_dead_letter, record, conflict):
            return None
        raise conflict
    return late_ms if outcome in _ATTEMPTED else None


def _send_dead_letter(record: SQSRecord, error: Exception) -> bool:
    queue, tenant = config().webhook_dead_letters, None
    with suppress(ValueError, AttributeError):
        tenant = loads(record.body).get("tenant")
    return send_dead_letter(record, error, queue, deliveries=MAX_DELIVERIES, tenant=tenant)


def _deliver(record: SQSRecord, deadline: Deadline) -> tuple[TaskOutcome | RecoveryOutcome, int]:
    task = parse_task(loads(record.body))
    late_ms = task.late_ms
    if isinstance(task, RecoveryTask):
        result = recover(task, deadline)
        logger.info("recovery", tenant=task.tenant, webhook=task.webhook, outcome=result)
        return result, late_ms
    received_before = int(record.attributes.approximate_receive_count) > 1
    outcome = deliver(task, deadline, received_before=received_before)
    logger.info(
        "delivery",
        tenant=task.tenant,
        webhook=task.webhook,
        event_id=task.event,
        attempt=task.attempt,
        outcome=outcome,
    )
    return outcome, late_ms
