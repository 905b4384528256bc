"""Files that others leave in the import bucket: through a presigned form, or dropped.

SLUG/uploads/ID/NAME   the file that the import ID waits for
SLUG/drop/KIND/NAME    a file to be imported
SLUG/rejected/KIND/NAME, and NAME.reason.txt   what cannot be taken, and why
"""

from dataclasses import dataclass
from typing import get_args

from shared.identity.tenancy.tenant import ensure_open, has_module
from shared.integration.imports.commit import fail
from shared.integration.imports.context import Workspace
from shared.integration.imports.drop_results import ERRORS, REASON, RESULT
from shared.integration.imports.files.columns import ImportKind
from shared.integration.imports.models import MAX_FILE, Source, StoredImport
from shared.integration.imports.repository import IMPORTS, found_import, lead_to, origin_key
from shared.integration.imports.service import new_drop
from shared.integration.imports.upload_checks import ensure_readable, file_name
from shared.kernel.clock import Instant
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import NotFound, ServiceError
from shared.kernel.tenant_files import FileMissing

_SHORTENED = 100
"""Characters that are left of a name that is too long."""
_UPLOADS, _DROPS, _REJECTED = "uploads", "drop", "rejected"
_KINDS: frozenset[str] = frozenset(get_args(ImportKind.__value__))
_MOST_KEY = 980
"""Bytes of a key that leave room for the ends of other names: a key has at most 1024."""
_UPLOAD_PARTS = 3
_DROP_PARTS = 3


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file that has arrived: its name below the tenant's prefix, its contents, its size.

    `occurrence` tells one arrival from the next; a repeated message has the same.
    """

    name: str
    etag: str
    size: int
    occurrence: str


def receive(space: Workspace, arrival: Arrival) -> int | None:
    """Find or make the import of a file that has arrived; None when there is nothing to do."""
    parts = arrival.name.split("/")
    if parts[0] == _UPLOADS and len(parts) == _UPLOAD_PARTS and parts[1].isdecimal():
        return _receive_upload(space, int(parts[1]), arrival)
    if parts[0] == _DROPS and not arrival.name.endswith((RESULT, ERRORS, REASON, "/")):
        return _receive_drop(space, arrival)
    return None


def _receive_upload(space: Workspace, number: int, arrival: Arrival) -> int | None:
    reason = _refusal(space)

    def decide(one: StoredImport, _now: Instant) -> StoredImport | None:
        if one.status != "uploaded" or one.source.name != arrival.name:
            return None
        source = one.source.model_copy(update={"etag": arrival.etag})
        return one.model_copy(update={"status": "validating", "source": source})

    try:
        record = space.change(number, decide)
    except NotFound:
        return None
    if reason and record.entity.status == "validating":
        fail(space, number, reason)
    return number


def _receive_drop(space: Workspace, arrival: Arrival) -> int | None:
    _, kind, name = [*arrival.name.split("/"), "", ""][:_DROP_PARTS]
    reason = _reason_against(space, arrival, kind)
    if reason:
        _reject(space, arrival.name, reason)
        return None
    source = Source(bucket="arrivals", name=arrival.name, etag=arrival.etag)
    origin = origin_key(f"{arrival.name}#{arrival.etag}#{arrival.occurrence}")

    def use_case(tx: Transaction) -> int:
        known = found_import(tx.store, origin)
        if known is not None:
            return known
        number = tx.next_id(IMPORTS.kind)
        one = new_drop(tx, number, _kind(kind), file_name(name), source)
        IMPORTS.insert(tx, number, one)
        lead_to(tx, origin, number, new=True)
        return number

    return run_transaction(space.store, use_case)


def _kind(name: str) -> ImportKind:
    return next(kind for kind in get_args(ImportKind.__value__) if kind == name)


def _reason_against(space: Workspace, arrival: Arrival, kind: str) -> str | None:
    """Return why a dropped file cannot be taken; None when it can."""
    if kind not in _KINDS or arrival.name.count("/") != _DROP_PARTS - 1:
        kinds = ", ".join(sorted(_KINDS))
        return f"There is no kind of import {kind!r}. Drop files into drop/KIND/: {kinds}."
    if len(space.arrivals.key(arrival.name).encode()) > _MOST_KEY:
        return "The name of the file is too long: nothing can be left beside it."
    if arrival.size > MAX_FILE:
        return f"The file has {arrival.size} bytes; at most {MAX_FILE} are accepted."
    if arrival.size == 0:
        return "The file is empty."
    try:
        ensure_readable(None, arrival.name)
    except ServiceError as error:
        return error.message
    return _refusal(space)


def _refusal(space: Workspace) -> str | None:
    """Return why nothing of the tenant is imported; None when it is served."""
    try:
        ensure_open(space.tenant)
    except ServiceError as error:
        return error.message
    return None if has_module(space.tenant, "bulk_import") else "Bulk import is inactive."


def _reject(space: Workspace, name: str, reason: str) -> None:
    """Move a file out of the way, with the reason beside it; may be repeated."""
    target = f"{_REJECTED}/{name.removeprefix(_DROPS + '/')}"
    if len(space.arrivals.key(target).encode()) > _MOST_KEY:
        target = f"{_REJECTED}/{name[-_SHORTENED:].replace('/', '_')}"
    space.arrivals.put(target + REASON, f"{reason}\n".encode(), "text/plain; charset=utf-8")
    try:
        space.arrivals.copy(name, target)
    except FileMissing:
        return  # moved by an earlier attempt
    space.arrivals.delete(name)
