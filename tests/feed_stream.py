"""The stream of the outbox: records by partition, which the relay handles in batches."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from shared.kernel.events import feed_ids
from tests.faults import AwsFaults, before_first, kill_at
from tests.feed_scenario import FeedScenario

_MOST_RECORDS = 10
_MOST_CALLS = 8
"""Calls of the relay among which one kills it."""


@dataclass(slots=True)
class FeedStream:
    """Records in the order of their commits, and up to which one each partition is relayed."""

    feed: FeedScenario
    aws_faults: AwsFaults
    rng: random.Random
    kills: int = 0
    repeated: int = 0
    _records: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict[str, list[dict[str, Any]]](list)
    )
    _relayed: dict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))
    _known: set[str] = field(default_factory=set)

    def _take(self) -> None:
        """Take over the records of what was committed since the last call."""
        for item in self.feed.items():
            if item["SK"]["S"] not in self._known:
                self._known.add(item["SK"]["S"])
                self._records[item["PK"]["S"]].append(item)

    @property
    def _waiting(self) -> list[str]:
        """The partitions with records that are not relayed."""
        return [one for one, found in self._records.items() if self._relayed[one] < len(found)]

    def relay_some(self, batches: int) -> None:
        """Relay batches of what was committed until now."""
        self._take()
        for _ in range(batches):
            if self._waiting:
                self._relay()

    def _relay(self) -> None:
        """Relay a batch of a partition; while it does so, another relay may handle another one.

        A relay may be killed at any of its calls, and the next one has another environment or not.
        """
        partition = self.rng.choice(self._waiting)
        begin = self._relayed[partition]
        end = min(len(self._records[partition]), begin + self.rng.randint(1, _MOST_RECORDS))
        batch = self._records[partition][begin:end]
        others = [one for one in self._waiting if one != partition]
        if self.rng.random() < 0.3:
            feed_ids.forget()
        if others and self.rng.random() < 0.3:
            other = self._records[self.rng.choice(others)]
            meanwhile = partial(self.feed.relay, other[: self._relayed[partition] + 3])
            with self.aws_faults.faulty(before_first("PutItem", meanwhile)):
                self._deliver(partition, batch, end)
        elif self.rng.random() < 0.3:
            kill = kill_at(self.rng.randrange(2 * _MOST_CALLS))
            self.kills += self.aws_faults.kills(kill, lambda: self._deliver(partition, batch, end))
        else:
            self._deliver(partition, batch, end)

    def relay_all(self) -> None:
        """Relay everything."""
        self._take()
        while self._waiting:
            self._relay()

    def restore(self) -> None:
        """Go back in the stream: some partitions come again from an earlier record on."""
        for partition, end in self._relayed.items():
            if end and self.rng.random() < 0.5:
                self._relayed[partition] = self.rng.randrange(end)
                self.repeated += end - self._relayed[partition]

    def _deliver(self, partition: str, batch: Sequence[dict[str, Any]], end: int) -> None:
        assert self.feed.relay(batch) == []
        self._relayed[partition] = end
