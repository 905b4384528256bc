"""Export of all data of a tenant as files for its company.

The table is scanned page by page, so memory use does not depend on its size. Left out are secrets,
hashes of secrets, and items that only serve the service itself: stored responses, sessions, leases
and snapshots of lists. With a passphrase, the export also has the file of `operations.items_file`,
from which the tenant can be made in another deployment. Entities are exported as they are stored,
without the models, so that what an older release wrote appears as it is.
"""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from operations.control_table import list_objects, read_items_of_tenant
from operations.draining import wait_for_running_invocations
from operations.items_file import (
    ITEMS_FILE,
    ensure_movable,
    ensure_no_queued_work,
    write_items,
)
from operations.operator_identity import run_as_operator
from operations.progress import ReportProgress, no_progress
from operations.stored_collections import COLLECTIONS
from operations.tenant_changes import show_tenant
from operations.tenant_overview import TenantOverview, get_overview
from shared.identity.audit import service as audit
from shared.identity.auth.clients import client_from_item, client_key
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.tenant import Tenant
from shared.integration.webhooks.models import StoredDelivery
from shared.kernel.aws import client
from shared.kernel.clock import Deadline, instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.items import Item, from_attributes, key_of, unpack
from shared.kernel.db.records import HEAD, tail_keys
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict, ServiceUnavailable
from shared.kernel.json_text import dumps, loads
from shared.warehouse.settings.values import settings_of

FILE_NAMES = {
    "approval": "approvals",
    "audit": "audit-log",
    "category": "product-categories",
    "client": "clients",
    "count_line": "count-lines",
    "delivery": "webhook-deliveries",
    "entry": "entry-documents",
    "exit": "exit-documents",
    "export": "exports",
    "handling_unit": "handling-units",
    "hold": "holds",
    "import": "imports",
    "layout": "layouts",
    "level": "stock-levels",
    "level_total": "stock-totals",
    "movement": "stock-movements",
    "packing_order": "packing-orders",
    "pick_face": "pick-faces",
    "picking": "pickings",
    "position": "warehouse-positions",
    "product": "products",
    "provider": "providers",
    "receipt": "receipts",
    "return": "returns",
    "returned": "returned-goods",
    "rfid_differences": "rfid-differences",
    "rfid_validation": "rfid-validations",
    "role": "roles",
    "stock": "stocks",
    "stock_count": "counts",
    "transfer": "transfers",
    "transfer_order": "transfer-orders",
    "user": "users",
    "warehouse": "warehouses",
    "wave": "waves",
    "webhook": "webhooks",
}
"""Kind of entity → name of its file without `.jsonl`. Other kinds are not exported."""

_EXCLUDED_FIELDS = {"webhook": ("secrets",)}
"""Kind → fields with (encrypted) secrets, which are not exported."""
_JSON_SUFFIX = "_json"
"""Suffix of the names of fields that contain JSON as text."""

MANIFEST = "manifest.json"
_MANIFEST_PART = "manifest.part"
FORMAT = 2
"""Format of an export: names and contents of its files."""
_TENANT = "tenant.json"
_FILES = "files"
FILE_LIST = "files.jsonl"
_NAMES = (*(f"{stem}.jsonl" for stem in FILE_NAMES.values()), _TENANT, ITEMS_FILE)
_MAX_NAME_LENGTH = 80
"""Length to which names of files are cut, from their end."""
_COPY = re.compile(rf"{_FILES}/[0-9]{{6,}}-[A-Za-z0-9_.-]{{0,{_MAX_NAME_LENGTH}}}", re.ASCII)
_MAX_READS = 5
_DAY_MS = 86_400_000


def export_tenant(
    slug: str,
    to: Path,
    *,
    passphrase: str | None = None,
    progress: ReportProgress = no_progress,
) -> dict[str, Any]:
    """Write all data of a tenant into a directory, and record it in its audit log. Safe to repeat.

    Items are read one page after another; for data of one moment, suspend the tenant before. The
    manifest is completed last: `"complete": false` marks an export that was interrupted.

    Args:
        slug: The tenant; it may be suspended, cancelled or moved.
        to: The directory: missing, empty, or with an earlier export of this tenant, which is
            replaced.
        passphrase: Also write all items with their secrets, encrypted with it, for a move. The
            tenant must not be active.
        progress: Receives the number of items written so far.

    Returns:
        The manifest: {tenant, format, schema_version, state, complete, started_at, finished_at,
        counts: {file: lines}, files: {file: {bytes, sha256}}}.

    Raises:
        NotFound: There is no such tenant.
        Conflict: The directory contains anything else, or with a passphrase: it is too short, or
            the tenant is active, is being upgraded, or has an import in progress.
        ServiceUnavailable: An entity changed on every attempt to read it.
        OSError: The directory cannot be written.
    """
    tenant = show_tenant(slug)
    if passphrase is not None:
        ensure_movable(slug, passphrase)
    manifest: dict[str, Any] = {
        "tenant": slug,
        "format": FORMAT,
        "schema_version": tenant.table_version.complete if tenant.table_version else None,
        "state": tenant.state,
        "complete": False,
        "started_at": instant(now_ms()),
    }
    _prepare_directory(manifest, to)
    run_as_operator(slug, lambda tx: audit.record(tx, "tenant.exported", "tenant", slug))
    _write_json(to / _TENANT, _describe_tenant(tenant, get_overview(slug)))
    if passphrase is not None:
        wait_for_running_invocations(slug, now_ms(), progress)
        ensure_no_queued_work(slug)
    counts = _export_entities(slug, to, progress)
    counts[FILE_LIST] = _export_files(slug, to, progress)
    manifest["counts"] = dict(counts)
    manifest["files"] = {name: describe_file(to / name) for name in _file_names(to)}
    if passphrase is not None:
        write_items(manifest, read_file_list(to), to / ITEMS_FILE, passphrase, progress)
        ensure_movable(slug, passphrase)
        manifest["files"][ITEMS_FILE] = describe_file(to / ITEMS_FILE)
    manifest |= {"complete": True, "finished_at": instant(now_ms())}
    _write_json(to / MANIFEST, manifest)
    return manifest


# The directory


def _prepare_directory(manifest: Mapping[str, Any], to: Path) -> None:
    """Create the directory, remove an earlier export of this tenant, and write `manifest`."""
    slug = manifest["tenant"]
    to.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = {path.name for path in to.iterdir()}
    if not found <= {_MANIFEST_PART} and _exported_tenant(to / MANIFEST) != slug:
        raise Conflict(
            f"The directory {to} is not empty and contains no export of {slug}. Choose another one."
        )
    # Before files are removed, so that an incomplete export is not taken for a complete one.
    _write_json(to / MANIFEST, manifest)
    for name in (*_NAMES, FILE_LIST):
        (to / name).unlink(missing_ok=True)
    if (to / _FILES).exists():
        shutil.rmtree(to / _FILES)


def _exported_tenant(manifest: Path) -> str | None:
    """Return the tenant that a manifest names; None if the file is no manifest."""
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content.get("tenant") if isinstance(content, dict) else None


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file atomically."""
    part = path.with_suffix(".part")
    text = json.dumps(content, indent=2, ensure_ascii=False, default=str)
    part.write_text(f"{text}\n", encoding="utf-8")
    part.replace(path)


def _file_names(to: Path) -> list[str]:
    """Return the paths of the files of an export, without the manifest."""
    names = [name for name in (*_NAMES, FILE_LIST) if (to / name).exists()]
    return names + sorted(f"{_FILES}/{path.name}" for path in (to / _FILES).iterdir())


def is_copy(name: str) -> bool:
    """Return whether a path in an export is that of a copied file."""
    return _COPY.fullmatch(name) is not None


def is_other_file(name: str) -> bool:
    """Return whether a path in an export is that of a file for people, which no import reads."""
    return name in {*_NAMES, FILE_LIST} - {ITEMS_FILE}


def describe_file(path: Path) -> dict[str, Any]:
    """Return the entry of a file in the manifest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


# The tenant itself


def _describe_tenant(tenant: Tenant, overview: TenantOverview) -> dict[str, Any]:
    clients = [client_from_item(item) for item in read_items_of_tenant(tenant.slug, client_key(""))]
    return {
        "tenant": tenant.slug,
        "state": tenant.state,
        "plan": tenant.plan,
        "modules": sorted(tenant.modules),
        "address": tenant.base_url,
        "hosts": list(overview.hosts),
        "timezone": tenant.timezone,
        "moved_to": tenant.moved_to,
        "created_at": overview.created_at,
        "settings": settings_of(tenant.company).model_dump(),
        "limits": dict(tenant.limits),
        "api_clients": [
            {
                "client_id": each.client_id,
                "kind": each.kind,
                "name": each.name,
                "active": each.active,
                "scopes": sorted(each.scopes),
                "created_at": each.created_at,
            }
            for each in clients
        ],
    }


# The table


def _export_entities(slug: str, to: Path, progress: ReportProgress) -> Counter[str]:
    """Write each kind of entity into its file; return the number of lines of each file."""
    store = operator_store(slug, Deadline(_DAY_MS))
    counts: Counter[str] = Counter()
    with ExitStack() as open_files:
        files: dict[str, IO[str]] = {}
        for heads in _scan_pages(store):
            for head in heads:
                kind, line = _read_line(store, head)
                if line is None:
                    continue
                name = f"{FILE_NAMES[kind]}.jsonl"
                if name not in files:
                    file = (to / name).open("w", encoding="utf-8", newline="\n")
                    files[name] = open_files.enter_context(file)
                files[name].write(f"{line}\n")
                counts[name] += 1
            progress(f"{counts.total()} items")
    return counts


def _scan_pages(store: Store) -> Iterator[list[Item]]:
    """Yield the head items of all exported entities, page by page."""
    pages = store.client.get_paginator("scan").paginate(
        TableName=store.table,
        ConsistentRead=True,
        FilterExpression="attribute_exists(#data)",
        ProjectionExpression="#pk, #sk, #id, #version, #parts, #data, #expiry",
        ExpressionAttributeNames={
            "#pk": PARTITION_KEY,
            "#sk": SORT_KEY,
            "#expiry": EXPIRY,
            **{f"#{name}": name for name in ("id", "version", "parts", "data")},
        },
    )
    for page in pages:
        items = [from_attributes(item) for item in page["Items"]]
        yield [item for item in items if _is_exported(item)]


def _is_exported(item: Item) -> bool:
    kind = _kind(item)
    is_head = kind == "delivery" or item[SORT_KEY] == HEAD
    expired = EXPIRY in item and item[EXPIRY] <= now_ms() // 1000
    return kind in FILE_NAMES and is_head and not expired


def _kind(item: Item) -> str:
    return str(item[PARTITION_KEY]).partition("#")[0]


def _read_line(store: Store, head: Item) -> tuple[str, str | None]:
    """Return the kind and the JSON of an entity; None instead of JSON if it was deleted since."""
    kind = _kind(head)
    text = _read_content(store, head)
    if text is None:
        return kind, None
    # Only the fields that this release knows: another one may have added secrets.
    model = StoredDelivery if kind == "delivery" else COLLECTIONS[kind].model
    entity: dict[str, Any] = loads(model.model_validate_json(text).model_dump_json())
    for name in _EXCLUDED_FIELDS.get(kind, ()):
        entity.pop(name, None)
    for name in [name for name in entity if name.endswith(_JSON_SUFFIX)]:
        entity[name.removesuffix(_JSON_SUFFIX)] = loads(entity.pop(name))
    key = {"id": head["id"]} if "id" in head else {}
    return kind, dumps({**key, **entity})


def _read_content(store: Store, head: Item) -> bytes | None:
    """Join the content of an entity from its items, all of the same version."""
    for _ in range(_MAX_READS):
        keys = tail_keys(head[PARTITION_KEY], head.get("parts", 1))
        found = store.get_many(keys, uncached=True)
        tails = [found[key] for key in keys if key in found]
        if len(tails) == len(keys) and all(t["version"] == head["version"] for t in tails):
            return unpack([head["data"], *(tail["data"] for tail in tails)])
        again = store.get(key_of(head))
        if again is None or "data" not in again:
            return None
        head = again
    raise ServiceUnavailable


# The files


def _export_files(slug: str, to: Path, progress: ReportProgress) -> int:
    """Copy the files of both buckets under numbered names, and list them; return their number.

    A key may be a path out of the directory, too long, or both a file and a folder.
    """
    count = 0
    (to / _FILES).mkdir()
    with (to / FILE_LIST).open("w", encoding="utf-8", newline="\n") as listed:
        for bucket, role in (
            (config().import_bucket, "import"),
            (config().import_work_bucket, "work"),
        ):
            for found in list_objects(slug, bucket):
                count += 1
                name = f"{count:06d}-{_safe_name(found['Key'])}"
                _download(bucket, found["Key"], to / _FILES / name)
                line = {
                    "file": f"{_FILES}/{name}",
                    "bucket": role,
                    "key": found["Key"].removeprefix(f"{slug}/"),
                    "size": found["Size"],
                    "last_modified": instant(round(found["LastModified"].timestamp() * 1000)),
                }
                listed.write(f"{dumps(line)}\n")
                progress(f"{count} files")
    return count


def read_file_list(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of the list of copied files."""
    with (folder / FILE_LIST).open(encoding="utf-8", newline="\n") as listed:
        yield from map(loads, listed)


def _safe_name(key: str) -> str:
    """Return the last part of a key; characters except ASCII letters, digits, -_. become `_`."""
    name = key.rpartition("/")[2]
    kept = [char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in name]
    return "".join(kept)[-_MAX_NAME_LENGTH:]


def _download(bucket: str, key: str, path: Path) -> None:
    """Copy one object in chunks; an object that has expired since leaves an empty file."""
    s3 = client("s3")
    with path.open("wb") as file:
        try:
            body = s3.get_object(Bucket=bucket, Key=key)["Body"]
        except s3.exceptions.NoSuchKey:
            return
        shutil.copyfileobj(body, file, 1 << 20)
