"""The outbox: a change puts its event beside itself, in the same transaction."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.clock import instant
from shared.db.transaction import Transaction
from shared.json_text import dumps

_MAX_ATTRIBUTES = 18_000
"""Bytes of attributes; a delivery has at most 20 kB, and without them when they are more."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a resource.

    `href` is its path relative to the base address, `version` its version after the
    change, `attributes` what its list shows of it.
    """

    type: str
    object: str
    id: int
    version: int
    href: str
    attributes: Mapping[str, Any]
    status: str | None = None


def raise_event(tx: Transaction, event: Event) -> None:
    """Stage the event; its id is the same for every delivery and every retry."""
    attributes = dumps(event.attributes)
    fits = len(attributes.encode()) <= _MAX_ATTRIBUTES
    tx.insert(
        {
            "PK": tx.store.slug,
            # The time first, so that a tenant's events lie in the order they happened.
            "SK": f"evt_{tx.now_ms:012x}{secrets.token_hex(10)}",
            "type": event.type,
            "object": event.object,
            "id": event.id,
            "version": event.version,
            "status": event.status,
            "href": event.href,
            "attributes": attributes if fits else None,
            "created_at": instant(tx.now_ms),
        },
        table=tx.store.outbox,
    )
