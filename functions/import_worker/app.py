"""Processes imports and exports: messages of the queue, and notifications of dropped files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.integration.exports.context import export_context
from shared.integration.exports.worker import process_export
from shared.integration.imports.context import import_context
from shared.integration.imports.received_files import ReceivedFile, import_of_received_file
from shared.integration.imports.worker import process_import
from shared.integration.reconciliations.context import reconciliation_context
from shared.integration.reconciliations.worker import process_reconciliation
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.dead_letters import send_dead_letter
from shared.kernel.json_text import loads
from shared.kernel.observability import bind, bound_tenant, flush, log_consumed, logger
from shared.kernel.queued_work import MAX_ATTEMPTS

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

MAX_DELIVERIES = MAX_ATTEMPTS
"""The `maxReceiveCount` in the redrive policy of the queue."""
_KINDS = ("import", "export", "reconciliation")
_MESSAGE_MS = 60_000
"""Time limit of one message, so that a large import does not delay others."""
_RESERVED_MS = 20_000
"""Time kept for what follows the time limit: the report of many rows."""


def lambda_handler(event: dict[str, Any], context: "LambdaContext") -> Any:
    """Process a batch of messages, usually one, and return the failed ones."""
    try:
        return process_partial_response(
            event=event,
            record_handler=partial(_handle_message, context=context),
            processor=BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False),
            context=context,
        )
    finally:
        flush()


def _handle_message(record: SQSRecord, *, context: "LambdaContext") -> None:
    try:
        _process_message(record, context=context)
    except Exception as error:
        logger.exception("import message failed")  # BatchProcessor does not log it
        if not send_dead_letter(
            record,
            error,
            config().import_dead_letters,
            deliveries=MAX_DELIVERIES,
            tenant=bound_tenant(),
        ):
            raise


def _process_message(record: SQSRecord, *, context: "LambdaContext") -> None:
    bind(request_id=record.message_id)
    remaining = context.get_remaining_time_in_millis() - _RESERVED_MS
    deadline = Deadline(min(_MESSAGE_MS, remaining))
    last_delivery = int(record.attributes.approximate_receive_count) >= MAX_DELIVERIES
    message = loads(record.body)
    for slug, task in _tasks(message):
        bind(request_id=record.message_id, tenant=slug)
        try:
            _process_task(slug, task, deadline, last_delivery=last_delivery)
        finally:
            log_consumed()


@dataclass(frozen=True, slots=True)
class _Work:
    """The import, export or reconciliation that a message concerns."""

    kind: str
    id: int


def _process_task(
    slug: str, task: _Work | ReceivedFile, deadline: Deadline, *, last_delivery: bool
) -> None:
    tenant = directory.tenant(slug)
    if tenant is None:
        logger.warning("tenant does not exist", tenant=slug)
        return
    store = store_for(tenant, deadline)
    if isinstance(task, ReceivedFile):
        context = import_context(tenant, store)
        if (received := import_of_received_file(context, task)) is not None:
            # Notifications have no message group. The new message waits in the tenant's group.
            context.enqueue(received)
    elif task.kind == "import":
        process_import(import_context(tenant, store), task.id, last_delivery=last_delivery)
    elif task.kind == "export":
        process_export(export_context(tenant, store), task.id, last_delivery=last_delivery)
    else:
        process_reconciliation(
            reconciliation_context(tenant, store), task.id, last_delivery=last_delivery
        )


def _tasks(message: Mapping[str, Any]) -> Iterator[tuple[str, _Work | ReceivedFile]]:
    """Yield the tenant, and the import, the export or the received file that a message concerns.

    Raises:
        ValueError: The message is none of these. It stays as a dead letter.
    """
    # S3 sends a test event when notifications are set up.
    known = {*_KINDS, "Records"}
    if not known & {*message} and message.get("Event") != "s3:TestEvent":
        error = "The message names neither work of this worker nor a file."
        raise ValueError(error)
    for kind in _KINDS:
        if kind in message:
            yield message["tenant"], _Work(kind, int(message[kind]))
    for notification in message.get("Records", ()):
        stored = notification["s3"]["object"]
        slug, _, name = unquote_plus(stored["key"]).partition("/")
        # The sequencer distinguishes two files that were created under the same name.
        sequencer = stored.get("sequencer") or notification.get("eventTime", "")
        etag = f'"{stored.get("eTag", "").strip(chr(34))}"'
        yield slug, ReceivedFile(name, etag, int(stored.get("size", 0)), sequencer)
