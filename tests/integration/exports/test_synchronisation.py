"""A follower has equal copies of all lists, whatever happens to writers, relays and the stream.

`make random` runs the whole figure: 20 writers, 35 rounds, the relay stopped for five
minutes of the simulated clock, the stream restored again and again. A sample of it is always run.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import pytest

from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.observability import logger
from tests.clock import Clock
from tests.export_scenario import ExportScenario
from tests.faults import AwsFaults, Call, before_each, before_first, kill_at
from tests.feed_stream import FeedStream

SEED = int(os.environ.get("RANDOM_SEED", "1"))
ROUNDS = int(os.environ.get("RANDOM_FEED_ROUNDS", "7"))
_WHOLE = 35
_WRITERS = 20 if ROUNDS >= _WHOLE else 6
_STOPPED = range(ROUNDS // 2, ROUNDS // 2 + max(1, ROUNDS // 7))
"""The rounds in which no relay runs."""
_STOPPED_SECONDS = 300
_SECONDS = 5
"""Time of a round, so that the client stays below its limit."""
_MOST_CALLS = 14
"""Calls of a request among which one kills it."""


@dataclass(slots=True)
class _Writers:
    """Requests of the kinds that lists show: created, changed, deleted, and moved stock."""

    exports: ExportScenario
    aws_faults: AwsFaults
    rng: random.Random
    answered: int = 0
    kills: int = 0
    _numbers: "count[int]" = field(default_factory=lambda: count(1))
    _made: list[str] = field(default_factory=list)

    def write(self) -> None:
        """Send a request; another may commit before it does, and it may be killed and repeated."""
        request = self._request()
        chance = self.rng.random()
        if chance < 0.2:
            with self.aws_faults.faulty(before_first("TransactWriteItems", self._request())):
                request()
        elif chance < 0.4:
            kill = kill_at(self.rng.randrange(2 * _MOST_CALLS))
            self.kills += self.aws_faults.kills(kill, request)
            if self.rng.random() < 0.5:
                request()
        else:
            request()

    def _request(self) -> Callable[[], None]:
        """Return a function that sends a request, the same again under its key."""
        erp = self.exports.feed.webhooks.erp
        number, rng = next(self._numbers), self.rng
        goods = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "reason": "Found"}
        lines = [{"item_code": "BRICK", "qty": rng.randint(1, 3)}]
        order = {
            "type": "sale_order", "external_ref": f"S-{number}", "doc_date": "2026-03-01",
            "partner_code": "C-1", "warehouse_code": "YARD", "lines": lines,
        }  # fmt: skip
        role = {"name": f"Role {number}", "permissions": ["inventory.manage"]}
        made = rng.choice(self._made) if self._made else "/products/1"
        method, path, body = rng.choice(
            [
                ("POST", "/products", {"item_code": f"N-{number}", "name": f"New {number}"}),
                ("POST", "/product-categories", {"name": f"Category {number}"}),
                ("POST", "/clients", {"name": f"Client {number}", "document_id": f"D-{number}"}),
                ("POST", "/roles", role),
                ("POST", "/stock-adjustments", {**goods, "increase": rng.randint(1, 9)}),
                ("POST", "/exit-documents", order),
                ("POST", "/pickings", {"document_id": rng.randint(1, number)}),
                ("PATCH", "/products/1", {"name": f"Brick {number}"}),
                ("PATCH", made, {"name": f"Renamed {number}"}),
                ("DELETE", made, None),
                ("DELETE", made, None),
            ]
        )
        send = partial(erp.send, method, path, body, key=f"write-{number}")

        def act() -> None:
            answer = send()
            assert answer.status < 500, answer.text
            self.answered += 1
            created = {"/products", "/product-categories", "/clients", "/roles"}
            if path in created and answer.status == 201:
                self._made.append(f"{path}/{answer.data['id']}")

        return act


def _export(exports: ExportScenario, writers: _Writers, stream: FeedStream) -> None:
    """Make an export of all lists while writers and relays go on."""

    def meanwhile(_call: Call) -> None:
        if writers.rng.random() < _WRITERS / 100:
            writers.write()
            stream.relay_some(1)

    exports.start(*LISTED_OBJECTS)
    with writers.aws_faults.faulty(before_each(meanwhile)):
        exports.worker.drain_queue()


@pytest.mark.usefixtures("small_steps")
def test_a_follower_has_equal_copies_whatever_happens(
    exports: ExportScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    rng = random.Random(SEED)  # noqa: S311
    feed = exports.feed
    writers, stream = _Writers(exports, aws_faults, rng), FeedStream(feed, aws_faults, rng)
    for turn in range(ROUNDS):
        for _ in range(_WRITERS):
            writers.write()
        clock.advance(_SECONDS)
        if turn == ROUNDS // 3:
            _export(exports, writers, stream)
        if turn in _STOPPED:
            clock.advance(_STOPPED_SECONDS / len(_STOPPED))
        else:
            stream.relay_some(rng.randint(0, _WRITERS))
            if rng.random() < 0.3:
                stream.restore()
    stream.relay_all()

    feed.assert_complete()
    copy = exports.copy()
    copy.follow()
    assert copy.differing() == []
    changes = [change for entry in feed.entries() for change in entry.changes]
    deletions = sum(change.after is None for change in changes)
    assert deletions
    for name, one in LISTED_OBJECTS.items():
        listed = feed.webhooks.erp.walk(one.path, include="version", per_page="100")
        assert copy.rows[name] == {row["id"]: row for row in listed}, name
    rng.choice([*copy.rows["product"].values()])["version"] += 1
    assert copy.differing() == ["product"]
    logger.info(
        f"{writers.answered} answers, {writers.kills} writers and {stream.kills} relays killed,"
        f" {stream.repeated} records repeated; {feed.head.position} positions,"
        f" {len(changes)} changes, {deletions} deletions,"
        f" {sum(map(len, copy.rows.values()))} rows of {len(LISTED_OBJECTS)} objects"
    )
