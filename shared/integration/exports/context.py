"""The resources of one tenant that its exports need: table, files, queue, deadline."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.identity.tenancy.access import s3_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant
from shared.integration.changes.listed_objects import Reader
from shared.integration.exports.models import ExportAuthor, StoredExport
from shared.integration.exports.repository import EXPORTS
from shared.kernel.caller import Caller
from shared.kernel.config import config
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.queue import Message, Queue
from shared.kernel.queued_work import Change
from shared.kernel.tenant_files import TenantFiles


@dataclass(frozen=True, slots=True)
class ExportContext:
    """The resources of one tenant. `queue` is that of the import worker, which makes exports."""

    tenant: Tenant
    store: Store
    files: TenantFiles
    queue: Queue

    @property
    def remaining(self) -> float:
        """Seconds until processing must stop."""
        return self.store.deadline.remaining

    def reader(self, author: ExportAuthor) -> Reader:
        """Return who reads the rows of an export: its author, with the rights of the request.

        The settings are at most 10 seconds old, as those of a request.
        """
        tenant = directory.tenant(self.tenant.slug) or self.tenant
        store = self.store.uncached()
        store.company = tenant.company
        return Reader(store, tenant, _caller(author, tenant.slug))

    def enqueue(self, export_id: int, *, delay: int = 0) -> None:
        """Send the worker a message to make an export, visible after `delay` seconds."""
        message = {"tenant": self.tenant.slug, "export": export_id}
        self.queue.send(Message(message, group=self.tenant.slug, delay=delay))

    def update(self, export_id: int, change: Change[StoredExport]) -> Record[StoredExport]:
        """Change an export in a transaction of its own, and return its record.

        A change of the status or of the files also sets the time of the export.
        """

        def use_case(tx: Transaction) -> Record[StoredExport]:
            record = EXPORTS.get(tx.store, export_id)
            before, changed = record.entity, change(record.entity)
            if changed is None:
                return record
            after = before.model_copy(update=changed)
            if (after.status, after.files) != (before.status, before.files):
                after = after.model_copy(update={"updated_at": tx.now})
            return EXPORTS.replace(tx, record, after)

        return run_transaction(self.store, use_case)

    def fail(self, record: Record[StoredExport], reason: str) -> Record[StoredExport]:
        """Set an export to `failed`, unless it has ended."""
        return self.update(record.id, lambda stored: ended(stored, "failed", reason))


def ended(
    stored: StoredExport, status: str, failure: str | None = None
) -> Mapping[str, object] | None:
    """Return what ends an export; None if it has ended."""
    if stored.status not in {"pending", "running"}:
        return None
    return {"status": status, "failure": failure, "busy_until": 0}


def export_context(tenant: Tenant, store: Store) -> ExportContext:
    """Return the context of a tenant."""
    settings = config()
    return ExportContext(
        tenant=tenant,
        store=store.uncached(),
        files=TenantFiles(s3_for(tenant), settings.import_work_bucket, tenant.slug),
        queue=Queue(settings.import_queue),
    )


def author_of(caller: Caller) -> ExportAuthor:
    """Return the part of a caller that is stored with an export."""
    return ExportAuthor(
        subject=caller.subject,
        kind=caller.kind,
        client_id=caller.client_id,
        scopes=sorted(caller.scopes),
        permissions=sorted(caller.permissions),
    )


def _caller(author: ExportAuthor, slug: str) -> Caller:
    return Caller(
        tenant=slug,
        subject=author.subject,
        kind=author.kind,
        client_id=author.client_id,
        scopes=frozenset(author.scopes),
        permissions=frozenset(author.permissions),
        second_factor=True,
        token_id="",
    )
