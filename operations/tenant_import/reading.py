"""Opening of an export: everything in it is checked before anything is written."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from operations.encrypted_lines import read_encrypted
from operations.export import FORMAT, MANIFEST, describe_file
from operations.items_file import ITEMS_FILE, QUIET_STATES
from operations.moved_items import is_moved
from operations.tenant_import.contents import Contents, count_contents
from operations.tenant_import.item_checks import are_together, name_of, problems_of
from operations.tenant_import.line_checks import Refusals, RefusedLine, checked_line, place_of
from operations.tenant_import.terms import Terms
from shared.identity.tenancy.tenant import MODULES, PLANS, is_slug
from shared.kernel.clock import now_ms
from shared.kernel.db import schema
from shared.kernel.db.items import AttributeMap, from_attributes
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.errors import Conflict

_MOVED_BUCKET = "work"
_MOST_OF_A_MANIFEST = 64 << 20
"""Characters; it has about 170 for each file."""


_TABLE = "table"
_MOST_TOGETHER = 16 << 20
"""Characters of lines that are checked together; more than those of an entity, which has at most 8
items of 350 kB, and its index entries."""
_SHOWN = 300
"""Characters of a problem that a message shows."""

type _Line = tuple[str, AttributeMap, int]


class _NumberedLine(NamedTuple):
    number: int
    line: _Line


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
        with Refusals(self.slug, self.folder) as refusals:
            lines = _read_lines(self.folder, self.passphrase, self.slug, refusals, where)
            for _, item, _ in lines:
                if PARTITION_KEY not in item or is_moved(item, moment):
                    yield item

    def files(self) -> Iterator[tuple[str, Path, str]]:
        """Yield key after the prefix of the tenant, copy and SHA-256 of each file that is moved."""
        for name, file in self.contents.files.items():
            if file.bucket == _MOVED_BUCKET and file.key is not None:
                yield file.key, self.folder / name, file.sha256


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
    slug, items = manifest["tenant"], manifest["files"][ITEMS_FILE]
    if not isinstance(items, dict) or {"bytes": int, "sha256": str} != {
        name: type(value) for name, value in items.items()
    }:
        raise _foreign(folder)
    _check_file(folder, ITEMS_FILE, items["bytes"], items["sha256"])
    with Refusals(slug, folder) as refusals:
        contents = count_contents(_read_lines(folder, passphrase, slug, refusals), slug)
    _check_authenticated(folder, manifest, contents)
    for name, file in contents.files.items():
        _check_file(folder, name, file.bytes, file.sha256)
    terms = _terms_of(contents.tenant, slug)
    return TenantExport(folder, passphrase, slug, items["sha256"], contents, terms)


def _read_lines(
    folder: Path, passphrase: str, slug: str, refusals: Refusals, only: str | None = None
) -> Iterator[_Line]:
    """Yield place, item and characters of each line, or of those of one place.

    Left out are lines with problems, which are added to `refusals`, and items of the table that
    have expired since or are not moved. Items that are checked together follow each other.
    """
    group, size, moment = list[_NumberedLine](), 0, now_ms() // 1000
    for number, text in enumerate(read_encrypted(folder / ITEMS_FILE, passphrase), 1):
        try:
            if only is not None and place_of(text) != only:
                continue
            where, item = checked_line(text, slug)
            if where == _TABLE and not is_moved(item, moment):
                continue
        except RefusedLine as error:
            refusals.add(number, error)
            continue
        line = _NumberedLine(number, (where, item, len(text)))
        if group and not (size < _MOST_TOGETHER and _are_together(group[0], line)):
            yield from _checked(group, refusals)
            group, size = [], 0
        group.append(line)
        size += len(text)
    yield from _checked(group, refusals)


def _are_together(one: _NumberedLine, other: _NumberedLine) -> bool:
    (first, before, _), (where, item, _) = one.line, other.line
    return first == where == _TABLE and are_together(before, item)


def _checked(group: list[_NumberedLine], refusals: Refusals) -> Iterator[_Line]:
    """Yield lines that are checked together, unless they have problems."""
    items = [item for _, (where, item, _) in group if where == _TABLE]
    problems = list(problems_of(items)) if items else []
    for at, problem in problems:
        refusals.add(group[at].number, f"{name_of(items[at])}: {problem[:_SHOWN]}")
    if not problems:
        yield from (line for _, line in group)


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    try:
        with (folder / MANIFEST).open(encoding="utf-8") as file:
            manifest = json.loads(file.read(_MOST_OF_A_MANIFEST))
    except (OSError, ValueError, RecursionError):
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
    files = manifest.get("files")
    if not isinstance(files, dict) or ITEMS_FILE not in files:
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


def _check_authenticated(folder: Path, manifest: Mapping[str, Any], contents: Contents) -> None:
    """Raise Conflict unless the manifest says what the encrypted lines say."""
    fields = from_attributes(contents.manifest)
    files = {
        name: {"bytes": file.bytes, "sha256": file.sha256} for name, file in contents.files.items()
    }
    files[ITEMS_FILE] = manifest["files"][ITEMS_FILE]
    if {name: manifest.get(name) for name in fields} != fields or manifest["files"] != files:
        raise _changed(folder / MANIFEST)


def _check_file(folder: Path, name: str, size: int, sha256: str) -> None:
    """Raise Conflict unless a file has this size and this SHA-256."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _foreign(folder)
    try:
        found = path.stat().st_size
    except OSError:
        raise Conflict(f"The file {path} of the export is missing. Copy it again.") from None
    if found < size:
        raise Conflict(
            f"The file {path} is truncated: it has {found} of {size} bytes. Copy it again."
        )
    if found > size or describe_file(path)["sha256"] != sha256:
        raise _changed(path)


def _changed(path: Path) -> Conflict:
    return Conflict(f"The file {path} was changed since the export. Copy the export again.")


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
