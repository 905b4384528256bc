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
    "2026-11-23",
    {
        "USD of a day, DynamoDB": "4.44",
        "USD of a day, all": "5.52",
        "calls of a day": "1,396,395",
        "conflicts per 1,000 picks": "266",
        "transactions per pick": "1.33",
        "slowest request": "POST /pickings/{id}/picks: 13 round trips, 65 ms of waiting",
    },
)
"""Measured with 1/100 of the day: the code of that commit, replayed by the bench of this one."""
