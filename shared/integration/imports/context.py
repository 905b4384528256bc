"""What working on a tenant's imports needs: its table, its files, its settings, its time."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.identity.tenancy.access import s3_for
from shared.identity.tenancy.tenant import Tenant
from shared.integration.imports.models import Requester, Source, StoredImport
from shared.integration.imports.repository import IMPORTS
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline, Instant
from shared.kernel.config import config
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.queue import Message, Queue
from shared.kernel.tenant_files import Folder

UNDER_WAY = frozenset({"validating", "committing"})
"""States in which there is something to go on with."""
AFTER_INVOCATION = 30
"""Seconds after which an invocation that answers a request has certainly ended."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """One tenant's.

    `arrivals` is where others leave files, `work` where imports keep what they need.
    """

    tenant: Tenant
    store: Store
    arrivals: Folder
    work: Folder
    queue: Queue

    @property
    def deadline(self) -> Deadline:
        """Until when the work may last."""
        return self.store.deadline

    def folder(self, source: Source) -> Folder:
        """Return the folder in which a file lies."""
        return self.arrivals if source.bucket == "arrivals" else self.work

    def wake(self, number: int, *, delay: int = 0) -> None:
        """Send the worker to an import, `delay` seconds from now."""
        message = {"tenant": self.tenant.slug, "import": number}
        self.queue.send(Message(message, group=self.tenant.slug, delay=delay))

    def change(
        self, number: int, decide: Callable[[StoredImport, Instant], StoredImport | None]
    ) -> Record[StoredImport]:
        """Change the record of an import in a transaction of its own, and return it as it is.

        `decide` gets it as it is, and the time; it returns it as it shall be, None when it
        shall stay.
        """

        def use_case(tx: Transaction) -> Record[StoredImport]:
            record = IMPORTS.get(tx.store, number)
            after = decide(record.entity, tx.now)
            if after is None:
                return record
            if after.status != record.entity.status:
                after = after.model_copy(update={"updated_at": tx.now})
            return IMPORTS.replace(tx, record, after)

        return run_transaction(self.store, use_case)


def workspace_of(tenant: Tenant, store: Store) -> Workspace:
    """Return the workspace of a tenant."""
    settings, s3 = config(), s3_for(tenant.slug)
    return Workspace(
        tenant=tenant,
        store=store.uncached(),
        arrivals=Folder(s3, settings.import_bucket, tenant.slug),
        work=Folder(s3, settings.import_work_bucket, tenant.slug),
        queue=Queue(settings.import_queue),
    )


def requester(caller: Caller | None) -> Requester | None:
    """Return what is kept of who asked."""
    if caller is None:
        return None
    return Requester(subject=caller.subject, kind=caller.kind, client_id=caller.client_id)


def caller_of(one: StoredImport, slug: str) -> Caller | None:
    """Return who is to be named as having made what the import makes; without any rights."""
    asked = one.requested_by
    if asked is None:
        return None
    return Caller(
        tenant=slug,
        subject=asked.subject,
        kind=asked.kind,
        client_id=asked.client_id,
        scopes=frozenset(),
        permissions=frozenset(),
        second_factor=True,
        token_id="",
    )


def released(one: StoredImport, _now: Instant) -> StoredImport | None:
    """Return an import that nobody holds any more, so that the next one can go on with it."""
    return one.model_copy(update={"busy_until": 0}) if one.status in UNDER_WAY else None
