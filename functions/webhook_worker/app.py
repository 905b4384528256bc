"""Delivers events to subscribed addresses: messages of the two queues of deliveries."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from shared.integration.webhooks.delivering import Verdict, deliver
from shared.integration.webhooks.tasks import task_of
from shared.kernel.clock import Deadline
from shared.kernel.json_text import loads
from shared.kernel.observability import bind, count, flush, logger, measure

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_BATCH = 10
"""Messages of one invocation, as the template has it: they wait for their endpoints together."""
_RESERVE_MS = 5_000

_ATTEMPTED = {"succeeded", "retrying", "failed"}


@dataclass(frozen=True, slots=True)
class _Result:
    """What became of a message (None: it broke down), and how late it was taken up."""

    verdict: Verdict | None
    late_ms: int


_threads = ThreadPoolExecutor(_BATCH, thread_name_prefix="delivery")


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Work on messages, all at once; tell which have failed."""
    bind(request_id=context.aws_request_id)
    deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
    records = event["Records"]
    results = list(_threads.map(partial(_try, deadline), records))
    for result in results:
        count(f"deliveries_{result.verdict or 'broken'}")
    late = [result.late_ms for result in results if result.verdict in _ATTEMPTED]
    if late:
        measure("delivery_delay", max(late))
    flush()
    return {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]}
            for record, result in zip(records, results, strict=True)
            if result.verdict in {None, "overtaken"}
        ]
    }


def _try(deadline: Deadline, record: Mapping[str, Any]) -> _Result:
    """Work on one message."""
    try:
        task = task_of(loads(record["body"]))
        late_ms = task.late_ms
        again = int(record["attributes"]["ApproximateReceiveCount"]) > 1
        verdict = deliver(task, deadline, again=again)
    except Exception:  # noqa: BLE001 - whatever it is, it comes back
        logger.exception("a delivery broke down", message_id=record["messageId"])
        return _Result(None, 0)
    logger.info(
        "delivery",
        tenant=task.tenant,
        webhook=task.webhook,
        event_id=task.event,
        attempt=task.attempt,
        verdict=verdict,
    )
    return _Result(verdict, late_ms)
