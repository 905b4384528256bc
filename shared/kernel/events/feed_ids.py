"""Which entries a feed has, as far as an execution environment has read its chunks.

Before an append, the relay looks for its entries in the chunks up to one before which all entries
began before its own. After a stop, one partition of the outbox may lag hours behind what the others
have appended. So the environment remembers what it has read, and reads each chunk once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shared.kernel.db.outbox_item import bytes_of
from shared.kernel.db.store import Store
from shared.kernel.events.feed import FeedHead, chunk_key, first_position, ids_of, query_chunks

_FIRST_CHUNKS = 4
"""Chunks that are read first; each further read has four times as many."""
_MOST_READ = 10_000
"""Entries that others have appended meanwhile, and that are read although they may be younger."""
_MOST_IDS = 200_000
"""Ids that an environment remembers of all feeds, of some 100 bytes each."""


@dataclass(frozen=True, slots=True)
class AppendedIds:
    """The ids of the entries of a feed behind the position `after`, up to `position`.

    No entry up to `after` began at `since_ms` or later.
    """

    epoch: int
    after: int
    position: int
    since_ms: int
    ids: set[bytes]

    @classmethod
    def none_before(cls, head: FeedHead) -> "AppendedIds":
        """Return those behind a head: none."""
        return cls(head.epoch, head.position, head.position, head.newest_ms + 1, set())

    def has(self, name: str) -> bool:
        """Return whether an entry is among them, by the id of its item of the outbox."""
        return bytes_of(name) in self.ids


_remembered: dict[str, AppendedIds] = {}
"""Table → what is known of its feed."""


def forget() -> None:
    """Forget everything, as in a new execution environment."""
    _remembered.clear()


def appended_ids(store: Store, head: FeedHead, since_ms: int) -> AppendedIds | None:
    """Return the ids up to the head, at least of entries that began at `since_ms` or later.

    None if a chunk cannot be read yet.
    """
    known: AppendedIds | None = _remembered.get(store.table)
    if known is None or known.epoch != head.epoch:
        known = AppendedIds.none_before(head)
    elif known.position < head.position:
        if head.newest_ms < since_ms:
            return AppendedIds.none_before(head)
        known = _with_latest(store, known, head, since_ms)
    if known is not None:
        known = _read_back(store, known, 0, since_ms)
    if known is not None:
        _remember(store, known)
    return known


def with_appended(
    store: Store, known: AppendedIds, head: FeedHead, names: Iterable[str]
) -> AppendedIds:
    """Return what is known after a batch was appended behind it; the feed has `head` now."""
    known.ids.update(map(bytes_of, names))
    after = replace(known, position=head.position)
    kept = _remembered.get(store.table)
    if kept is None or (kept.epoch, kept.position) == (known.epoch, known.position):
        _remember(store, after)
    return after


def _with_latest(
    store: Store, known: AppendedIds, head: FeedHead, since_ms: int
) -> AppendedIds | None:
    """Return what is known with the ids behind it, or only the latest if those are too many.

    None if a chunk cannot be read yet.
    """
    is_near = head.position - known.position <= _MOST_READ
    none = AppendedIds.none_before(head)
    latest = _read_back(store, none, known.position, 0 if is_near else since_ms)
    if latest is None or latest.after > known.position:
        return latest
    known.ids.update(latest.ids)
    return replace(known, position=latest.position)


def _read_back(store: Store, known: AppendedIds, end: int, since_ms: int) -> AppendedIds | None:
    """Return what is known with the chunks before it, back to the position `end`.

    It ends earlier where no entry before it began at `since_ms` or later: those chunks may have
    expired. None if a chunk cannot be read yet.
    """
    after, newest_ms, limit = known.after, known.since_ms - 1, _FIRST_CHUNKS
    while after > end and since_ms <= newest_ms:
        low, high = chunk_key(known.epoch, end + 1)[1], chunk_key(known.epoch, after)[1]
        page = query_chunks(store, low, high, Limit=limit, ScanIndexForward=False)
        if not page.items:
            return None
        for item in page.items:
            names, first = ids_of(item), first_position(item)
            if first + len(names) - 1 != after:
                return None
            known.ids.update(map(bytes_of, names))
            after, newest_ms = first - 1, int(item["newest_before_ms"])
            if newest_ms < since_ms:
                break
        limit *= 4
    return replace(known, after=after, since_ms=newest_ms + 1)


def _remember(store: Store, known: AppendedIds) -> None:
    _remembered[store.table] = known
    # Other threads remember other feeds meanwhile.
    if sum(len(one.ids) for one in [*_remembered.values()]) > _MOST_IDS:
        forget()
