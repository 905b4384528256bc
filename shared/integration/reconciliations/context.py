"""The resources of one tenant that its reconciliations need: table, files, queue, deadline."""

import secrets
from dataclasses import dataclass

from shared.identity.tenancy.access import s3_for
from shared.identity.tenancy.tenant import Tenant
from shared.integration.reconciliations.models import StoredReconciliation
from shared.integration.reconciliations.repository import get_reconciliation, put_reconciliation
from shared.kernel.config import config
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.json_text import dumps, loads
from shared.kernel.queue import Message, Queue
from shared.kernel.queued_work import Change
from shared.kernel.tenant_files import TenantFiles

LINK_SECONDS = 900
"""Lifetime of the link of a workbook."""
IN_PROGRESS = frozenset({"pending", "running"})
"""The statuses in which the worker has something to do."""
_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FILE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ReconciliationContext:
    """The resources of one tenant; files are in the work bucket, the queue is that of imports."""

    tenant: Tenant
    store: Store
    files: TenantFiles
    queue: Queue

    def put_file(self, content: bytes) -> str:
        """Store an uploaded file, and return its name."""
        return self._put(content, _FILE, "")

    def put_workbook(self, content: bytes) -> str:
        """Store a workbook, and return its name."""
        return self._put(content, _WORKBOOK, ".xlsx")

    def put_part(self, content: object) -> str:
        """Store what a step has read, and return its name."""
        return self._put(dumps(content).encode(), "application/json", ".json")

    def part(self, name: str) -> object:
        """Return what a step has read."""
        return loads(self.files.read(name))

    def _put(self, content: bytes, media: str, suffix: str) -> str:
        name = f"reconciliations/{secrets.token_hex(16)}{suffix}"
        self.files.put(name, content, media)
        return name

    def workbook_url(self, name: str | None, download_as: str) -> str | None:
        """Return a link with which anyone can download a workbook; None without one."""
        if name is None:
            return None
        return self.files.presigned_url(name, seconds=LINK_SECONDS, download_as=download_as)

    def enqueue(self, number: int, *, delay: int = 0) -> None:
        """Send the worker a message about a reconciliation, visible after `delay` seconds."""
        message = {"tenant": self.tenant.slug, "reconciliation": number}
        self.queue.send(Message(message, group=self.tenant.slug, delay=delay))

    def update(
        self, number: int, change: Change[StoredReconciliation]
    ) -> Record[StoredReconciliation]:
        """Change a reconciliation in a transaction of its own, and return its record."""

        def use_case(tx: Transaction) -> Record[StoredReconciliation]:
            record = get_reconciliation(tx.store, number)
            changed = change(record.entity)
            if changed is None:
                return record
            after = record.entity.model_copy(update={**changed, "updated_at": tx.now})
            return put_reconciliation(tx, after, record)

        return run_transaction(self.store, use_case)

    def fail(self, number: int, failure: str, **found: object) -> Record[StoredReconciliation]:
        """Set a reconciliation to `failed`, unless it has ended."""

        def end(stored: StoredReconciliation) -> dict[str, object] | None:
            if stored.status not in IN_PROGRESS:
                return None
            return {"status": "failed", "failure": failure, "busy_until": 0, **found}

        return self.update(number, end)


def reconciliation_context(tenant: Tenant, store: Store) -> ReconciliationContext:
    """Return the context of a tenant."""
    settings = config()
    files = TenantFiles(s3_for(tenant), settings.import_work_bucket, tenant.slug)
    return ReconciliationContext(tenant, store, files, Queue(settings.import_queue))
