"""Import of a tenant from an export of another deployment, in steps that can each be repeated.

1. The export is checked: its manifest, the digest of each file, and what this release knows of it.
2. The tenant is registered in the state `creating`, in which requests for it are refused, with the
   digest of the export: only the same export can go on. Then its table is created.
3. Items, files, clients and relayed events are written. Secrets are sealed by the key of this
   deployment. Every write puts an exact item, so that another run may put it again.
4. Everything is read again and compared with the export, item by item.
5. The tenant becomes active. Then the events that were not relayed are written, which relays them.

Not written are files of the import bucket: each would start an import.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import batched
from pathlib import Path
from typing import Any, NamedTuple

from operations.encrypted_lines import read_encrypted
from operations.export import (
    FILE_LIST,
    FORMAT,
    ITEMS_FILE,
    MANIFEST,
    QUIET_STATES,
    describe_file,
    outbox_entries,
)
from operations.moved_items import (
    Digest,
    from_json,
    is_moved,
    opened,
    opened_client,
    sealed,
    sealed_client,
    to_json,
)
from operations.operator_identity import run_as_operator
from operations.progress import ReportProgress, no_progress
from operations.provisioning import reserve_host
from operations.table_lease import Lease, leased
from operations.tenant_tables import ensure_table, find_own_table, protect_stack_tables
from shared.identity.audit import service as audit
from shared.identity.tenancy.directory import (
    TABLE_NAME,
    read_item,
    revoked_partition,
    tenant_key,
)
from shared.identity.tenancy.rules import NewTenant
from shared.identity.tenancy.tenant import MODULES, PLANS, is_slug
from shared.kernel.aws import client
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict

_PENDING = "import_pending"
"""Attribute of the tenant's item until the import is complete."""
_SOURCE = "import_source"
"""Attribute of the tenant's item: SHA-256 of the encrypted items of the export."""
_LEFT_OUT = frozenset(
    {
        "state",
        "base_url",
        "moved_to",
        "upgrade",
        "table_lease",
        "verification",
        "restoring",
        "restored",
        TABLE_NAME,
        "deleting_since",
        _PENDING,
        _SOURCE,
    }
)
"""Attributes of the tenant's item that do not move."""
_WRITES_PER_BATCH = 25
_READS_PER_BATCH = 50
_BATCHES = 8
"""Batches that are written or read at the same time."""
_MOVED_BUCKET = "work"


class Compared(NamedTuple):
    """Numbers and digests of what was compared; both ends have the same."""

    what: str
    exported: int
    imported: int
    digest: str


@dataclass(frozen=True, slots=True)
class ImportedTenant:
    """The result of an import."""

    slug: str
    base_url: str
    compared: tuple[Compared, ...]
    """Empty if an earlier run had completed the import."""
    clients_without_secret: tuple[str, ...]
    """Clients whose secret was made before secrets could be moved; they need a new one."""


@dataclass(frozen=True, slots=True)
class TenantExport:
    """An export that was checked and can be imported here."""

    folder: Path
    passphrase: str
    digest: str
    """SHA-256 of the encrypted items."""
    tenant: AttributeMap
    """The tenant's item at the source."""

    @property
    def slug(self) -> str:
        """The name of the tenant."""
        return str(self.tenant["pk"]["S"]).removeprefix(tenant_key(""))

    def items(self, where: str) -> Iterator[AttributeMap]:
        """Yield the items of one place that have not expired since."""
        moment = now_ms() // 1000
        for place, item in _read_items(self.folder, self.passphrase):
            if place == where and (PARTITION_KEY not in item or is_moved(item, moment)):
                yield item

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield key after the prefix of the tenant, and the copy, of each file that is moved."""
        for text in (self.folder / FILE_LIST).read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["bucket"] == _MOVED_BUCKET:
                yield line["key"], self.folder / line["file"]


# Checks of the export


def open_export(source: Path, passphrase: str) -> TenantExport:
    """Check an export completely and open it.

    Args:
        source: The directory of an export, or its manifest.
        passphrase: That of the export.

    Raises:
        Conflict: It is no complete, unchanged export with secrets of a tenant that was not active,
            this release cannot import it, or the passphrase is wrong.
    """
    folder = source.parent if source.name == MANIFEST else source
    manifest = _read_manifest(folder)
    _check_manifest(folder, manifest)
    _check_files(folder, manifest["files"])
    digest = manifest["files"][ITEMS_FILE]["sha256"]
    first = next(_read_items(folder, passphrase), None)
    if first is None or first[0] != "tenant":
        raise _foreign(folder)
    export = TenantExport(folder, passphrase, digest, first[1])
    _check_copies(export, manifest["files"])
    _check_tenant(export)
    return export


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise _foreign(folder) from None
    if not isinstance(manifest, dict) or not is_slug(str(manifest.get("tenant"))):
        raise _foreign(folder)
    if "format" not in manifest:
        raise Conflict(
            f"The export in {folder} was made by version 1.0.0, which could not move tenants. Make "
            f"another one: {_export_command(manifest['tenant'])}."
        )
    return manifest


def _check_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    slug, version = manifest["tenant"], manifest.get("schema_version")
    if manifest["format"] != FORMAT:
        raise Conflict(
            f"The export in {folder} has the format {manifest['format']}, and this release reads "
            f"the format {FORMAT}. Import it with the release that made it."
        )
    if manifest.get("complete") is not True:
        raise Conflict(
            f"The export in {folder} was interrupted. Repeat it: {_export_command(slug)}."
        )
    if (
        not isinstance(version, int)
        or not schema.oldest_served() <= version <= schema.SCHEMA_VERSION
    ):
        raise Conflict(
            f"The export in {folder} has the schema version {version}, and this release serves "
            f"{schema.oldest_served()} to {schema.SCHEMA_VERSION}. Deploy the release of the other "
            "deployment first."
        )
    if ITEMS_FILE not in manifest["files"]:
        raise Conflict(
            f"The export in {folder} was made without --with-secrets, so it cannot be imported. "
            f"Make another one: {_export_command(slug)}."
        )
    if manifest.get("state") not in QUIET_STATES:
        raise Conflict(
            f"The tenant {slug} was {manifest.get('state')} during the export in {folder}, so its "
            f"data may be of several moments. Suspend it (stowage tenant suspend {slug}), then "
            f"repeat the export: {_export_command(slug)}."
        )


def _check_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Raise Conflict unless every file is as the manifest says."""
    for name, expected in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise _foreign(folder)
        try:
            size = path.stat().st_size
        except OSError:
            raise Conflict(f"The file {path} of the export is missing. Copy it again.") from None
        if size < expected["bytes"]:
            raise Conflict(
                f"The file {path} is truncated: it has {size} of {expected['bytes']} bytes. Copy "
                "it again."
            )
        if describe_file(path) != expected:
            raise Conflict(
                f"The file {path} was changed since the export: its SHA-256 is another one. Copy "
                "it again."
            )


def _check_copies(export: TenantExport, files: Mapping[str, Any]) -> None:
    """Raise Conflict if the list of files names one that the manifest does not."""
    for _, path in export.files():
        if path.relative_to(export.folder).as_posix() not in files:
            raise _foreign(export.folder)


def _check_tenant(export: TenantExport) -> None:
    plan = export.tenant["plan"]["S"]
    if plan not in PLANS:
        raise Conflict(
            f"The tenant {export.slug} has the plan {plan}, which this release does not know. Its "
            f"plans are {', '.join(PLANS)}."
        )
    unknown = sorted({*export.tenant.get("modules", {}).get("SS", ())} - MODULES)
    if unknown:
        raise Conflict(
            f"The tenant {export.slug} has the module {', '.join(unknown)}, which this release "
            f"does not know. Its modules are {', '.join(sorted(MODULES))}."
        )


def _read_items(folder: Path, passphrase: str) -> Iterator[tuple[str, AttributeMap]]:
    for line in read_encrypted(folder / ITEMS_FILE, passphrase):
        content = json.loads(line)
        yield content["where"], from_json(content["item"])


def _export_command(slug: str) -> str:
    return f"stowage tenant export {slug} --to DIR --with-secrets"


def _foreign(folder: Path) -> Conflict:
    return Conflict(
        f"{folder} is no export of a tenant: it has no {MANIFEST} of one. Name the directory that "
        "stowage tenant export wrote."
    )


# The import


def import_tenant(
    export: TenantExport,
    *,
    base_url: str | None = None,
    host: str | None = None,
    progress: ReportProgress = no_progress,
) -> ImportedTenant:
    """Make the tenant of an export in this deployment. Safe to repeat with the same export.

    Args:
        export: The export, from `open_export`.
        base_url: The address that the tenant shares with others here.
        host: Its own host name here, instead of `base_url`.
        progress: Receives a description of each step.

    Raises:
        ValidationFailed: The address is invalid.
        Conflict: There is or was another tenant of this name, the host belongs to another tenant,
            or what was written differs from the export.
        ServiceUnavailable: The table did not become ready in time; run it again.
    """
    slug = export.slug
    plan = export.tenant["plan"]["S"]
    settings = NewTenant(slug, plan=plan, base_url=base_url, host=host)
    settings.check()
    exists = find_own_table(slug, is_completed=False) if _is_new(export) else True
    protect_stack_tables(progress)
    progress(f"registering {slug}")
    item = _register(export, settings)
    compared: tuple[Compared, ...] = ()
    if _PENDING in item:
        with leased(slug, "import", progress) as lease:
            compared = _fill(export, lease, lease.keeping(progress), exists=exists)
    progress("ready")
    without = [
        each["pk"]["S"].partition("#")[2]
        for each in export.items("client")
        if each["kind"]["S"] == "integration"
        and each["state"]["S"] == "active"
        and not each["secrets"]["L"]
    ]
    return ImportedTenant(slug, item["base_url"]["S"], compared, tuple(without))


def _fill(
    export: TenantExport, lease: Lease, progress: ReportProgress, *, exists: bool
) -> tuple[Compared, ...]:
    """Do what an earlier run has left; return what was compared."""
    slug, compared = export.slug, tuple[Compared, ...]()
    item = read_item(tenant_key(slug)) or {}
    if item["state"]["S"] == "creating":
        exists = exists and find_own_table(slug, is_completed=False)
        ensure_table(slug, progress, exists=exists)
        _write(export, progress)
        compared = tuple(_compare(export, progress))
        _activate(lease)
    if _PENDING in item:
        progress("writing the events that were not relayed")
        _write_unrelayed_events(export)
        lease.save(f"REMOVE {_PENDING}", {})
    return compared


def _is_new(export: TenantExport) -> bool:
    """Return whether no earlier run has registered the tenant; raise Conflict for another one."""
    item = read_item(tenant_key(export.slug))
    if item is None:
        return True
    if item.get(_SOURCE, {}).get("S") == export.digest and item["state"]["S"] != "deleted":
        return False
    if item["state"]["S"] == "creating" and _PENDING in item:
        raise Conflict(
            f"The import of {export.slug} from another export is not complete. Complete it with "
            "that one."
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


def _register(export: TenantExport, settings: NewTenant) -> AttributeMap:
    """Write the tenant's item in the state `creating`, unless an earlier run has; return it."""
    if not _is_new(export):
        return _own_item(export, settings)
    item = {
        **{name: value for name, value in export.tenant.items() if name not in _LEFT_OUT},
        "state": {"S": "creating"},
        "base_url": {"S": settings.full_base_url},
        _PENDING: {"BOOL": True},
        _SOURCE: {"S": export.digest},
    }

    def register(tx: Transaction) -> None:
        if settings.host:
            reserve_host(tx, settings.slug, settings.host)
        put = {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
        tx.add_action("Put", {"TableName": config().control_table, **put}, _Registered)

    try:
        run_as_operator(settings.slug, register)
    except _Registered:  # by a concurrent run
        _is_new(export)
    return _own_item(export, settings)


def _own_item(export: TenantExport, settings: NewTenant) -> AttributeMap:
    item = read_item(tenant_key(export.slug)) or {}
    if item["base_url"]["S"] != settings.full_base_url and _PENDING in item:
        raise Conflict(
            f"The import of {export.slug} began with the address {item['base_url']['S']}. Complete "
            "it with that one, then change it (stowage tenant address)."
        )
    return item


class _Registered(Exception):
    """The tenant's item exists."""


# Writing


def _write(export: TenantExport, progress: ReportProgress) -> None:
    slug = export.slug
    table, control, events = (
        config().tenant_table(slug),
        config().control_table,
        config().outbox_table,
    )
    _put_all(table, (sealed(item, slug) for item in export.items("table")), progress, "items")
    for item in export.items("client"):
        _put_client(control, sealed_client(item, slug), slug)
    _put_all(events, _relayed_events(export), progress, "events")
    for count, (key, path) in enumerate(export.files(), 1):
        with path.open("rb") as body:
            client("s3").put_object(
                Bucket=config().import_work_bucket, Key=f"{slug}/{key}", Body=body
            )
        progress(f"{count} files written")


def _relayed_events(export: TenantExport) -> Iterator[AttributeMap]:
    return (item for item in export.items("event") if EXPIRY in item)


def _put_all(
    table: str, items: Iterable[AttributeMap], progress: ReportProgress, noun: str
) -> None:
    written = 0
    for group in batched(items, _WRITES_PER_BATCH * _BATCHES, strict=False):
        batches = [list(batch) for batch in batched(group, _WRITES_PER_BATCH, strict=False)]
        map_concurrently(partial(_put_batch, table), batches)
        written += len(group)
        progress(f"{written} {noun} written")


def _put_batch(table: str, items: list[AttributeMap]) -> None:
    wanted: Any = {table: [{"PutRequest": {"Item": item}} for item in items]}
    while wanted:
        wanted = client("dynamodb").batch_write_item(RequestItems=wanted).get("UnprocessedItems")
        if wanted:
            time.sleep(1)


def _put_client(table: str, item: AttributeMap, slug: str) -> None:
    dynamodb = client("dynamodb")
    try:
        dynamodb.put_item(
            TableName=table,
            Item=item,
            ConditionExpression="attribute_not_exists(pk) OR tenant IN (:own, :revoked)",
            ExpressionAttributeValues={
                ":own": {"S": slug},
                ":revoked": {"S": revoked_partition(slug)},
            },
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        raise Conflict(f"{item['pk']['S']} belongs to another tenant here.") from None


def _write_unrelayed_events(export: TenantExport) -> None:
    """Put the events that were not relayed, unless an earlier run has: the relay marks them."""
    dynamodb = client("dynamodb")
    for item in export.items("event"):
        if EXPIRY in item:
            continue
        try:
            dynamodb.put_item(
                TableName=config().outbox_table,
                Item=item,
                ConditionExpression=f"attribute_not_exists({PARTITION_KEY})",
            )
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue


# Comparing


class _Stored(NamedTuple):
    """Where the items of one kind are, how they are opened, and how many there are."""

    what: str
    table: str
    opened: Callable[[AttributeMap], AttributeMap]
    number: Callable[[], int] | None = None


def _compare(export: TenantExport, progress: ReportProgress) -> Iterator[Compared]:
    """Compare everything that was written with the export.

    Raises:
        Conflict: Something differs; the first difference is named.
    """
    slug, control, events = export.slug, config().control_table, config().outbox_table
    table = config().tenant_table(slug)
    in_table = _Stored(
        "items", table, partial(opened, slug=slug), lambda: _count_moved(_scan_keys(table))
    )
    clients = _Stored("clients", control, partial(opened_client, slug=slug))
    relayed = _Stored("relayed events", events, dict, lambda: _count_moved(outbox_entries(slug)))
    yield _compare_items(in_table, export.items("table"), progress)
    yield _compare_items(clients, export.items("client"), progress)
    yield _compare_items(relayed, _relayed_events(export), progress)
    yield _compare_files(export, progress)


def _compare_items(
    stored: _Stored, exported: Iterable[AttributeMap], progress: ReportProgress
) -> Compared:
    wanted, found, what = Digest(), Digest(), stored.what
    for group in batched(exported, _READS_PER_BATCH * _BATCHES, strict=False):
        batches = [list(batch) for batch in batched(group, _READS_PER_BATCH, strict=False)]
        items: dict[tuple[str, ...], AttributeMap] = {}
        for batch in map_concurrently(partial(_read_batch, stored.table), batches):
            items |= batch
        for item in group:
            text, key = to_json(item), _key(item)
            wanted.add(text)
            if key not in items:
                raise _different(what, f"{' '.join(key)} is missing")
            stored_text = to_json(stored.opened(items[key]))
            if stored_text != text:
                raise _different(what, f"{' '.join(key)} differs")
            found.add(stored_text)
        progress(f"{wanted.items} {what} compared")
    number = stored.number() if stored.number else found.items
    if number != wanted.items:
        raise _different(what, f"the export has {wanted.items}, this deployment {number}")
    return Compared(what, wanted.items, number, str(found))


def _key(item: AttributeMap) -> tuple[str, ...]:
    return tuple(item[name]["S"] for name in (PARTITION_KEY, SORT_KEY, "pk") if name in item)


def _read_batch(table: str, items: list[AttributeMap]) -> dict[tuple[str, ...], AttributeMap]:
    names = ("pk",) if "pk" in items[0] else (PARTITION_KEY, SORT_KEY)
    keys = [{name: item[name] for name in names} for item in items]
    wanted: Any = {table: {"Keys": keys, "ConsistentRead": True}}
    found: dict[tuple[str, ...], AttributeMap] = {}
    while wanted:
        answer = client("dynamodb").batch_get_item(RequestItems=wanted)
        found |= {_key(item): item for item in answer["Responses"].get(table, ())}
        wanted = answer.get("UnprocessedKeys")
    return found


def _count_moved(items: Iterable[AttributeMap]) -> int:
    moment = now_ms() // 1000
    return sum(is_moved(item, moment) for item in items)


def _scan_keys(table: str) -> Iterator[AttributeMap]:
    pages = (
        client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=table,
            ConsistentRead=True,
            ProjectionExpression="#pk, #expiry",
            ExpressionAttributeNames={"#pk": PARTITION_KEY, "#expiry": EXPIRY},
        )
    )
    return (item for page in pages for item in page["Items"])


def _compare_files(export: TenantExport, progress: ReportProgress) -> Compared:
    wanted, found = Digest(), Digest()
    for key, path in export.files():
        digest = describe_file(path)["sha256"]
        body = client("s3").get_object(
            Bucket=config().import_work_bucket, Key=f"{export.slug}/{key}"
        )["Body"]
        stored = hashlib.sha256()
        for chunk in body.iter_chunks(1 << 20):
            stored.update(chunk)
        if stored.hexdigest() != digest:
            raise _different("files", f"{key} differs")
        wanted.add(f"{key} {digest}")
        found.add(f"{key} {stored.hexdigest()}")
        progress(f"{wanted.items} files compared")
    return Compared("files", wanted.items, found.items, str(found))


def _different(what: str, difference: str) -> Conflict:
    return Conflict(
        f"The {what} that were written are not those of the export: {difference}. The tenant stays "
        "closed. Run the command again; if it says the same, something else writes to this tenant."
    )


# The end


def _activate(lease: Lease) -> None:
    """Make the tenant active, with an entry in its audit log."""

    def activate(tx: Transaction) -> None:
        update = lease.update("SET #state = :active", {":active": {"S": "active"}})
        update["ExpressionAttributeNames"]["#state"] = "state"
        tx.add_action("Update", update, lease.lost)
        audit.record(tx, "tenant.imported", "tenant", lease.slug)

    run_as_operator(lease.slug, activate)
