"""Limits on failed attempts at the token routes.

Secrets of 256 bits cannot be guessed; what the limits protect is the quota of KMS, which every
attempt draws on and which the honest clients need. Counted is per minute, per network address,
and per client id at an address: counted per client id alone, a stranger could lock out an ERP.
"""

import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.aws import client
from shared.config import config
from shared.errors import ServiceError

WINDOW = 60
"""Seconds."""

PER_CLIENT = 10
PER_ADDRESS = 100
"""Failed attempts per window."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The counters that an attempt belongs to."""

    client_key: str
    address_key: str
    window_ends: int
    """Seconds since the epoch."""

    @classmethod
    def of(cls, client_id: str, address: str, now: float) -> "Attempts":
        """Find the counters of an attempt.

        Args:
            client_id: Whatever was presented as client id.
            address: Network address of the caller; IPv6 counts by its /64 network, which is
                what one customer of a provider has.
            now: Seconds since the epoch.
        """
        network = _network(address)
        window = int(now) // WINDOW
        pair = hashlib.sha256(f"{client_id}\0{network}".encode(errors="surrogatepass"))
        return cls(
            client_key=f"FAILURES#{window}#client#{pair.hexdigest()}",
            address_key=f"FAILURES#{window}#address#{network}",
            window_ends=(window + 1) * WINDOW,
        )

    def ensure_allowed(self, items: Mapping[str, Mapping[str, Any]], now: float) -> None:
        """Refuse the attempt when too many failed before it.

        Args:
            items: The items of the counters, as far as they exist, by key.
            now: Seconds since the epoch.

        Raises:
            ServiceError: rate_limited, with Retry-After.
        """
        limits = {self.client_key: PER_CLIENT, self.address_key: PER_ADDRESS}
        for key, limit in limits.items():
            if key in items and int(items[key]["failures"]["N"]) >= limit:
                raise ServiceError(
                    "Too many failed attempts; wait the seconds in Retry-After.",
                    "rate_limited",
                    headers={"Retry-After": str(max(1, self.window_ends - int(now)))},
                )

    def record_failure(self) -> None:
        """Count one more failure."""
        for key in (self.client_key, self.address_key):
            client("dynamodb").update_item(
                TableName=config().control_table,
                Key={"pk": {"S": key}},
                UpdateExpression="ADD failures :one SET expires_at = :ends",
                ExpressionAttributeValues={
                    ":one": {"N": "1"},
                    ":ends": {"N": str(self.window_ends)},
                },
            )


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:  # noqa: PLR2004  IPv4
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False).network_address)
