"""The steps of an import: register the tenant, fill its table, compare, repair, activate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from operations.feed import begin_feed, has_feed
from operations.operator_identity import run_as_operator
from operations.progress import ReportProgress, no_progress
from operations.provisioning import insert_tenant
from operations.table_lease import Lease, leased
from operations.tenant_changes import IMPORT_PENDING
from operations.tenant_import.comparing import Compared, compare
from operations.tenant_import.line_checks import KEPT
from operations.tenant_import.reading import TenantExport
from operations.tenant_import.terms import Terms
from operations.tenant_import.writing import NarrowedClients, write, write_unrelayed_events
from operations.tenant_rules import NewTenant
from operations.tenant_tables import ensure_table, find_own_table, protect_stack_tables
from operations.verify import verify_table
from shared.identity.audit import service as audit
from shared.identity.tenancy.access import operator_store_of
from shared.identity.tenancy.directory import read_item, tenant_from_item, tenant_key
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.outbox_item import CHANGES_SINCE
from shared.kernel.db.schema import served
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict

_SOURCE = "import_source"
"""Attribute of the tenant's item: SHA-256 of the encrypted items of the export."""
_COMPARED = "import_compared"
"""Attribute of the tenant's item: everything is as in the export, or was repaired since."""
_PASSES = 5
"""Verifications at most; what one repairs may show the need of another repair."""
_DAY_MS = 86_400_000
_NAMED = 5
"""Findings that a refusal names."""


@dataclass(frozen=True, slots=True)
class ImportedTenant:
    """The result of an import."""

    slug: str
    base_url: str
    compared: tuple[Compared, ...]
    """Empty if an earlier run had completed the import."""
    repaired: int
    """Findings of the verification that were repaired."""
    clients_without_secret: tuple[str, ...]
    """Clients whose secret was made before secrets could be moved; they need a new one."""


def import_tenant(  # noqa: PLR0913  the choices of one import
    export: TenantExport,
    terms: Terms,
    *,
    base_url: str | None = None,
    host: str | None = None,
    unchecked: bool = False,
    progress: ReportProgress = no_progress,
) -> ImportedTenant:
    """Make the tenant of an export in this deployment. Safe to repeat with the same export.

    Args:
        export: The export, from `open_export`.
        terms: Plan, modules and request limit of the tenant here, which the operator has confirmed.
        base_url: The address that the tenant shares with others here.
        host: Its own host name here, instead of `base_url`.
        unchecked: Activate the tenant although its data has findings that cannot be repaired.
        progress: Receives a description of each step.

    Raises:
        ValidationFailed: The address or a term is invalid.
        Conflict: There is or was another tenant of this name, the host belongs to another tenant,
            an earlier run began with another address or other terms, what was written differs from
            the export, or its data contradicts itself.
        ServiceUnavailable: The table did not become ready in time; run it again.
    """
    slug = export.slug
    settings = NewTenant(slug, base_url=base_url, host=host)
    settings.check()
    terms.check()
    clients = NarrowedClients(slug, host)
    exists = find_own_table(slug, is_completed=False) if _is_new(export) else True
    protect_stack_tables(progress)
    progress(f"registering {slug}")
    item = _register(export, terms, settings, clients.dynamodb)
    compared, repaired = tuple[Compared, ...](), 0
    if IMPORT_PENDING in item:
        with leased(slug, "import", progress, clients.dynamodb) as lease:
            report = lease.keeping(progress)
            compared = _fill(export, lease, clients, report, exists=exists)
            repaired = _complete(export, lease, clients, report, unchecked=unchecked)
    progress("ready")
    without = [
        each["pk"]["S"].partition("#")[2]
        for each in export.items("client")
        if each["kind"]["S"] == "integration"
        and each["state"]["S"] == "active"
        and not each["secrets"]["L"]
    ]
    return ImportedTenant(slug, item["base_url"]["S"], compared, repaired, tuple(without))


def _fill(
    export: TenantExport,
    lease: Lease,
    clients: NarrowedClients,
    progress: ReportProgress,
    *,
    exists: bool,
) -> tuple[Compared, ...]:
    """Write everything, unless an earlier run has; return what was compared with the export."""
    slug = export.slug
    item = read_item(tenant_key(slug)) or {}
    if item["state"]["S"] != "creating" or _COMPARED in item:
        return ()
    exists = exists and find_own_table(slug, is_completed=False)
    ensure_table(slug, progress, exists=exists)
    write(export, clients, progress)
    compared = tuple(compare(export, progress))
    lease.save(f"SET {_COMPARED} = :yes", {":yes": {"BOOL": True}})
    return compared


def _complete(
    export: TenantExport,
    lease: Lease,
    clients: NarrowedClients,
    progress: ReportProgress,
    *,
    unchecked: bool,
) -> int:
    """Do what an earlier run has left after the comparison; return the number of repairs."""
    item, repaired = read_item(tenant_key(export.slug)) or {}, 0
    if not item or item["state"]["S"] in {"deleting", "deleted"}:
        raise lease.lost()
    if item["state"]["S"] == "creating":
        repaired = _repair(lease, clients, progress, unchecked=unchecked)
        _activate(lease)
    if IMPORT_PENDING in item:
        progress("writing the events that were not relayed")
        write_unrelayed_events(export, clients)
        _begin_feed(lease, clients, progress)
        lease.save(f"REMOVE {IMPORT_PENDING}", {})
    return repaired


def _begin_feed(lease: Lease, clients: NarrowedClients, progress: ReportProgress) -> None:
    """Begin the feed of changes, unless the table has one."""
    slug, table = lease.slug, config().tenant_table(lease.slug)
    tenant = tenant_from_item(read_item(tenant_key(slug)) or {})
    version = served(slug, tenant.table_version)
    store = operator_store_of(
        tenant.company, table, version, Deadline(_DAY_MS), dynamodb=clients.repairing()
    )
    if version.written >= CHANGES_SINCE and not has_feed(store):
        begin_feed(store, progress)


def _repair(
    lease: Lease, clients: NarrowedClients, progress: ReportProgress, *, unchecked: bool
) -> int:
    """Derive again what follows from the entities; return what had to be repaired.

    Raises:
        Conflict: Entities contradict each other.
    """
    slug, table = lease.slug, config().tenant_table(lease.slug)
    tenant = tenant_from_item(read_item(tenant_key(slug)) or {})
    version = served(slug, tenant.table_version)
    repaired = 0
    for _ in range(_PASSES):
        store = operator_store_of(tenant.company, table, version, dynamodb=clients.repairing())
        found = verify_table(lease, store, progress, repair=True)
        repaired += found.repaired
        if not found.repaired:
            break
    if found.left and not unchecked:
        left = [each for each in found.listed if not each.repaired][:_NAMED]
        named = "; ".join(f"{each.kind} of {each.subject}, {each.field}" for each in left)
        raise Conflict(
            f"The data of {slug} contradicts itself, with {found.left} findings that cannot be "
            f"repaired, such as {named}. The tenant stays closed. Correct the data in the source "
            f"(stowage verify {slug}) and make another export, or repeat the command with "
            "--unchecked if you trust whoever made this one."
        )
    return repaired


def _is_new(export: TenantExport) -> bool:
    """Return whether no earlier run has registered the tenant; raise Conflict for another one."""
    item = read_item(tenant_key(export.slug))
    if item is None:
        return True
    if item.get(_SOURCE, {}).get("S") == export.digest and item["state"]["S"] != "deleted":
        return False
    if item["state"]["S"] == "creating" and IMPORT_PENDING in item:
        raise Conflict(
            f"The import of {export.slug} from another export is not complete. Complete it with "
            f"that one, or give it up (stowage tenant delete {export.slug})."
        )
    if item["state"]["S"] in {"deleting", "deleted"}:
        raise Conflict(
            f"The name {export.slug} belonged to a tenant that was deleted here, and cannot be "
            "used again. Import the tenant into another deployment."
        )
    raise Conflict(
        f"This deployment already has a tenant {export.slug}. Import into another deployment; a "
        "name cannot be changed."
    )


def _register(
    export: TenantExport, terms: Terms, settings: NewTenant, dynamodb: Callable[[], Any]
) -> AttributeMap:
    """Write the tenant's item in the state `creating`, unless an earlier run has; return it."""
    if not _is_new(export):
        return _own_item(export, terms, settings)
    item = {
        **{name: value for name, value in export.contents.tenant.items() if name in KEPT},
        **terms.attributes(),
        **export.contents.counters(),
        "state": {"S": "creating"},
        "base_url": {"S": settings.full_base_url},
        IMPORT_PENDING: {"BOOL": True},
        _SOURCE: {"S": export.digest},
    }
    if not insert_tenant(settings, item, dynamodb()):  # a concurrent run has
        _is_new(export)
    return _own_item(export, terms, settings)


def _own_item(export: TenantExport, terms: Terms, settings: NewTenant) -> AttributeMap:
    item = read_item(tenant_key(export.slug)) or {}
    if IMPORT_PENDING in item and Terms.of(item) != terms:
        raise Conflict(
            f"The import of {export.slug} began with {Terms.of(item)}. Complete it so, then "
            "change them (stowage tenant plan, modules, limit)."
        )
    if item["base_url"]["S"] != settings.full_base_url and IMPORT_PENDING in item:
        raise Conflict(
            f"The import of {export.slug} began with the address {item['base_url']['S']}. Complete "
            "it with that one, then change it (stowage tenant address)."
        )
    return item


def _activate(lease: Lease) -> None:
    """Make the tenant active, with an entry in its audit log."""

    def activate(tx: Transaction) -> None:
        states = {":active": {"S": "active"}, ":creating": {"S": "creating"}}
        update = lease.update(f"SET #state = :active REMOVE {_COMPARED}", states)
        update["ConditionExpression"] += " AND #state = :creating"  # the import may be given up
        update["ExpressionAttributeNames"]["#state"] = "state"
        tx.add_action("Update", update, lease.lost)
        audit.record(tx, "tenant.imported", "tenant", lease.slug)

    run_as_operator(lease.slug, activate, lease.dynamodb())
