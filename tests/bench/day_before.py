"""What the day cost before the index diet, measured once by `tests.bench.day`."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Earlier:
    """Figures of an earlier state, with its commit and the day of the measurement."""

    commit: str
    date: str
    figures: Mapping[str, str]


BEFORE = Earlier(
    "7f574a2",
    "2026-11-22",
    {
        "USD of a day, DynamoDB": "4.34",
        "USD of a day, all": "5.48 (functions of 1769 MB)",
        "calls of a day": "1,319,177",
        "conflicts per 1,000 picks": "183",
        "transactions per pick": "1.23",
        "slowest request": "POST /pickings/{id}/picks: 17 round trips, 85 ms of waiting",
    },
)
"""Measured with 1/50 of the day."""
