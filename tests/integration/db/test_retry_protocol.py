"""A model of the retries: what is committed was decided on the state at the commit.

One use case reads items that are protected in every way there is, while another request changes
them at any of its AWS calls. The model is the state that the other request has committed; the
protocol is described in `shared.kernel.db.attempts`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count, product

from shared.kernel.db.fences import invalidate_fences
from shared.kernel.db.item_queue import QUEUED, QueuePlace
from shared.kernel.db.items import Item, Key, key_of, to_attributes
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import ServiceError
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, cancelled_transaction
from tests.integration.db.crate_list import CRATES, CrateTable
from tests.sampling import sampled

_COMMIT, _CALLS = 9, 18
"""Number of the call that commits when nobody interferes; of calls before which another acts."""

type Act = str
"""What the other request does: a method of `_Other`."""


def _item(key: Key, **attributes: object) -> Item:
    return {"PK": key[0], "SK": key[1], **attributes}


@dataclass(slots=True)
class _Other:
    """The other request. `state` is what it has committed, as the use case must see it."""

    crates: CrateTable
    number: int
    """Of the run: each has items of its own."""
    own: int = 0
    linked: int = 0
    """Ids of the crates that the use case writes, and reads."""
    state: dict[str, str | None] = field(default_factory=dict)
    conflicts: int = 0
    places: list[Key] = field(default_factory=list)
    """Its places in the queue, which those who wait for them remove."""
    _changes: Iterator[int] = field(default_factory=lambda: count(1))

    def begin(self) -> None:
        self.crates.add([{"name": "", "color": "c0", "status": "new"} for _ in range(2)])
        self.own, self.linked = sorted(self.crates.crates)[-2:]
        self.state |= {"own": "c0", "linked": "c0", "alias": "a0", "guarded": "g0", "new": None}
        self._commit(
            _item(self.key("alias"), note="a0"),
            _item(self.key("guard"), epoch=0),
            _item(self.key("guarded"), note="g0"),
            _item(self.key("named"), note="n0"),
        )

    def key(self, name: str) -> Key:
        """Return the key of an item of this run."""
        return (f"{name} {self.number}", "ALIAS")

    def _commit(self, *items: Item) -> None:
        tx = Transaction(self.crates.store)
        for item in items:
            tx.put(item)
        tx.commit()

    def _next(self, name: str) -> str:
        self.state[name] = f"{name} {next(self._changes)}"
        return str(self.state[name])

    def change_own(self) -> None:
        """Change the entity that the use case writes."""
        self.crates.change(self.own, {"color": self._next("own")})

    def change_linked(self) -> None:
        """Change an entity that the use case reads, and with it the one that it writes."""
        tx = Transaction(self.crates.store)
        for number, name in ((self.own, "own"), (self.linked, "linked")):
            record = CRATES.get(self.crates.store, number)
            CRATES.replace(tx, record, record.entity.model_copy(update={"color": self._next(name)}))
        tx.commit()

    def retire(self) -> None:
        """Change an alias as a retirement does, which invalidates the fences."""
        self._commit(_item(self.key("alias"), note=self._next("alias")))
        invalidate_fences(self.crates.store, ["crate"])

    def change_guarded(self) -> None:
        """Change an item together with the guard on which those rely who read it."""
        epoch = int((self.crates.store.get(self.key("guard")) or {})["epoch"]) + 1
        self._commit(
            _item(self.key("guard"), epoch=epoch),
            _item(self.key("guarded"), note=self._next("guarded")),
        )

    def insert(self) -> None:
        """Create the item that the use case creates if it is missing."""
        self._commit(_item(self.key("new"), note=self._next("new")))

    def cancel(self) -> None:
        """Be at work on the same items: the next transaction conflicts."""
        self.conflicts += 1

    def queue(self) -> None:
        """Wait in the queue of the entity, and die there."""
        self.places.append(QueuePlace(self.crates.store, CRATES.key(self.own)).key)
        item = self.crates.store.get(CRATES.key(self.own))
        self.crates.store.client.put_item(
            TableName=self.crates.store.table, Item=to_attributes({**(item or {}), QUEUED: True})
        )


_ACTS: Sequence[Act] = (
    "change_own", "change_linked", "retire", "change_guarded", "insert", "cancel", "queue",
)  # fmt: skip


@dataclass(slots=True)
class _Run:
    """One use case among acts of the other request, by the number of the call before each."""

    other: _Other
    acts: Mapping[int, Act]
    ids: list[int] = field(default_factory=list)
    """The id that each attempt got."""
    seen: dict[str, str | None] = field(default_factory=dict)
    """What the last attempt has read."""
    at_commit: list[dict[str, str | None]] = field(default_factory=list)
    """The state at each commit of the use case."""
    _turn: Iterator[int] = field(default_factory=count)
    _is_other: bool = False

    def use_case(self, tx: Transaction) -> dict[str, str | None]:
        key = self.other.key
        tx.read_first([key("named")])
        tx.fence("crate")
        alias, guard = tx.store.get(key("alias")), tx.store.get(key("guard"))
        guarded, new = tx.store.get(key("guarded")), tx.store.get(key("new"))
        own, linked = (CRATES.get(tx.store, one) for one in (self.other.own, self.other.linked))
        assert tx.store.get(key("named")) == _item(key("named"), note="n0")
        assert alias
        assert guard
        assert guarded
        self.ids.append(tx.next_id("crate"))
        CRATES.update(tx, own, {"name": f"{own.entity.name}!"})
        tx.count("crate", {"n": 0})
        tx.update(
            key("guard"),
            "ADD epoch :one",
            condition="epoch = :seen",
            values={":one": 1, ":seen": guard["epoch"]},
        )
        tx.add_to_set(key("alias"), "named_by", 1)
        if new is None:
            tx.insert(_item(key("new"), note=None))
        self.seen = {
            "own": own.entity.color, "linked": linked.entity.color, "alias": alias["note"],
            "guarded": guarded["note"], "new": new["note"] if new else None,
        }  # fmt: skip
        return self.seen

    def fault(self, call: Call, forward: Forward) -> Answer:
        if self._is_other:
            return forward()
        if act := self.acts.get(next(self._turn)):
            self._is_other = True
            getattr(self.other, act)()
            self._is_other = False
        if call.operation != "TransactWriteItems":
            return forward()
        if self.other.conflicts:
            self.other.conflicts -= 1
            return cancelled_transaction(call, "TransactionConflict", self._read_items(call))
        state = dict(self.other.state)
        answer = forward()
        if answer[0] is not None and answer[0][0].status_code == 200:
            self.at_commit.append(state)
        return answer

    @staticmethod
    def _read_items(call: Call) -> list[int]:
        return [at for at, one in enumerate(call.request["TransactItems"]) if "Put" in one]


def _cases() -> list[Mapping[int, Act]]:
    """Return no act; every single one; one after a conflict; some of two acts."""
    single: list[Mapping[int, Act]] = [{at: act} for at, act in product(range(_COMMIT + 1), _ACTS)]
    later = range(_COMMIT + 1, _CALLS)
    retried: list[Mapping[int, Act]] = [
        {_COMMIT: "cancel", at: act} for at, act in product(later, _ACTS)
    ]
    double: list[Mapping[int, Act]] = [
        {first: one, second: other}
        for first, second in combinations(range(_CALLS), 2)
        for one, other in product(_ACTS, _ACTS)
    ]
    return [{}, *single, *retried, *sampled("two acts during a use case", double, every=301)]


def _places(other: _Other) -> set[Key]:
    """Return the keys of the places in the queue of the entity."""
    found = other.crates.store.query(
        KeyConditionExpression="PK = :item AND begins_with(SK, :place)",
        values={":item": CRATES.key(other.own)[0], ":place": "QUEUE#"},
        ConsistentRead=True,
    )
    return {key_of(item) for item in found.items}


def test_what_is_committed_was_decided_on_the_state_at_the_commit(
    crates: CrateTable, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.freeze()
    failed: dict[str, Exception] = {}
    for number, acts in enumerate(_cases()):
        other = _Other(crates, number)
        other.begin()
        run = _Run(other, acts)
        try:
            with aws_faults.faulty(run.fault):
                assert run_transaction(crates.store, run.use_case) == run.seen
            assert run.at_commit == [run.seen]
            assert len(set(run.ids)) == 1, "an attempt got another id"
            assert CRATES.get(crates.store, other.own).entity.name == "!"
            assert _places(other) <= {*other.places}, "a place in the queue is left"
        except (AssertionError, ServiceError) as error:
            failed[str(acts)] = error
    assert failed == {}
