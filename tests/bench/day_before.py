"""What the day cost before the index diet, measured once by `tests.bench.day`."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Earlier:
    """Figures of an earlier state, with its commit and the day of the measurement."""

    commit: str
    date: str
    figures: Mapping[str, str]


BEFORE = Earlier("7f574a2", "2026-11-22", {})
