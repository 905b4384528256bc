"""Opening of an export: everything in it is checked before anything is written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.encrypted_lines import read_encrypted
from operations.export import (
    FILE_LIST,
    FORMAT,
    ITEMS_FILE,
    MANIFEST,
    QUIET_STATES,
    describe_file,
)
from operations.moved_items import is_moved
from operations.tenant_import.contents import Contents, count_contents
from operations.tenant_import.line_checks import RefusedLine, checked_line, place_of
from operations.tenant_import.terms import Terms
from shared.identity.tenancy.tenant import MODULES, PLANS, is_slug
from shared.kernel.clock import now_ms
from shared.kernel.db import schema
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.errors import Conflict

_MOVED_BUCKET = "work"


@dataclass(frozen=True, slots=True)
class TenantExport:
    """An export that was checked and can be imported here."""

    folder: Path
    passphrase: str
    slug: str
    """The name of the tenant."""
    digest: str
    """SHA-256 of the encrypted items."""
    contents: Contents
    terms: Terms
    """Plan, modules and request limit at the source."""

    def items(self, where: str) -> Iterator[AttributeMap]:
        """Yield the items of one place that have not expired since.

        Each is checked again, because the file may have been replaced.
        """
        moment = now_ms() // 1000
        for _, item, _ in _read_lines(self.folder, self.passphrase, self.slug, where):
            if PARTITION_KEY not in item or is_moved(item, moment):
                yield item

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield key after the prefix of the tenant, and the copy, of each file that is moved."""
        for text in (self.folder / FILE_LIST).read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if line["bucket"] == _MOVED_BUCKET:
                yield line["key"], self.folder / line["file"]


def open_export(source: Path, passphrase: str) -> TenantExport:
    """Check an export completely and open it.

    Args:
        source: The directory of an export, or its manifest.
        passphrase: That of the export.

    Raises:
        Conflict: It is no complete, unchanged export with secrets of a tenant that was not active,
            this release cannot import it, the passphrase is wrong, or a line belongs to another
            tenant or is not as an export writes it.
    """
    folder = source.parent if source.name == MANIFEST else source
    manifest = _read_manifest(folder)
    _check_manifest(folder, manifest)
    _check_files(folder, manifest["files"])
    slug, digest = manifest["tenant"], manifest["files"][ITEMS_FILE]["sha256"]
    contents = count_contents(_read_lines(folder, passphrase, slug), slug)
    terms = _terms_of(contents.tenant, slug)
    export = TenantExport(folder, passphrase, slug, digest, contents, terms)
    _check_copies(export, manifest["files"])
    return export


def _read_lines(
    folder: Path, passphrase: str, slug: str, only: str | None = None
) -> Iterator[tuple[str, AttributeMap, int]]:
    """Yield place, item and characters of each line, or of those of one place.

    Raises:
        Conflict: The line is not as an export writes it, or belongs to another tenant.
    """
    for number, text in enumerate(read_encrypted(folder / ITEMS_FILE, passphrase), 1):
        try:
            if only is None or place_of(text) == only:
                where, item = checked_line(text, slug)
                yield where, item, len(text)
        except RefusedLine as error:
            raise Conflict(
                f"The export of {slug} in {folder} is refused, because of line {number} of its "
                f"items: {error}. Do not import it; make another export."
            ) from None


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
    """Raise Conflict if the list of files names one that the manifest does not, or another key."""
    for key, path in export.files():
        is_listed = path.relative_to(export.folder).as_posix() in files
        if not is_listed or not {"", ".", ".."}.isdisjoint(key.split("/")):
            raise _foreign(export.folder)


def _terms_of(tenant: AttributeMap, slug: str) -> Terms:
    """Return the terms in the tenant's line; Conflict if this release does not know one."""
    plan = tenant["plan"]["S"]
    if plan not in PLANS:
        raise Conflict(
            f"The tenant {slug} has the plan {plan}, which this release does not know. Its "
            f"plans are {', '.join(PLANS)}."
        )
    unknown = sorted({*tenant.get("modules", {}).get("SS", ())} - MODULES)
    if unknown:
        raise Conflict(
            f"The tenant {slug} has the module {', '.join(unknown)}, which this release "
            f"does not know. Its modules are {', '.join(sorted(MODULES))}."
        )
    return Terms.of(tenant)


def _export_command(slug: str) -> str:
    return f"stowage tenant export {slug} --to DIR --with-secrets"


def _foreign(folder: Path) -> Conflict:
    return Conflict(
        f"{folder} is no export of a tenant: it has no {MANIFEST} of one. Name the directory that "
        "stowage tenant export wrote."
    )
