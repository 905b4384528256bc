"""Use cases of followers of the feed of changes."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from shared.integration.changes.listed_objects import LISTED_OBJECTS, Reader
from shared.integration.changes.models import (
    ChangeActor,
    ChangeOperation,
    ChangesFrame,
    ChangesLinks,
    ChangesMeta,
    ChangesParameters,
    FeedTransaction,
    LatestPosition,
    ObjectChecksum,
    RequestedTransaction,
    ResourceChange,
    ShownChange,
)
from shared.kernel.db.outbox_item import CHANGES_SINCE, ResourceId, VersionChange
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.store import Store
from shared.kernel.errors import Gone, Problem, UnservedTable, ValidationFailed
from shared.kernel.events.feed import FeedEntry, FeedHead, read_head, read_page
from shared.kernel.json_text import dumps

_PATH = "/changes"
_MOST_RESOURCES = 1_000
"""Resources that a page shows, unless one transaction has more."""
_AT_ONCE = 100
"""Resources that are read at once, as for a page of a list: each may have a thousand lines."""
_MOST_BYTES = 4_000_000
"""Bytes of the transactions of a page; a response has 6 MB. One with more has no resources."""

type _Rows = Mapping[tuple[str, ResourceId], dict[str, Any]]
"""Object and id of the record → what the list shows of it."""
type _Shown = tuple[FeedEntry, Sequence[VersionChange]]
"""An entry, and those of its changes that are shown."""


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """A page of the feed, and what stands beside it."""

    transactions: Sequence[FeedTransaction]
    frame: ChangesFrame


def list_changes(reader: Reader, parameters: ChangesParameters) -> ChangesPage:
    """Return what was committed behind a position, as far as the caller may read its objects.

    Raises:
        Gone: The position is of another epoch, or what follows it has expired.
        ValidationFailed: The position was never given.
        UnservedTable: The table has no feed yet.
    """
    head, after = feed_head(reader.store), parameters.after
    ensure_present_epoch(head, parameters.epoch)
    if problem := position_problem(head, "after", after):
        raise ValidationFailed([problem])
    entries: Sequence[FeedEntry] | None = ()
    if after < head.position:
        entries = read_page(reader.store, head, after, parameters.per_page)
    if entries is None:
        raise expired_position(head, after)
    visible = _visible(reader, parameters.objects)
    shown: list[_Shown] = [
        (entry, [one for one in entry.changes if one.object in visible]) for entry in entries
    ]
    if "resource" in parameters.include:
        shown = _limited(shown, _changes_of, _MOST_RESOURCES)
    found = _transactions(reader, shown, parameters.include)
    transactions = _limited(found, _size, _MOST_BYTES)
    if len(transactions) == 1 and _size(transactions[0]) > _MOST_BYTES:
        transactions = [_transaction(reader, *shown[0], None, parameters.include)]
    last = transactions[-1].position if transactions else after
    listed = [one for one in transactions if one.changes]
    return ChangesPage(listed, _frame(reader, parameters, head, last))


def latest_position(reader: Reader) -> LatestPosition:
    """Return the end of the feed with the checksums of the objects that the caller may read.

    Raises:
        UnservedTable: The table has no feed yet.
    """
    head = feed_head(reader.store)
    visible = _visible(reader, None)
    return LatestPosition(
        position=head.position,
        epoch=head.epoch,
        checksums={
            name: ObjectChecksum(count=count, sum=str(total))
            for name, (count, total) in (
                (name, head.checksums.get(name, (0, 0))) for name in visible
            )
        },
    )


def feed_head(store: Store) -> FeedHead:
    """Return the end of the feed.

    Raises:
        UnservedTable: The table has no feed yet.
    """
    store.ensure_version(CHANGES_SINCE, "The feed of changes")
    head = read_head(store)
    if head is None or not head.is_complete:
        raise UnservedTable(
            f"The feed of changes of {store.slug} has not started yet; an operator starts it with"
            " `stowage tenant upgrade`."
        )
    return head


def position_problem(head: FeedHead, field: str, position: int) -> Problem | None:
    """Return the problem of a position that was never given."""
    if position <= head.position:
        return None
    return Problem(field, f"the last position is {head.position}; {position} was never given")


def ensure_present_epoch(head: FeedHead, epoch: int | None) -> None:
    """Raise Gone if a position is of another epoch than that of the feed."""
    if epoch not in {None, head.epoch}:
        raise _gone(head, f"The feed of epoch {epoch}", "replaced by a new one")


def expired_position(head: FeedHead, position: int) -> Gone:
    """Return the refusal of a position that what follows is not kept of any more."""
    return _gone(head, f"What follows position {position}", "deleted after 92 days")


def _gone(head: FeedHead, what: str, how: str) -> Gone:
    """Return the refusal of a follower that has to start again from a snapshot."""
    latest = {"position": head.position, "epoch": head.epoch}
    return Gone(what, f"{how}; start again from a snapshot", {"latest": latest})


def _visible(reader: Reader, wanted: Sequence[str] | None) -> list[str]:
    """Return the objects that were asked for and that the caller may read."""
    return [
        name
        for name, one in LISTED_OBJECTS.items()
        if (wanted is None or name in wanted) and one.may_read(reader)
    ]


def _limited[A](found: Iterable[A], weight: Callable[[A], int], most: int) -> list[A]:
    """Return the leading ones that weigh at most `most` together; at least one."""
    leading: list[A] = []
    total = 0
    for one in found:
        total += weight(one)
        if leading and total > most:
            break
        leading.append(one)
    return leading


def _changes_of(shown: _Shown) -> int:
    return len(shown[1])


def _transactions(
    reader: Reader, shown: Sequence[_Shown], include: Collection[str]
) -> Iterator[FeedTransaction]:
    """Yield entries as the interface shows them; their resources are read part by part."""
    while shown:
        part, rows = shown, None
        if "resource" in include:
            part = _limited(shown, _changes_of, _AT_ONCE)
            rows = _read_rows(reader, (change for _, changes in part for change in changes))
        for entry, changes in part:
            yield _transaction(reader, entry, changes, rows, include)
        shown = shown[len(part) :]


def _size(transaction: FeedTransaction) -> int:
    """Return the bytes of a transaction in a response, which Lambda writes as a JSON string."""
    return len(json.dumps(dumps(transaction.model_dump())))


def _key(change: VersionChange) -> tuple[str, ResourceId]:
    return change.object, change.record_id


def _read_rows(reader: Reader, changes: Iterable[VersionChange]) -> _Rows:
    """Return what the lists show of the changed resources that exist."""
    ids: dict[str, dict[ResourceId, None]] = {}
    for change in changes:
        ids.setdefault(change.object, {})[change.record_id] = None
    found = map_concurrently(lambda name: LISTED_OBJECTS[name].rows(reader, ids[name]), list(ids))
    return {
        (name, number): row
        for name, rows in zip(ids, found, strict=True)
        for number, row in rows.items()
    }


def _transaction(
    reader: Reader,
    entry: FeedEntry,
    changes: Sequence[VersionChange],
    rows: _Rows | None,
    include: Collection[str],
) -> FeedTransaction:
    shown = FeedTransaction(
        position=entry.position,
        committed_at=entry.committed_at,
        request_id=entry.request_id,
        actor=ChangeActor(type=entry.author.type, id=entry.author.id),
        changes=[_change(reader, one, rows) for one in changes],
    )
    if "action" not in include:
        return shown
    return RequestedTransaction(**shown.__dict__, action=entry.author.action)


def _change(reader: Reader, change: VersionChange, rows: _Rows | None) -> ResourceChange:
    shown = ResourceChange(
        object=change.object,
        id=change.id,
        # The tombstone of a deleted resource has the version after its last one.
        version=(change.before or 0) + 1 if change.after is None else change.after,
        operation=_operation(change),
        href=LISTED_OBJECTS[change.object].href(reader, change),
    )
    if rows is None:
        return shown
    return ShownChange(**shown.__dict__, resource=rows.get(_key(change)))


def _operation(change: VersionChange) -> ChangeOperation:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "updated"


def _frame(
    reader: Reader, parameters: ChangesParameters, head: FeedHead, last: int
) -> ChangesFrame:
    sent = parameters.model_dump(exclude_unset=True, exclude_none=True)
    for name in sent.keys() & {"objects", "include"}:
        sent[name] = ",".join(sent[name])
    query = urlencode({**sent, "after": last, "epoch": head.epoch})
    return ChangesFrame(
        links=ChangesLinks(next=f"{reader.tenant.base_url}{_PATH}?{query}"),
        meta=ChangesMeta(after=parameters.after, last=last, latest=head.position, epoch=head.epoch),
    )
