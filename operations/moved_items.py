"""The items of a tenant in the form in which they are moved: JSON, with opened secrets.

Stored secrets are encrypted with the KMS key of their deployment. They are opened for the move and
sealed again under the key of the other deployment, and are equal when their opened forms are.
"""

import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.auth.client_secrets import hash_of_digest, seal_digest, unseal_digest
from shared.identity.auth.clients import ClientSecret, client_key, secret_to_attributes
from shared.identity.users.second_factor import sealing_owner as second_factor_owner
from shared.integration.webhooks.signatures import sealing_owner as webhook_owner
from shared.kernel.db.items import AttributeMap, pack, unpack
from shared.kernel.db.table import EXPIRY, PARTITION_KEY
from shared.kernel.json_text import dumps, loads
from shared.kernel.sealing import Purpose, seal, unseal

_NOT_MOVED = re.compile(r"(rate|reconciliation|snapshot)#.*|position#[^#]+#.*|feed", re.DOTALL)
"""Partition keys of items that are not moved: requests of the last minutes, where the next page of
a list begins, and the feed of changes with the reconciliations at its positions, which is of one
table."""
_MAX_WEBHOOK = 1 << 20
"""Bytes; more than a subscription has: an address, kinds of events and two secrets."""
_MAX_SECRET = 4_096
"""Bytes that KMS seals."""


def is_moved(item: Mapping[str, Any], now_seconds: int) -> bool:
    """Return whether an item of the tenant's table is moved; expired ones are not."""
    expiry = item.get(EXPIRY)
    is_expired = expiry is not None and int(expiry["N"]) <= now_seconds
    return not is_expired and not _NOT_MOVED.fullmatch(item[PARTITION_KEY]["S"])


# Secrets


def opened(item: AttributeMap, slug: str) -> AttributeMap:
    """Return an item with its sealed secrets in clear; fails for those of another deployment."""
    return _with_secrets(item, lambda secret, purpose, whose: unseal(secret, purpose, slug, whose))


def sealed(item: AttributeMap, slug: str) -> AttributeMap:
    """Return an opened item with its secrets sealed by the key of this deployment."""
    return _with_secrets(item, lambda secret, purpose, whose: seal(secret, purpose, slug, whose))


def check_secrets(item: AttributeMap) -> None:
    """Raise an error if the secrets of an opened item do not have the form that `sealed` needs.

    Raises:
        ValueError: A secret is too long, or what contains it is too long or damaged.
        LookupError: An attribute is missing; likewise AttributeError and TypeError.
    """

    def check(secret: bytes, _purpose: Purpose, _whose: str) -> bytes:
        if not 0 < len(secret) <= _MAX_SECRET:
            message = f"a secret has {len(secret)} bytes"
            raise ValueError(message)
        return secret

    _with_secrets(item, check)


def _with_secrets(
    item: AttributeMap, change: Callable[[bytes, Purpose, str], bytes]
) -> AttributeMap:
    """Return an item with `change(secret, purpose, owner)` in place of each secret."""
    partition: str = item[PARTITION_KEY]["S"]
    kind, _, number = partition.partition("#")
    if kind == "webhook" and "data" in item:
        return {
            **item,
            "data": {"B": _with_signing_secrets(item["data"]["B"], int(number), change)},
        }
    if kind == "login" and "totp" in item:
        factor = item["totp"]["M"]
        secret = change(factor["sealed"]["B"], "totp", second_factor_owner(int(number)))
        return {**item, "totp": {"M": {**factor, "sealed": {"B": secret}}}}
    if kind == "idempotency" and item.get("sealed", {}).get("BOOL"):
        return {**item, "body": {"B": change(item["body"]["B"], "replay", partition)}}
    return item


def _with_signing_secrets(
    data: bytes, number: int, change: Callable[[bytes, Purpose, str], bytes]
) -> bytes:
    webhook = loads(unpack([data], _MAX_WEBHOOK))
    for secret in webhook["secrets"]:
        changed = change(b64decode(secret["sealed"]), "signing", webhook_owner(number))
        secret["sealed"] = b64encode(changed).decode()
    (packed,) = pack(dumps(webhook))  # an address and two secrets: far below the size of a part
    return packed


# Clients


def opened_client(item: AttributeMap, slug: str) -> AttributeMap:
    """Return a client's item with the digests of its secrets in place of their hashes.

    The key of the hashes cannot leave its deployment. A secret without a sealed digest, made before
    there were any, is left out.
    """
    client_id = item["pk"]["S"].removeprefix(client_key(""))
    secrets = [
        {
            "M": {
                "created_at": each["M"]["created_at"],
                "digest": {"B": unseal_digest(slug, client_id, each["M"]["sealed"]["B"])},
            }
        }
        for each in item["secrets"]["L"]
        if "sealed" in each["M"]
    ]
    return {**item, "secrets": {"L": secrets}}


def sealed_client(item: AttributeMap, slug: str) -> AttributeMap:
    """Return an opened client's item with hashes and sealed digests of this deployment."""
    client_id = item["pk"]["S"].removeprefix(client_key(""))
    secrets = []
    for each in item["secrets"]["L"]:
        digest = each["M"]["digest"]["B"]
        sealed_digest = seal_digest(slug, client_id, digest)
        secret = ClientSecret(hash_of_digest(digest), each["M"]["created_at"]["S"], sealed_digest)
        secrets.append({"M": secret_to_attributes(secret)})
    return {**item, "secrets": {"L": secrets}}


# JSON


def to_json(item: AttributeMap) -> str:
    """Return an item as JSON; equal items have the same text."""
    return json.dumps(_plain(item), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def from_json(content: Any) -> AttributeMap:
    """Return the item that `to_json` wrote, from its parsed JSON."""
    return {name: _attribute(value) for name, value in content.items()}


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in attributes.items()}


def _plain_value(attribute: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, value),) = attribute.items()
    match kind:
        case "B":
            return {kind: b64encode(value).decode()}
        case "M":
            return {kind: _plain(value)}
        case "L":
            return {kind: [_plain_value(each) for each in value]}
        case "SS" | "NS":
            return {kind: sorted(value)}
        case _:
            return {kind: value}


def _attribute(content: Mapping[str, Any]) -> dict[str, Any]:
    ((kind, value),) = content.items()
    match kind:
        case "B":
            return {kind: b64decode(value)}
        case "M":
            return {kind: from_json(value)}
        case "L":
            return {kind: [_attribute(each) for each in value]}
        case _:
            return {kind: value}


@dataclass(slots=True)
class Digest:
    """Number and digest of items, which do not depend on their order."""

    items: int = 0
    _sum: int = 0

    def add(self, text: str) -> None:
        """Add an item, given as JSON."""
        self.items += 1
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest())
        self._sum = (self._sum + digest) % (1 << 256)

    def __str__(self) -> str:
        """Return the digest in hexadecimal digits."""
        return f"{self._sum:064x}"
