"""Goes on with imports: messages of the import queue, and files that arrived in the bucket."""

from collections.abc import Iterator, Mapping
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
from shared.integration.imports.context import Workspace, workspace_of
from shared.integration.imports.received_files import Arrival, receive
from shared.integration.imports.worker import MOST_STALLS, run
from shared.kernel.clock import Deadline
from shared.kernel.json_text import loads
from shared.kernel.observability import bind, flush, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

MOST_RECEIVES = MOST_STALLS
"""As the queue's redrive policy has it."""
_SLICE_MS = 60_000
"""Longest time for one message, so that no import keeps others waiting for long."""
_RESERVE_MS = 20_000
"""Kept back for what a slice may still do after its time: a report of many rows."""


def lambda_handler(event: dict[str, Any], context: "LambdaContext") -> Any:
    """Work on messages, one as a rule; tell which have failed."""
    try:
        return process_partial_response(
            event=event,
            record_handler=partial(_try, context=context),
            processor=BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False),
            context=context,
        )
    finally:
        flush()


def _try(record: SQSRecord, *, context: "LambdaContext") -> None:
    try:
        _work(record, context=context)
    except Exception:
        logger.exception("the message failed")  # the processor only counts it
        raise


def _work(record: SQSRecord, *, context: "LambdaContext") -> None:
    left = context.get_remaining_time_in_millis() - _RESERVE_MS
    deadline = Deadline(min(_SLICE_MS, left))
    last = int(record.attributes.approximate_receive_count) >= MOST_RECEIVES
    message = loads(record.body)
    for slug, number, arrival in _tasks(message):
        bind(request_id=record.message_id, tenant=slug)
        space = _workspace(slug, deadline)
        if space is None:
            logger.warning("no such tenant", tenant=slug)
            continue
        if number is not None:
            run(space, number, last=last)
        elif arrival and (wanted := receive(space, arrival)) is not None:
            # Not at once: notices know no tenant, messages of ours wait fairly for their turn.
            space.wake(wanted)


def _tasks(message: Mapping[str, Any]) -> Iterator[tuple[str, int | None, Arrival | None]]:
    """Yield tenant and either the import or the file that a message is about."""
    if "import" in message:
        yield message["tenant"], int(message["import"]), None
    for notice in message.get("Records", ()):
        stored = notice["s3"]["object"]
        slug, _, name = unquote_plus(stored["key"]).partition("/")
        # A sequencer is what tells one arrival of a name from the next.
        occurrence = stored.get("sequencer") or notice.get("eventTime", "")
        etag = f'"{stored.get("eTag", "").strip(chr(34))}"'
        yield slug, None, Arrival(name, etag, int(stored.get("size", 0)), occurrence)


def _workspace(slug: str, deadline: Deadline) -> Workspace | None:
    tenant = directory.tenant(slug)
    if tenant is None:
        return None
    return workspace_of(tenant, store_for(slug, deadline))
