"""Hands events of the outbox on to the queue of deliveries, as the table's stream brings them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.integration.webhooks.relay import Relay
from shared.kernel.events.outbox import OutboxEntry, parse_entry
from shared.kernel.observability import bind, count, flush, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Relay a batch of the stream; tell where to go on when some of it failed."""
    bind(request_id=context.aws_request_id)
    entries: list[tuple[str, str, OutboxEntry]] = []
    failed: set[str] = set()
    for record in event["Records"]:
        if record["eventName"] != "INSERT":
            continue
        number = record["dynamodb"]["SequenceNumber"]
        try:
            tenant, entry = parse_entry(record["dynamodb"]["NewImage"])
        except Exception:  # noqa: BLE001 - whatever it is, it comes back
            logger.exception("an entry of the outbox cannot be read")
            failed.add(number)
        else:
            entries.append((number, tenant, entry))
    missed = Relay().relay([(tenant, entry) for _, tenant, entry in entries])
    failed |= {number for number, _, entry in entries if entry.id in missed}
    count("events_relayed", len(entries) - len(missed))
    flush()
    return {"batchItemFailures": [{"itemIdentifier": number} for number in sorted(failed, key=int)]}
