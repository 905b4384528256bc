"""The resources of one tenant that processing its imports needs: table, files, queue, deadline."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shared.identity.tenancy.access import s3_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant
from shared.integration.imports.models import FileLocation, Requester, StoredImport
from shared.integration.imports.repository import IMPORTS
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.queue import Message, Queue
from shared.kernel.queued_work import Change
from shared.kernel.tenant_files import TenantFiles
from shared.warehouse.approvals import service as approvals

IN_PROGRESS = frozenset({"validating", "committing"})
"""The states in which the worker has something to do."""
REQUEST_SECONDS = 30
"""Seconds after which a request has certainly ended: the timeout of the gateway."""


@dataclass(frozen=True, slots=True)
class ImportContext:
    """The resources of one tenant.

    `import_files` are its files in the import bucket: uploads and drops, and the results of drops;
    `work_files` those in the work bucket: files from requests, part files, reports. `queue` is that
    of the import worker.
    """

    tenant: Tenant
    store: Store
    import_files: TenantFiles
    work_files: TenantFiles
    queue: Queue

    @property
    def deadline(self) -> Deadline:
        """The time at which processing must stop."""
        return self.store.deadline

    def renewed(self) -> "ImportContext":
        """Return the context with the settings that a new request would get.

        An import runs longer than a request. Both get settings that are at most 10 seconds old.
        """
        tenant = directory.tenant(self.tenant.slug) or self.tenant
        store = self.store.uncached()
        store.company = tenant.company
        return replace(self, tenant=tenant, store=store)

    def files_of(self, location: FileLocation) -> TenantFiles:
        """Return the files among which an uploaded file is stored."""
        return self.import_files if location.bucket == "arrivals" else self.work_files

    def enqueue(self, import_id: int, *, delay: int = 0) -> None:
        """Send the worker a message to process an import, visible after `delay` seconds."""
        message = {"tenant": self.tenant.slug, "import": import_id}
        self.queue.send(Message(message, group=self.tenant.slug, delay=delay))

    def update(
        self, import_id: int, change: Change[StoredImport], *, request: str | None = None
    ) -> Record[StoredImport]:
        """Change an import in a transaction of its own, and return its record.

        A change of the status also sets the times of the import. `request` is the name of the
        request of which it is a step.
        """

        def use_case(tx: Transaction) -> Record[StoredImport]:
            record = IMPORTS.get(tx.store, import_id)
            changed = change(record.entity)
            if changed is None:
                return record
            after = record.entity.model_copy(update=changed)
            if after.status != record.entity.status:
                times = {"updated_at": tx.now}
                if after.status == "committed":
                    times["committed_at"] = tx.now
                after = after.model_copy(update=times)
            return IMPORTS.replace(tx, record, after)

        return run_transaction(self.store, use_case, request_name=request)


def import_context(tenant: Tenant, store: Store) -> ImportContext:
    """Return the context of a tenant."""
    settings, s3 = config(), s3_for(tenant)
    return ImportContext(
        tenant=tenant,
        store=store.uncached(),
        import_files=TenantFiles(s3, settings.import_bucket, tenant.slug),
        work_files=TenantFiles(s3, settings.import_work_bucket, tenant.slug),
        queue=Queue(settings.import_queue),
    )


def requester_of(caller: Caller | None) -> Requester | None:
    """Return the part of a caller that is stored with an import."""
    if caller is None:
        return None
    return Requester(
        subject=caller.subject,
        kind=caller.kind,
        client_id=caller.client_id,
        may_approve=caller.kind == "user" and approvals.PERMISSION in caller.permissions,
    )


def caller_of(stored: StoredImport, slug: str) -> Caller | None:
    """Return the author of everything that the import creates: a caller without any rights."""
    requester = stored.requested_by
    if requester is None:
        return None
    return Caller(
        tenant=slug,
        subject=requester.subject,
        kind=requester.kind,
        client_id=requester.client_id,
        scopes=frozenset(),
        permissions=frozenset(),
        second_factor=True,
        token_id="",
    )


def release_lease(stored: StoredImport) -> Mapping[str, object] | None:
    """End the lease of an import, so that the next worker can process it immediately."""
    return {"busy_until": 0} if stored.status in IN_PROGRESS else None
