"""Requests that write while a table is upgraded, of the old and of the new release."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from shared.identity.tenancy.access import operator_store, store_for
from shared.identity.tenancy.directory import CACHE_SECONDS, TenantDirectory, directory
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.collection import Collection
from shared.kernel.db.schema import TableVersion
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Gone, NotFound
from tests.clock import Clock
from tests.faults import Answer, Call, Forward
from tests.integration.upgrade.invention import copy_of
from tests.lists.spec import HOURLY, Listed

LONGEST_SECONDS = 100.0
"""Age of a request when it commits, at most. With its cached tenant and the time to the next call,
it is younger than the longest invocation."""
_MOST = 40
"""Rows of the list, about."""


@dataclass(slots=True)
class Writers:
    """Requests on one list.

    Half of them run the code of the previous release, as long as that code does not refuse the
    table. Each reads the tenant through the cache of its execution environment, stages its change
    at once, and commits it up to LONGEST_SECONDS later. Others begin while the upgrade waits.
    """

    listed: Listed
    old: Collection[Any]
    """The collection of the previous release."""
    old_version: int
    clock: Clock
    seed: int
    committed: int = 0
    refused: int = 0
    _numbers: list[int] = field(default_factory=list)
    _open: list[tuple[float, Transaction]] = field(default_factory=list)
    _old_environment: TenantDirectory = field(default_factory=TenantDirectory)
    _new_environment: TenantDirectory = field(default_factory=TenantDirectory)
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311

    @classmethod
    def of(cls, listed: Listed, version: int, clock: Clock, *, rows: int, seed: int) -> "Writers":
        """Return the writers of a list that has `rows` rows."""
        writers = cls(listed, copy_of(listed.collection), version, clock, seed)
        writers._numbers = [listed.id_of(number) for number in range(1, rows + 1)]
        return writers

    def finish(self) -> None:
        """Commit the requests that are still open."""
        self._open = [(0.0, tx) for _, tx in self._open]
        self.commit_due()

    def begin(self) -> None:
        """Begin a request, which commits now or later."""
        is_old = self._random.random() < 0.5
        environment = self._old_environment if is_old else self._new_environment
        tenant = environment.tenant("acme", self._random.uniform(0, CACHE_SECONDS))
        assert tenant
        if is_old and tenant.table_version != TableVersion.of(self.old_version):
            self.refused += 1  # the code of that release refuses it
            return
        tx = Transaction(store_for(tenant))
        try:
            self._stage(tx, self.old if is_old else self.listed.collection)
        except (NotFound, Gone):
            return
        delay = self._random.choice((0.0, 0.0, self._random.uniform(0, LONGEST_SECONDS)))
        self._open.append((self.clock.monotonic() + delay, tx))

    def _stage(self, tx: Transaction, collection: Collection[Any]) -> None:
        verb = self._random.choice(("insert", "replace", "replace", "remove"))
        position = self._random.randrange(10**4, 10**5)
        entity = self.listed.make(position, HOURLY)
        if verb == "insert" and len(self._numbers) < _MOST:
            number = self.listed.id_of(position)
            if "id" in type(entity).model_fields:
                entity = entity.model_copy(update={"id": number})
            collection.insert(tx, number, entity)
            self._numbers.append(number)
            return
        record = collection.get(tx.store, self._random.choice(self._numbers))
        if verb == "remove" and len(self._numbers) > 5:
            collection.remove(tx, record)
        else:
            same_id = {"id": record.id} if "id" in type(entity).model_fields else {}
            if not collection.more_lookups:  # they never change
                collection.replace(tx, record, entity.model_copy(update=same_id))
            else:
                collection.replace(tx, record, record.entity)

    def commit_due(self) -> None:
        """Commit the requests whose time has come."""
        now = self.clock.monotonic()
        due = [tx for moment, tx in self._open if moment <= now]
        self._open = [(moment, tx) for moment, tx in self._open if moment > now]
        for tx in due:
            try:
                tx.commit()
            except StaleRead:
                continue
            self.committed += 1


class WritersInTurn:
    """Requests that begin and commit before and after the AWS calls of the upgrade.

    The lists take turns to begin requests; all commit those whose time has come.
    """

    def __init__(self, writers: Sequence[Writers], clock: Clock) -> None:
        self._writers = writers
        self._turns = cycle(writers)
        self._clock = clock
        self._is_inside = False

    def between(self, _call: Call, forward: Forward) -> Answer:
        """Fault that lets requests begin and commit around a call of the upgrade."""
        if self._is_inside:
            return forward()
        self._act()
        answer = forward()
        self._act()
        return answer

    def sleep(self, seconds: float) -> None:
        """Let requests begin and commit while the upgrade waits."""
        self._clock.advance(seconds / 2)
        if not self._is_inside:
            self._act()
        self._clock.advance(seconds / 2)

    def _act(self) -> None:
        self._is_inside = True
        try:
            for one in self._writers:
                one.commit_due()
            next(self._turns).begin()
        finally:
            self._is_inside = False


def store_of(slug: str) -> Store:
    """Return the table of a tenant as a request opens it now."""
    directory.clear()
    return operator_store(slug)
