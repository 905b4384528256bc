"""First pass over the lines of an export: each line is checked, and what a plan limits is counted.

Lines are read one after another. For each line, the memory holds 8 bytes of a digest of its key,
by which a repeated key is found.
"""

import secrets
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from operations.item_kinds import MAX_WEBHOOKS
from operations.stored_collections import COLLECTIONS, IDS_OF_OTHERS
from shared.kernel.db import schema
from shared.kernel.db.items import AttributeMap
from shared.kernel.db.records import HEAD
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import Conflict
from shared.kernel.fields import MAX_ID

_GROUPS = 256
_FREE_IDS, _IDS_PER_ENTITY = 1_000_000, 100
"""Ids are given one after another, and some are lost to requests that fail. `stowage verify` looks
at every id up to the greatest one."""
_STEPS = {"manifest": 0, "file": 1, "tenant": 2}
_NOTHING, _ITEMS = -1, 3
_ORDER = frozenset({(_NOTHING, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, _ITEMS), (_ITEMS, _ITEMS)})
"""The steps that may follow each other; places without a step are items."""
_KEYS = (PARTITION_KEY, SORT_KEY, "pk", "file", "bucket", "key")
"""Attributes that tell the lines of a place apart."""


class ExportedFile(NamedTuple):
    """A file of an export beside its items."""

    bytes: int
    sha256: str
    bucket: str | None
    """`import` or `work`, for a copy of a file of the tenant."""
    key: str | None
    """Its key in the bucket, after the prefix of the tenant."""


@dataclass(slots=True)
class Contents:
    """What the lines of an export are, counted here and not taken from the export."""

    manifest: AttributeMap = field(default_factory=dict)
    """What the manifest says of the tenant."""
    files: dict[str, ExportedFile] = field(default_factory=dict)
    """Path in the export → file."""
    tenant: AttributeMap = field(default_factory=dict)
    """The tenant's item at the source."""
    items: int = 0
    clients: int = 0
    """Active integration clients."""
    mobile_clients: int = 0
    """Active mobile applications."""
    webhooks: int = 0
    """Subscriptions, including inactive ones."""
    users: int = 0
    """Users, including disabled ones."""
    events: int = 0
    size: int = 0
    """Characters of the lines."""
    entities: Counter[str] = field(default_factory=Counter)
    """Kind → entities, including deleted ones."""
    greatest: dict[str, int] = field(default_factory=dict)
    """Kind → its greatest id, also as a sequence and as the ids of other kinds have it."""

    def counters(self) -> AttributeMap:
        """Return the counters of the tenant's item."""
        counted = {
            "clients": self.clients,
            "mobile_clients": self.mobile_clients,
            "users": self.users,
        }
        return {name: {"N": str(number)} for name, number in counted.items()}

    def _add_table_item(self, item: AttributeMap) -> None:
        kind, _, rest = item[PARTITION_KEY]["S"].partition("#")
        sort = item[SORT_KEY]["S"]
        if kind == "sequence" and sort in COLLECTIONS.keys() - IDS_OF_OTHERS.keys():
            self._add_id(sort, int(item["last"]["N"]))
        elif kind in COLLECTIONS and rest.isdecimal() and sort == HEAD:
            self.entities[kind] += 1
            self.users += kind == "user" and "deleted" not in item
            self.webhooks += kind == "webhook" and "deleted" not in item
            for name, number in _ids_of(kind, int(rest)):
                self._add_id(name, number)

    def _add_id(self, kind: str, number: int) -> None:
        self.greatest[kind] = max(number, self.greatest.get(kind, 0))

    def limit_problem(self) -> str | None:
        """Return what the tables of a tenant never have; None if there is nothing of it."""
        if self.webhooks > MAX_WEBHOOKS:
            return (
                f"webhook: {self.webhooks} subscriptions, every plan allows {MAX_WEBHOOKS}. Delete "
                "subscriptions in the source"
            )
        for kind, number in sorted(self.greatest.items()):
            most = _FREE_IDS + _IDS_PER_ENTITY * self.entities[kind]
            if number > most:
                return (
                    f"{kind}: the id {number}, and {self.entities[kind]} entities can have ids up "
                    f"to {most}"
                )
        return None

    def add(self, where: str, item: AttributeMap) -> None:
        """Keep a line about the whole export, and count another one."""
        match where:
            case "manifest":
                self.manifest = item
            case "tenant":
                self.tenant = item
            case "file":
                bucket, key = (
                    item[name]["S"] if name in item else None for name in ("bucket", "key")
                )
                size, sha256 = int(item["bytes"]["N"]), item["sha256"]["S"]
                self.files[item["file"]["S"]] = ExportedFile(size, sha256, bucket, key)
            case "table":
                self.items += 1
                self._add_table_item(item)
            case "client" if item["state"]["S"] == "active":
                if item["kind"]["S"] == "integration":
                    self.clients += 1
                else:
                    self.mobile_clients += 1
            case "event":
                self.events += 1


def _ids_of(kind: str, number: int) -> Iterator[tuple[str, int]]:
    """Return the ids that the id of an entity consists of, each with its kind."""
    names = IDS_OF_OTHERS.get(kind, (kind,))
    return zip(names, divmod(number, MAX_ID + 1)[2 - len(names) :], strict=True)


class RepeatedKeys:
    """Finds whether a key was added twice, with 8 bytes for each key."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(16)
        """Without it, an export could have keys with equal digests."""
        self._groups = [array("Q") for _ in range(_GROUPS)]

    def add(self, *key: str) -> None:
        """Add a key."""
        text = "\0".join(key).encode(errors="surrogatepass")
        digest = blake2b(text, digest_size=8, key=self._secret).digest()
        self._groups[digest[0]].append(int.from_bytes(digest))

    def exist(self) -> bool:
        """Return whether any key was added twice."""
        return any(len(set(group)) != len(group) for group in self._groups)


def count_contents(lines: Iterable[tuple[str, AttributeMap, int]], slug: str) -> Contents:
    """Return the contents of the checked lines of an export: place, item, and characters.

    Raises:
        Conflict: The lines are not in the order of an export: manifest, files, tenant, items; an
            item is repeated; or the version of the table is not that of its items.
    """
    contents, keys, version = Contents(), RepeatedKeys(), schema.FIRST_VERSION
    last = _NOTHING
    for where, item, size in lines:
        step = _STEPS.get(where, _ITEMS)
        if (last, step) not in _ORDER:
            break
        last = step
        contents.add(where, item)
        contents.size += size
        keys.add(where, *(item[name]["S"] for name in _KEYS if name in item))
        if _is_version(where, item):
            version = int(item["version"]["N"])
    else:
        step = last
    if step != last or last < _STEPS["tenant"]:
        raise Conflict(
            f"The export of {slug} does not have the lines of an export in their order: manifest, "
            "files, one tenant, its items. Do not import it; make another export."
        )
    if problem := contents.limit_problem():
        raise Conflict(f"The export of {slug} is refused. {problem}.")
    if keys.exist():
        raise Conflict(
            f"The export of {slug} has an item twice. Do not import it; make another export."
        )
    if str(version) != contents.tenant["table_version"]["N"]:
        raise Conflict(
            f"The export of {slug} has the schema version {contents.tenant['table_version']['N']}, "
            f"and its items have {version}. Do not import it; make another export."
        )
    return contents


def _is_version(where: str, item: AttributeMap) -> bool:
    if where != "table":
        return False
    return (item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]) == schema.VERSION_KEY
