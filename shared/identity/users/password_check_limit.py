"""A limit on checks of the current password by somebody who holds a token of the user.

Every check is counted before it is made, per user and minute, in the tenant's table.
"""

from shared.kernel.db.facets import id_text
from shared.kernel.db.items import encode
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import ServiceError

PER_MINUTE = 10
"""Allowed checks per user and minute, right or wrong."""
_SECONDS = 60


def ensure_allowed(store: Store, user_id: int, now: float) -> None:
    """Count a check of a user's password; raise an error if the limit is reached.

    Args:
        store: The store of the user's tenant.
        user_id: The user whose password is checked.
        now: Seconds since the epoch.

    Raises:
        ServiceError: rate_limited, with Retry-After.
    """
    minute = int(now) // _SECONDS
    ends_at = (minute + 1) * _SECONDS
    try:
        store.client.update_item(
            TableName=store.table,
            Key=key_attributes((f"password_tries#{id_text(user_id)}", str(minute))),
            UpdateExpression="SET #ends = :ends ADD tries :one",
            ConditionExpression="attribute_not_exists(tries) OR tries < :most",
            ExpressionAttributeNames={"#ends": EXPIRY},
            ExpressionAttributeValues={
                ":ends": encode(ends_at + _SECONDS),
                ":one": encode(1),
                ":most": encode(PER_MINUTE),
            },
        )
    except store.client.exceptions.ConditionalCheckFailedException:
        wait = max(1, ends_at - int(now))
        raise ServiceError(
            f"The current password was checked {PER_MINUTE} times in this minute;"
            f" try again in {wait} s.",
            "rate_limited",
            headers={"Retry-After": str(wait)},
        ) from None
