"""Limits on the access tokens that are issued to a client or a user.

A client that asks for a token before every request gets as many as it may send requests in a
minute, but not for long: each token costs a signature of KMS, whose quota all tenants share.

One item of the control table counts the tokens of a client or user in a long window, in all and per
minute. A token is counted in one conditional write, before it is returned: no number of concurrent
requests gets more tokens than allowed, and a token that was counted may be lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.auth.attempt_limits import LONG_WINDOW, WINDOW
from shared.identity.auth.clients import client_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.errors import RateLimited

LONG_WINDOW_MINUTES = 3
"""Tokens per long window, as a multiple of those per minute."""
LEAST_PER_MINUTE = 30
"""Tokens per minute of a tenant with a lower agreed request limit."""


def per_minute(tenant: Tenant) -> int:
    """Return the allowed tokens per minute: one for each request, and a tenth for repeats."""
    return max(LEAST_PER_MINUTE, tenant.limits["requests_per_minute"] * 11 // 10)


def per_long_window(tenant: Tenant) -> int:
    """Return the allowed tokens per long window."""
    return LONG_WINDOW_MINUTES * per_minute(tenant)


@dataclass(frozen=True, slots=True)
class IssuanceCounter:
    """The counter of the tokens of a client or user in the present windows."""

    owner: str
    """The client or user, as part of the key."""
    now: float
    """Seconds since the epoch."""

    @classmethod
    def for_client(cls, client_id: str, now: float) -> "IssuanceCounter":
        """Return the counter of a client; `client_id` has the form of one."""
        return cls(client_key(client_id), now)

    @classmethod
    def for_user(cls, tenant: Tenant, user_id: int, now: float) -> "IssuanceCounter":
        """Return the counter of a user."""
        return cls(f"USER#{tenant.slug}#{user_id}", now)

    @property
    def key(self) -> str:
        """The key of the item in the control table."""
        return f"ISSUED#{int(self.now) // LONG_WINDOW}#{self.owner}"

    @property
    def _minute(self) -> str:
        """The attribute that counts the tokens of the present minute."""
        return f"minute_{int(self.now) % LONG_WINDOW // WINDOW}"

    def ensure_allowed(self, tenant: Tenant, item: Mapping[str, Any] | None) -> None:
        """Raise RateLimited if a limit of the tenant is reached.

        `item` is the item of the counter as read; None if it does not exist.
        """
        counts = {name: int(value["N"]) for name, value in (item or {}).items() if "N" in value}
        if counts.get("issued", 0) >= per_long_window(tenant):
            self._refuse(LONG_WINDOW)
        if counts.get(self._minute, 0) >= per_minute(tenant):
            self._refuse(WINDOW)

    def count(self, tenant: Tenant) -> None:
        """Count a token that is about to be issued.

        Raises:
            RateLimited: A limit is reached; the token must not be returned.
        """
        dynamodb = client("dynamodb")
        try:
            dynamodb.update_item(
                TableName=config().control_table,
                Key={"pk": {"S": self.key}},
                UpdateExpression="ADD issued :one, #minute :one SET expires_at = :ends",
                ConditionExpression="attribute_not_exists(issued) OR (issued < :long"
                " AND (attribute_not_exists(#minute) OR #minute < :short))",
                ExpressionAttributeNames={"#minute": self._minute},
                ExpressionAttributeValues={
                    ":one": {"N": "1"},
                    ":ends": {"N": str(self._end(LONG_WINDOW))},
                    ":long": {"N": str(per_long_window(tenant))},
                    ":short": {"N": str(per_minute(tenant))},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except dynamodb.exceptions.ConditionalCheckFailedException as error:
            self.ensure_allowed(tenant, error.response.get("Item"))
            raise

    def _end(self, window: int) -> int:
        """Return the end of the present window, in seconds since the epoch."""
        return (int(self.now) // window + 1) * window

    def _refuse(self, window: int) -> None:
        wait = max(1, self._end(window) - int(self.now))
        raise RateLimited(
            f"Too many tokens were issued; use a token until it expires. Try again in {wait} s.",
            wait,
        )
