"""Last pass: the sums of the feed of changes, compared with what exists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operations.feed import append_committed, sums_at
from operations.verify.findings import Drift, Fix
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.kernel.events.feed import HEAD_KEY, STREAM_MS, FeedHead, added, read_head


@dataclass(slots=True)
class FeedPass:
    """Checks the feed of a table, if it has one."""

    store: Store
    name: str = "feed"

    def chunks(self, position: Any) -> Iterator[tuple[list[str], Any]]:
        """Yield the feed, unless it was checked."""
        if position is None and self._head():
            yield ["feed"], "end"

    def look(self, subjects: Sequence[str]) -> Mapping[str, list[Drift]]:
        """Return the drifts of the sums, each as a difference, which requests do not change."""
        # What is only in the entries since the head is read is not compared.
        append_committed(self.store, since_ms=now_ms() - STREAM_MS)
        if not (head := self._head()):
            return {}
        differences = added(head.checksums, sums_at(self.store, head), -1)
        drifts = [
            _drift(head, noun, difference)
            for noun, difference in sorted(differences.items())
            if difference != (0, 0)
        ]
        return dict.fromkeys(subjects, drifts) if drifts else {}

    def _head(self) -> FeedHead | None:
        head = read_head(self.store)
        return head if head and head.is_complete else None


def _drift(head: FeedHead, noun: str, difference: tuple[int, int]) -> Drift:
    """Return a drift, whose repair ends the feed: nobody knows which change its followers lack."""
    fix = Fix(
        ("feed", head.epoch),
        lambda tx: tx.delete(
            HEAD_KEY,
            condition="#epoch = :epoch",
            names={"#epoch": "epoch"},
            values={":epoch": head.epoch},
        ),
    )
    count, total = difference
    stored = f"{count:+} resources, {total:+} in the sum of versions"
    return Drift("feed.sums", "feed of changes", noun, stored, "no difference", head.epoch, fix)
