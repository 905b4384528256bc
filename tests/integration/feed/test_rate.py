"""A company with 100 transactions a second, in simulated time: its feed does not fall behind.

A call takes 5 ms, as in the bench, and computing no time. Ten relays in their own environments get
up to 100 records at once, of other partitions each; the stream is asked for new ones four times a
second.

FEED_SECONDS=20 pytest -n0 -s tests/integration/feed/test_rate.py
"""

import os
import zlib
from collections.abc import Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest

from shared.kernel import aws
from shared.kernel.clock import instant
from shared.kernel.config import config
from shared.kernel.db.items import to_attributes
from shared.kernel.db.outbox_item import (
    Author,
    NewOutboxItem,
    NotedChanges,
    VersionChange,
    new_id,
    partition_of,
)
from shared.kernel.events import feed_ids
from tests import prices
from tests.faults import AwsFaults
from tests.feed_scenario import FeedScenario
from tests.simulated_time import SimulatedTime, simulated_time
from tests.webhook_scenario import run_relay, stream_batch

_SECONDS = int(os.environ.get("FEED_SECONDS", "8"))
_A_SECOND = 100
_RELAYS, _BATCH = 10, 100
_CALL_S, _POLL_S = prices.WAIT_MS / 1000, 0.25

_environment: ContextVar[int] = ContextVar("environment", default=0)
"""The relay in whose execution environment the present code runs."""


class _Remembered(MutableMapping[str, Any]):
    """What each execution environment remembers of feeds."""

    def __init__(self) -> None:
        self._of: dict[int, dict[str, Any]] = {relay: {} for relay in range(_RELAYS)}

    @property
    def _own(self) -> dict[str, Any]:
        return self._of[_environment.get()]

    def __getitem__(self, table: str) -> Any:
        return self._own[table]

    def __setitem__(self, table: str, known: Any) -> None:
        self._own[table] = known

    def __delitem__(self, table: str) -> None:
        del self._own[table]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def _committed(feed: FeedScenario, at: float, number: int) -> dict[str, Any]:
    """Store the item of the outbox of a transaction that creates a product; return it."""
    milliseconds = int(at * 1000)
    store, name = feed.store, new_id("evt_", milliseconds)
    noted = NotedChanges(store.table, None, Author("client", "erp", "POST /products"))
    change = VersionChange("product", number, None, 1)
    entry = NewOutboxItem(
        (partition_of(store.slug, name), name), instant(milliseconds), noted, [change]
    )
    item = to_attributes(entry.item())
    aws.client("dynamodb").put_item(TableName=config().outbox_table, Item=item)
    return item


class _Stream:
    """The records of the outbox, each from its commit on."""

    def __init__(self, clock: SimulatedTime, committed: Mapping[float, dict[str, Any]]) -> None:
        self.clock = clock
        self.delays: dict[float, float] = {}
        """Time of the commit → seconds until its relay has ended."""
        self._waiting = [dict[float, dict[str, Any]]() for _ in range(_RELAYS)]
        for at, item in committed.items():
            self._waiting[zlib.crc32(item["PK"]["S"].encode()) % _RELAYS][at] = item

    def relay(self, number: int) -> None:
        """Relay all records of some partitions, one batch after the other."""
        _environment.set(number)
        waiting = self._waiting[number]
        while waiting:
            now = self.clock.time()
            batch = [at for at in waiting if at <= now][:_BATCH]
            if not batch:
                self.clock.sleep(_POLL_S)
                continue
            assert run_relay(stream_batch([waiting.pop(at) for at in batch])) == []
            self.delays |= {at: self.clock.time() - at for at in batch}


@pytest.mark.parametrize("stopped", [0, 60])
def test_a_hundred_transactions_a_second_do_not_wait(
    feed: FeedScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch, stopped: int
) -> None:
    """What has waited for relays that were stopped is appended at 300 transactions a second."""
    monkeypatch.setattr(feed_ids, "_remembered", _Remembered())
    count = _SECONDS * _A_SECOND
    with simulated_time(_RELAYS) as clock:
        began = clock.time() + 1
        times = [began + number / _A_SECOND for number in range(count)]
        committed = {at: _committed(feed, at, number) for number, at in enumerate(times, 1)}
        clock.sleep(1 + (_SECONDS + stopped if stopped else 0))
        stream, first = _Stream(clock, committed), clock.time()
        aws_faults.latency = _CALL_S
        with aws_faults.recorded() as seen, ThreadPoolExecutor(_RELAYS) as pool:
            list(pool.map(stream.relay, range(_RELAYS)))
        aws_faults.latency = 0
        seconds = clock.time() - first

    entries = feed.entries()
    assert [one.position for one in entries] == [*range(1, count + 1)]
    assert sorted(one.changes[0].id for one in entries) == [*range(1, count + 1)]
    delays = sorted(stream.delays.values())
    writes = seen.operations.count("UpdateItem") + seen.operations.count("PutItem")
    print(  # noqa: T201 - the figures of docs/internals/performance.md
        f"{count / seconds:.0f} a second; p50 {delays[count // 2]:.2f} s,"
        f" p99 {delays[count * 99 // 100]:.2f} s, most {delays[-1]:.2f} s;"
        f" {writes / count:.2f} writes each"
    )
    if stopped:
        assert count / seconds >= 300
    else:
        assert delays[-1] <= 3
    assert writes / count <= 3
