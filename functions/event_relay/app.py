"""Consumer of the outbox table's stream: sends a delivery task for each subscription to an event.

It also appends the changes of each transaction to the feed of its company.

It does not use Powertools' BatchProcessor: the relay sends the tasks of all records in common
batches, not record by record.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.integration.webhooks.relay import Relay
from shared.kernel.db.table import EXPIRY
from shared.kernel.events.outbox import OutboxEntry, parse_entry
from shared.kernel.observability import bind, count, flush, log_consumed, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def lambda_handler(event: Mapping[str, Any], context: "LambdaContext") -> dict[str, Any]:
    """Relay the new outbox entries of a stream batch and report the records that failed."""
    bind(request_id=context.aws_request_id)
    entries: list[tuple[str, str, OutboxEntry]] = []
    failed: set[str] = set()
    for record in event["Records"]:
        # An entry that expires was relayed before: a moved tenant's entries are inserted again.
        if record["eventName"] != "INSERT" or EXPIRY in record["dynamodb"]["NewImage"]:
            continue
        number = record["dynamodb"]["SequenceNumber"]
        try:
            tenant, entry = parse_entry(record["dynamodb"]["NewImage"])
        except Exception:  # noqa: BLE001 - the record is reported as failed
            logger.exception("An outbox entry cannot be parsed")
            failed.add(number)
        else:
            entries.append((number, tenant, entry))
    unrelayed = Relay().relay([(tenant, entry) for _, tenant, entry in entries])
    failed |= {number for number, _, entry in entries if entry.id in unrelayed}
    count("events_relayed", len(entries) - len(unrelayed))
    log_consumed()
    flush()
    return {"batchItemFailures": [{"itemIdentifier": number} for number in sorted(failed, key=int)]}
