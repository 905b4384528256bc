"""Delivers events to subscribed addresses: messages of the two queues of deliveries."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from shared.clock import Deadline
from shared.json_text import loads
from shared.observability import bind, count, flush, logger
from shared.webhooks.delivering import Verdict, deliver
from shared.webhooks.tasks import task_of

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_BATCH = 10
"""Messages of one invocation, as the template has it: they wait for their endpoints together."""
_RESERVE_MS = 5_000

_threads = ThreadPoolExecutor(_BATCH, thread_name_prefix="delivery")


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Work on messages, all at once; tell which have failed."""
    bind(request_id=context.aws_request_id)
    deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
    records = event["Records"]
    verdicts = list(_threads.map(partial(_try, deadline), records))
    for verdict in verdicts:
        count(f"deliveries_{verdict or 'broken'}")
    flush()
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]}
            for record, verdict in zip(records, verdicts, strict=True)
            if verdict is None
        ]
    }


def _try(deadline: Deadline, record: Mapping[str, Any]) -> Verdict | None:
    """Work on one message; None when it has to come back."""
    try:
        task = task_of(loads(record["body"]))
        again = int(record["attributes"]["ApproximateReceiveCount"]) > 1
        verdict = deliver(task, deadline, again=again)
    except Exception:  # noqa: BLE001 - whatever it is, it comes back
        logger.exception("a delivery broke down", message_id=record["messageId"])
        return None
    logger.info(
        "delivery",
        tenant=task.tenant,
        webhook=task.webhook,
        event_id=task.event,
        attempt=task.attempt,
        verdict=verdict,
    )
    return verdict
