"""A limit on how often the current password of a user may be tried by whoever has their token.

Every try is counted before it is looked at, in the tenant's table, per minute.
"""

from shared.kernel.db.facets import id_text
from shared.kernel.db.items import encode
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import ServiceError

PER_MINUTE = 10
_SECONDS = 60


def ensure_allowed(store: Store, user_id: int, now: float) -> None:
    """Count a try.

    Args:
        store: Of the user's tenant.
        user_id: Whose password is tried.
        now: Seconds since the epoch.

    Raises:
        ServiceError: rate_limited with Retry-After, when there were too many in this minute.
    """
    minute = int(now) // _SECONDS
    ends = (minute + 1) * _SECONDS
    try:
        store.client.update_item(
            TableName=store.table,
            Key=key_attributes((f"password_tries#{id_text(user_id)}", str(minute))),
            UpdateExpression="SET #ends = :ends ADD tries :one",
            ConditionExpression="attribute_not_exists(tries) OR tries < :most",
            ExpressionAttributeNames={"#ends": EXPIRY},
            ExpressionAttributeValues={
                ":ends": encode(ends + _SECONDS),
                ":one": encode(1),
                ":most": encode(PER_MINUTE),
            },
        )
    except store.client.exceptions.ConditionalCheckFailedException:
        raise ServiceError(
            "The password was tried too often; wait the seconds in Retry-After.",
            "rate_limited",
            headers={"Retry-After": str(max(1, ends - int(now)))},
        ) from None
