"""Going on with an import, wherever it stands, for as long as the time allows."""

from contextlib import suppress

from shared.integration.imports.commit import commit, fail
from shared.integration.imports.context import UNDER_WAY, Workspace, released
from shared.integration.imports.drop_results import leave_results
from shared.integration.imports.models import StoredImport
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.service import begin_commit
from shared.integration.imports.validation import LEASE_MS, validate
from shared.kernel.clock import Instant, now_ms
from shared.kernel.db.collection import Record
from shared.kernel.errors import ImportRefused, NotFound

MOST_STALLS = 5
"""As often an import is taken up without getting ahead: the last time, it is ended instead, so
that it never stays under way for ever. As many times the queue delivers a message."""
_GIVE_UP = "The import failed several times in the same place"
_AFTER_A_SLICE = 120
"""Seconds after which an invocation of the worker has certainly ended."""
_AFTER_A_LEASE = LEASE_MS // 1000 + 1


def run(space: Workspace, number: int, *, last: bool = False) -> None:
    """Go on with an import, if there is one.

    Sends the worker back to it when the time is up, when somebody else is at it, and when it
    is the `last` time that its message is delivered. Where it has come to an end or waits for
    a decision, the results of a dropped file are written.
    """
    mine = False

    def claim(one: StoredImport, _now: Instant) -> StoredImport | None:
        nonlocal mine
        mine = one.busy_until <= now_ms()
        if one.status not in UNDER_WAY or not mine:
            return None
        return one.model_copy(
            update={"busy_until": now_ms() + LEASE_MS, "stalled": one.stalled + 1}
        )

    try:
        record = space.change(number, claim)
    except NotFound:
        return  # the request that was to make it never did
    if record.entity.status in UNDER_WAY and not mine:
        space.wake(number, delay=1 + max(0, record.entity.busy_until - now_ms()) // 1000)
        return
    if record.entity.status in UNDER_WAY:
        if record.entity.stalled >= MOST_STALLS:
            record = _give_up(space, record)
        elif last:
            # Should this invocation die as well, the worker goes on.
            space.wake(number, delay=_AFTER_A_SLICE)
    try:
        record = _go_on(space, record)
    except Exception:
        # Sooner than the queue would deliver the message again.
        space.wake(number, delay=_AFTER_A_LEASE)
        raise
    if record.entity.status in UNDER_WAY:
        space.change(number, released)
        space.wake(number)
    leave_results(space, record)


def _go_on(space: Workspace, record: Record[StoredImport]) -> Record[StoredImport]:
    if record.entity.status == "validating":
        record = validate(space, record.id)
    if record.entity.status == "validated" and _commits_itself(space, record.entity):
        with suppress(ImportRefused):  # somebody else has decided meanwhile
            begin_commit(space, record.id)
        record = IMPORTS.get(space.store, record.id)
    if record.entity.status == "committing":
        record = commit(space, record.id)
    return record


def _commits_itself(space: Workspace, one: StoredImport) -> bool:
    return one.way == "drop" and space.tenant.settings.commit_drops


def _give_up(space: Workspace, record: Record[StoredImport]) -> Record[StoredImport]:
    what_now = "it can be committed again" if record.entity.readable else "upload the file again"
    return fail(space, record.id, f"{_GIVE_UP}; {what_now}.")
