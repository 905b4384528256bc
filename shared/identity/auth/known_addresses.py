"""Addresses from which a user has signed in: the limit over all addresses does not apply to them.

They are one item of the control table per user name, `ADDRESSES#USER`. USER is a digest of tenant
and user name, so that the item of any presented name is read in the same call as the counters.
`networks` holds a digest of user and network → when the user last signed in from it, in seconds
since the epoch; the item contains no address in plain text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.kernel.aws import client
from shared.kernel.config import config

MAX_ADDRESSES = 10
"""Known addresses of a user; a further one replaces the one that was used longest ago."""

LIFETIME = 30 * 24 * 3600
"""Seconds after the last sign-in from it at which an address is forgotten."""

_RENEWAL = 24 * 3600
"""Seconds after which a sign-in from a known address is written again, so that few are."""


@dataclass(slots=True)
class KnownAddresses:
    """The known addresses of a user name, and whether the present one is among them."""

    user: str
    """Digest of tenant and user name."""
    network: str
    """Digest of user and present network."""
    _networks: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the item in the control table."""
        return f"ADDRESSES#{self.user}"

    def load(self, item: Mapping[str, Any] | None, now: float) -> None:
        """Take over the item as read, without what has expired; DynamoDB deletes late."""
        stored = item["networks"]["M"] if item else {}
        seen = {network: int(at["N"]) for network, at in stored.items()}
        self._networks = {network: at for network, at in seen.items() if at + LIFETIME > now}

    @property
    def include_present(self) -> bool:
        """Whether the user has signed in from the present network."""
        return self.network in self._networks

    def add_present(self, now: float) -> None:
        """Store the present network; do nothing if that was done within a day.

        Of concurrent sign-ins from different networks one may be lost, until the next sign-in.
        """
        if self._networks.get(self.network, 0) + _RENEWAL > now:
            return
        kept = sorted(self._networks.items(), key=lambda each: each[1], reverse=True)
        others = [each for each in kept if each[0] != self.network][: MAX_ADDRESSES - 1]
        known = dict(others) | {self.network: int(now)}
        client("dynamodb").update_item(
            TableName=config().control_table,
            Key={"pk": {"S": self.key}},
            UpdateExpression="SET networks = :networks, expires_at = :expiry",
            ExpressionAttributeValues={
                ":networks": {"M": {network: {"N": str(at)} for network, at in known.items()}},
                ":expiry": {"N": str(int(now) + LIFETIME)},
            },
        )
