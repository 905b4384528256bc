"""The company for which a use case works."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.kernel.clock import now_ms


@dataclass(frozen=True, slots=True)
class Company:
    """What a use case knows of its company: `store.company` for reads, `tx.company` for writes.

    It is read before the request, or the message of a queue, and stays the same for all its
    transactions and their retries, so that an operation in steps ends by the settings with which it
    began. Only its day is that of the transaction.
    """

    slug: str
    timezone: str = "UTC"
    """Name of its time zone in the IANA database."""
    item: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Its item in the control table, as stored. Its settings are attributes of it; see
    `shared.warehouse.settings.values.settings_of`."""
    now_ms: int = field(default_factory=now_ms)
    """The time of the transaction, or else of the request, in milliseconds since the epoch."""

    def at(self, moment_ms: int) -> "Company":
        """Return the company at another time."""
        return replace(self, now_ms=moment_ms)

    @property
    def today(self) -> str:
        """The day (YYYY-MM-DD) in the time zone of the company."""
        # Imported here: the authorizer, which knows companies too, would wait for the time zones.
        from shared.kernel.calendar_days import day_of  # noqa: PLC0415

        return day_of(self.now_ms, self.timezone)
