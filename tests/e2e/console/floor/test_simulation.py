"""People with handhelds on shared tasks: each scan is carried out once, or shown as a decision.

The network is cut 30 % of the time, requests and answers get lost, functions die, and browsers are
closed. `make floor` runs the whole figure: 5 people, 500 scans, 20 closed browsers and 5 kills of
functions in 60 minutes of their clocks; `make e2e` a small case of it, which kills no function that
other tests use. The test itself decides who records what; what came of
it is read from the ledger, the documents and the stock.
"""

import os
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from math import ceil

import pytest

from tests.e2e.conftest import Deployed
from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.records import (
    Movement,
    Records,
    counted_wrong,
    expected_movements,
    ledger,
    recorded,
    shown,
    stock_after,
)
from tests.e2e.console.floor.site import Site
from tests.e2e.console.floor.weak_network import WeakNetwork
from tests.e2e.console.floor.worker import Worker
from tests.soak.kills import Killer

SEED = int(os.environ.get("RANDOM_SEED", "1"))
MOVEMENTS = int(os.environ.get("RANDOM_FLOOR_SCANS", "40"))
_WHOLE = 500
PEOPLE = 5 if MOVEMENTS >= _WHOLE else 3
KILLS = max(2, MOVEMENTS // 25)
_FUNCTION_KILLS = MOVEMENTS // 100
_SECONDS = 3600 / _WHOLE
"""Simulated time between two movements."""
_FAULTS = 0.2
"""Share of the requests with a fault, while there is a network."""
_PER_LINE = 8
"""Units of a line of a picking, beside the half that nobody picks."""
_SHARE_OF_PICKS = 0.55
"""Units that pickings have for each movement: fewer than people would like to pick."""
_PLACES = {"BOLT": "A-1", "NUT": "B-1"}
"""Where goods are picked."""
_COUNTED = [f"C-{number:02}" for number in range(1, 13)]
"""Positions that are counted again and again; one more is never counted."""


@dataclass
class _Shift:
    """The tasks, who works on them, and what is recorded next."""

    site: Site
    rng: random.Random
    pickings: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def prepare(self) -> None:
        """Create the tasks."""
        site = self.site
        site.post("/products", item_code=site.item("NUT"), name="NUT")
        for name, position in _PLACES.items():
            site.stock(name, 2 * MOVEMENTS + 100, position)
        for code in ["C-00", *_COUNTED]:
            site.post("/warehouse-positions", whs_code=site.warehouse, bin_code=code)
            site.stock("NUT", 5, code)
        lines = [site.line(name, _PER_LINE + 0.5) for name in _PLACES]
        for number in range(ceil(_SHARE_OF_PICKS * MOVEMENTS / (_PER_LINE * len(lines)))):
            order = site.order("/exit-documents", *lines, external_ref=f"{site.run} S{number}")
            picking = site.post("/pickings", document_id=order)["id"]
            self.pickings.append(f"pickings/{picking}")
        for number in range(ceil(MOVEMENTS / 100)):
            lines = [site.line(name, 100_000) for name in _PLACES]
            order = site.order("/entry-documents", *lines, external_ref=f"{site.run} P{number}")
            self.receipts.append(f"receipts/{site.post('/receipts', document_id=order)['id']}")
        body = {"warehouse_code": site.warehouse, "positions": ["C-00", *_COUNTED]}
        self.counts.append(f"counts/{site.post('/counts', **body)['id']}")

    def next(self, done: int) -> Movement:
        """Return what somebody records now; its quantity tells it from all others."""
        name = self.rng.choice([*_PLACES])
        qty = self.rng.randint(1, 3) + next(self._numbers) / 1000
        part = done / MOVEMENTS
        kind = self.rng.choice(["pickings", "pickings", "receipts", "counts"])
        if kind == "pickings":
            task = self.pickings[int(part * len(self.pickings))]
            place = _PLACES[name]
        elif kind == "receipts":
            task = self.receipts[int(part * len(self.receipts))]
            place = self.rng.choice(["A-2", "R-1"])
        else:
            task, name, place = self.counts[0], "NUT", self.rng.choice(_COUNTED)
        return Movement(task, self.site.item(name), place, round(qty, 3))


def _chances(of: str) -> random.Random:
    """Return the random choices of a part of the run; the same for the same seed."""
    return random.Random(f"{SEED} {of}")  # noqa: S311


@pytest.fixture
def workers(new_person: NewPerson, stack: Deployed, site: Site) -> list[Worker]:
    """People with handhelds whose clocks and networks the test controls."""
    made = []
    for number in range(PEOPLE):
        handheld = Handheld.of(new_person())
        context = handheld.person.context
        context.clock.install()
        handheld.sign_in(PIN)
        handheld.wait_until_kept()
        username = handheld.person.username.partition("@")[0]
        [user] = site.get("/users", username=username)
        network = WeakNetwork(context, _chances(f"network {number}"), _FAULTS)
        network.begin(stack.base_url)
        rng = _chances(f"person {number}")
        made.append(Worker(handheld, network, Records(user["id"]), rng))
    return made


def test_each_scan_is_carried_out_once_or_is_a_decision(workers: list[Worker], site: Site) -> None:
    rng = _chances("plan")
    shift = _Shift(site, rng)
    shift.prepare()
    start = site.quantities(inventory_status="available")
    kills = Counter(rng.sample(range(MOVEMENTS), KILLS))
    killer = Killer(_chances("functions"), kills_workers=False)
    function_kills = {*killer.rng.sample(range(MOVEMENTS), _FUNCTION_KILLS)}
    done = undone = 0
    while done < MOVEMENTS:
        worker = rng.choice(workers)
        worker.pass_time(_SECONDS * PEOPLE)
        worker.look_after()
        movement = shift.next(done)
        worker.take(movement.task)
        moment = rng.choice(["before", "amid", "after"]) if kills.pop(done, 0) else None
        if moment == "amid":
            worker.begin(movement)
        if moment in {"before", "amid"}:
            worker.die()
            worker.take(movement.task)
        if done in function_kills:
            function_kills.remove(done)
            killer.kill_some()  # what others send, and this movement, may meet it
        if not worker.record(movement):
            continue
        done += 1
        if moment == "after":
            worker.die()
        if rng.random() < 0.1 and movement.kind != "counts":
            worker.take(movement.task)
            undone += worker.undo(movement.task)
    for worker in workers:
        worker.finish()

    totals: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    for worker in workers:
        totals.update(worker.network.counts)
        decisions.update(worker.decisions)
    print(f"{done} scans, {KILLS} closed browsers, {undone} undone")  # noqa: T201 - the figure
    print("killed functions:", dict(killer.killed))  # noqa: T201
    print(", ".join(f"{number} {what}" for what, number in totals.items()))  # noqa: T201
    print(decisions.total(), "refusals shown:", dict(decisions.most_common(3)))  # noqa: T201
    books = [worker.records for worker in workers]
    expected = expected_movements(books)
    found = ledger(site)
    assert found - expected == Counter(), "carried out more than once, or after a refusal"
    assert expected - found == Counter(), "lost"
    assert counted_wrong(site, shift.counts[0], books) == []
    assert shown(site, shift.pickings) == recorded(books, "pickings")
    assert shown(site, shift.receipts) == recorded(books, "receipts")
    assert site.quantities(inventory_status="available") == stock_after(site, start, books)
