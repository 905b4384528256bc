"""Checks of the lines of an export, each of which must belong to the tenant that is imported.

Whoever knows the passphrase can write any line, so that nothing in it is trusted: a line must name
a place, an item with the key and the attributes that this place has, and no other tenant.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from operations.export import is_copy, is_other_file
from operations.items_file import AUTHENTICATED
from operations.moved_items import check_secrets, from_json
from shared.identity.auth.clients import (
    ID_PREFIXES,
    client_from_item,
    client_key,
    client_to_item,
    slug_of_client_id,
)
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.directory import TABLE_NAME, tenant_from_item, tenant_key
from shared.identity.tenancy.expiry_days import EXPIRY_DAY
from shared.kernel.db import schema
from shared.kernel.db.items import AttributeMap, unpack
from shared.kernel.db.table import EXPIRY, INDEX_COUNT, PARTITION_KEY, SORT_KEY, index_keys
from shared.kernel.errors import Conflict, ValidationFailed
from shared.kernel.events import outbox
from shared.kernel.events.kinds import EVENT_KINDS, TEST_EVENT
from shared.warehouse.settings.rules import check_settings
from shared.warehouse.settings.values import SETTING_NAMES, Settings, settings_of

KEPT = SETTING_NAMES | {
    "pk", "timezone", "revoked", "created_at", "table_version", "settings_version",
    "settings_updated_at",
}  # fmt: skip
"""Attributes of the tenant's item that are taken over."""
_DECIDED_HERE = frozenset(
    {
        "plan", "modules", "requests_per_minute", "clients", "mobile_clients", "users", "state",
        "base_url", "moved_to", "suspended_for", "upgrade", "table_lease", "verification",
        "restoring", "restored", TABLE_NAME, "import_source", EXPIRY_DAY,
    }
)  # fmt: skip
"""Attributes of the tenant's item that are decided or counted here, or that do not move."""
_SECRETS_OF_A_CLIENT = 2
_DIGEST_BYTES = 32
_KINDS_OF_EVENTS = frozenset({*EVENT_KINDS, TEST_EVENT})
_EVENT_TYPES = {
    "type": "S", "object": "S", "id": "N", "version": "N", "href": "S", "created_at": "S",
}  # fmt: skip
_OPTIONAL_EVENT_TYPES = {
    "status": "S", "attributes": "B", "only": "N", "traceparent": "S", EXPIRY: "N",
}  # fmt: skip
_COMBINED_TYPES = {"events": "B", "created_at": "S"}
_MOST_COMBINED = 1_000_000
"""Bytes of the events that are combined in an item: at most 200 kB before they become JSON."""
_REDELIVERY_TYPES = {"webhook": "N", "event": "S", "round": "N"}
_RECOVERY_TYPES = {"webhook": "N", "since": "N", "until": "N"}
_KEYS = {PARTITION_KEY: "S", SORT_KEY: "S"}
_ALL_KEYS = frozenset(
    {*_KEYS, *(name for number in range(1, INDEX_COUNT + 1) for name in index_keys(number))}
)
"""Attributes with keys of the table and of its indexes."""
_NOT_IN_A_TABLE = ("HOST#", "TENANT#", "CLIENT#", "KEYS")
_CLIENT_IDS = tuple(ID_PREFIXES.values())
_BEGINNING = re.compile(r'\{"where":"([a-z]{1,20})","item":', re.ASCII)
_PLAIN_TYPES = {"S": str, "B": bytes, "BOOL": bool}
_NUMBER = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,38})?(E[+-]?[0-9]{1,2})?", re.ASCII)
"""DynamoDB has 38 digits."""
_SHOWN = 100
"""Characters of a key that a message shows."""
_UNREADABLE = (
    LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What reading a line of another form raises."""


_LISTED = 10
"""Problems that a refusal names; all are counted."""


class RefusedLine(Exception):
    """The line cannot be imported; the message says why."""


class Refusals:
    """The problems of the lines of an export, of which the first ones are kept."""

    def __init__(self, slug: str, folder: Path) -> None:
        self._source = f"The export of {slug} in {folder}"
        self._listed, self._count = list[str](), 0

    def add(self, number: int, problem: object) -> None:
        """Add a problem of the line with a number."""
        self._count += 1
        if self._count <= _LISTED:
            self._listed.append(f"line {number}: {problem}")

    def __enter__(self) -> Self:
        """Collect problems in a block."""
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Raise Conflict if there are problems; one of the whole export often follows from them."""
        if not self._count or not isinstance(error, Conflict | None):
            return
        more = f"; and {self._count - _LISTED} more" if self._count > _LISTED else ""
        raise Conflict(
            f"{self._source} is refused, with {self._count} problems in its items: "
            f"{'; '.join(self._listed)}{more}. Do not import it; make another export."
        ) from None


def place_of(text: str) -> str:
    """Return the place that a line names; RefusedLine if it does not begin as a line does."""
    found = _BEGINNING.match(text)
    if not found:
        raise RefusedLine("it does not begin with its place and its item")
    return found[1]


def checked_line(text: str, slug: str) -> tuple[str, AttributeMap]:
    """Return place and item of a line of the export of a tenant.

    Raises:
        RefusedLine: It has not the form of such a line, or belongs to another tenant.
    """
    where = place_of(text)
    check = _CHECKS.get(where)
    if check is None:
        raise RefusedLine(f"there is no place {where}")
    try:
        content = json.loads(text)
        _require(
            content.keys() == {"where", "item"} and content["where"] == where,
            "it has other fields than where and item",
        )
        item = from_json(content["item"])
        _require(all(map(_is_value, item.values())), "it has an attribute without a valid type")
        check(item, slug)
    except RefusedLine:
        raise
    except ValidationFailed as error:
        problems = "; ".join(f"{each.field}: {each.message}" for each in error.problems)
        raise RefusedLine(problems) from None
    except _UNREADABLE as error:
        reason = f"it is not as an export writes it ({type(error).__name__}: {error})"
        raise RefusedLine(reason[: 2 * _SHOWN]) from None
    return where, item


def _require(condition: object, problem: str) -> None:
    if not condition:
        raise RefusedLine(problem)


def _is_value(attribute: Mapping[str, Any]) -> bool:
    ((kind, value),) = attribute.items()
    plain = _PLAIN_TYPES.get(kind)
    if plain is not None:
        return type(value) is plain
    match kind, value:
        case "N", str():
            return _NUMBER.fullmatch(value) is not None
        case "NULL", bool():
            return value
        case ("M", dict()) | ("L", list()):
            return all(map(_is_value, value.values() if kind == "M" else value))
        case (("SS" | "NS"), list()):  # DynamoDB has no empty sets
            return bool(value) and all(_is_value({kind[0]: each}) for each in value)
    return False


def _shown(key: str) -> str:
    return key if len(key) <= _SHOWN else f"{key[:_SHOWN]}…"


# The manifest and the files


def _check_manifest(item: AttributeMap, slug: str) -> None:
    _require(item.keys() == set(AUTHENTICATED), "the manifest has other fields")
    _require(item["tenant"] == {"S": slug}, "the manifest is that of another tenant")


def _check_file(item: AttributeMap, _slug: str) -> None:
    _require_types(item, {"file": "S", "bytes": "N", "sha256": "S"}, {"bucket": "S", "key": "S"})
    name = item["file"]["S"]
    _require(is_copy(name) or is_other_file(name), f"{_shown(name)} is no file of an export")
    of_copy = {"bucket", "key"} if is_copy(name) else set()
    _require(item.keys() == {"file", "bytes", "sha256"} | of_copy, "a file has other attributes")
    int(item["bytes"]["N"])
    if of_copy:
        bucket, key = item["bucket"]["S"], item["key"]["S"]
        _require(bucket in {"import", "work"}, f"there is no bucket {_shown(bucket)}")
        is_plain = key.isprintable() and {"", ".", ".."}.isdisjoint(key.split("/"))
        _require(is_plain or bucket == "import", f"{_shown(key)} is no key of a file of an import")


# The tenant


def _check_tenant(item: AttributeMap, slug: str) -> None:
    key = item["pk"]["S"]
    _require(key == tenant_key(slug), f"{_shown(key)} is not the tenant {slug}")
    unknown = sorted(item.keys() - KEPT - _DECIDED_HERE)
    _require(not unknown, f"the tenant has {', '.join(unknown)}, which this release does not know")
    types = {"timezone": "S", "revoked": "M", "created_at": "S", "table_version": "N"}
    _require_types(item, types, {"settings_version": "N", "settings_updated_at": "S"})
    for name, field in Settings.model_fields.items():
        if name in item:
            _require_types(item, {name: _setting_type(field.default)})
    for expiry in item["revoked"]["M"].values():
        int(expiry["N"])
    version = int(item["table_version"]["N"])
    oldest = schema.oldest_served()
    _require(
        oldest <= version <= schema.SCHEMA_VERSION,
        f"its table has the version {version}, and this release serves {oldest} to "
        f"{schema.SCHEMA_VERSION}",
    )
    tenant = tenant_from_item(item)
    check_settings(tenant.timezone, (), settings_of(tenant.company))


def _setting_type(default: object) -> str:
    match default:
        case bool():
            return "BOOL"
        case Decimal():
            return "N"
        case _:
            return "S"


def _require_types(
    item: AttributeMap, types: Mapping[str, str], optional: Mapping[str, str] | None = None
) -> None:
    """Raise RefusedLine unless the attributes have these types, the optional ones if present."""
    wanted = {**types, **{name: kind for name, kind in (optional or {}).items() if name in item}}
    for name, kind in wanted.items():
        _require(kind in item.get(name, ()), f"{name} is missing or not of the type {kind}")


# Items of the table


def _check_table_item(item: AttributeMap, slug: str) -> None:
    for name in _ALL_KEYS & item.keys():
        if not item[name].get("S"):
            raise RefusedLine(f"{name} is no text, or is empty")
    partition: str = item[PARTITION_KEY]["S"]
    _require(item[SORT_KEY], "SK is missing")
    if partition.startswith(_NOT_IN_A_TABLE) or "pk" in item:
        raise RefusedLine(f"{_shown(partition)} is not the key of an item of a tenant's table")
    for text in partition.split("#"):
        if text.startswith(_CLIENT_IDS) and slug_of_client_id(text) not in {None, slug}:
            raise RefusedLine(f"the client {text} belongs to another tenant")
    if item.get("tenant", {"S": slug}) != {"S": slug}:
        raise RefusedLine(f"{_shown(partition)} belongs to another tenant")
    if EXPIRY in item:
        int(item[EXPIRY]["N"])
    check_secrets(item)


# Clients


def _check_client(item: AttributeMap, slug: str) -> None:
    client_id = item["pk"]["S"].removeprefix(client_key(""))
    _require(
        item["pk"]["S"] == client_key(client_id) and slug_of_client_id(client_id) == slug,
        f"{_shown(item['pk']['S'])} is not the key of a client of {slug}",
    )
    secrets = item["secrets"]["L"]
    without_secrets = {**item, "secrets": {"L": []}}
    client = client_from_item(without_secrets)
    _require(
        client.tenant == slug and client_to_item(client) == without_secrets,
        f"the client {client_id} belongs to another tenant, or has other attributes than a client",
    )
    _require(
        client_id.startswith(ID_PREFIXES.get(client.kind, "-")),
        f"the client {client_id} is not of the kind {client.kind}",
    )
    unknown = sorted(client.scopes - SCOPES.keys())
    _require(
        not unknown,
        f"the client {client_id} has the scope {', '.join(unknown)}, which this release does not "
        "know",
    )
    most = _SECRETS_OF_A_CLIENT if client.active and client.kind == "integration" else 0
    _require(len(secrets) <= most, f"the client {client_id} has {len(secrets)} secrets")
    for each in secrets:
        found = each["M"]
        _require(found.keys() == {"created_at", "digest"}, "a secret has other attributes")
        _require("S" in found["created_at"], "a secret has no time")
        _require(len(found["digest"]["B"]) == _DIGEST_BYTES, "a secret has no digest")


# Events


def _check_event(item: AttributeMap, slug: str) -> None:
    _require_types(item, _KEYS)
    partition, name = item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]
    _require(
        outbox.is_key_of(slug, partition, name),
        f"{_shown(partition)} {_shown(name)} is not the key of an event of {slug}",
    )
    if EXPIRY in item:
        int(item[EXPIRY]["N"])
    if "events" in item:
        types, optional = _COMBINED_TYPES, {EXPIRY: "N"}
    elif outbox.is_event_id(name):
        types, optional = _EVENT_TYPES, _OPTIONAL_EVENT_TYPES
    else:
        types = _RECOVERY_TYPES if "since" in item else _REDELIVERY_TYPES
        optional = {EXPIRY: "N"}
    _require_types(item, types, optional)
    unknown = sorted(item.keys() - _KEYS.keys() - types.keys() - optional.keys())
    _require(not unknown, f"an event has no {', '.join(unknown)}")
    if "attributes" in item:
        unpack([item["attributes"]["B"]], outbox.MAX_ATTRIBUTES)
    if types is _COMBINED_TYPES:
        unpack([item["events"]["B"]], _MOST_COMBINED)
        _, entry = outbox.parse_entry(item)
        for event in entry.events if isinstance(entry, outbox.CombinedEvents) else ():
            _check_kind_and_path(event.type, event.item["href"])
            _require(event.body("").startswith(b"{"), "an event has no body")
    elif types is _EVENT_TYPES:
        _check_kind_and_path(item["type"]["S"], item["href"]["S"])
    elif types is _REDELIVERY_TYPES:
        _require(outbox.is_event_id(item["event"]["S"]), "a redelivery names no event")
    else:
        outbox.parse_entry(item)


def _check_kind_and_path(kind: str, href: str) -> None:
    _require(kind in _KINDS_OF_EVENTS, f"this release does not know the event {_shown(kind)}")
    _require(href.startswith("/"), "the href of an event does not begin with /")


_CHECKS: Mapping[Any, Callable[[AttributeMap, str], None]] = {
    "manifest": _check_manifest,
    "file": _check_file,
    "tenant": _check_tenant,
    "table": _check_table_item,
    "client": _check_client,
    "event": _check_event,
}
"""Place of a line → check of its item."""
