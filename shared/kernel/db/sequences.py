"""Sequences of ids: they rise, and no id is used twice."""

from shared.kernel.db.items import Key
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.errors import Conflict
from shared.kernel.fields import MAX_ID


def sequence_key(kind: str) -> Key:
    """Return the key of the item with the last allocated id of a sequence."""
    return ("sequence", kind)


def last_id(store: Store, kind: str) -> int:
    """Return the last allocated id of a sequence; 0 before the first."""
    item = store.get(sequence_key(kind))
    return int(item["last"]) if item else 0


def allocate_ids(store: Store, kind: str, count: int) -> int:
    """Allocate `count` ids of a sequence in one call; return the first.

    A request does so before it holds its claim: a repeat leaves a gap.

    Raises:
        Conflict: The ids of the kind are used up.
    """
    answer = store.client_before_claim.update_item(
        TableName=store.table,
        Key=key_attributes(sequence_key(kind)),
        UpdateExpression="ADD #last :count",
        ExpressionAttributeNames={"#last": "last"},
        ExpressionAttributeValues={":count": {"N": str(count)}},
        ReturnValues="UPDATED_NEW",
    )
    last = int(answer["Attributes"]["last"]["N"])
    if last > MAX_ID:
        raise Conflict(f"No more can be created: the ids of this kind end at {MAX_ID}.")
    return last - count + 1
