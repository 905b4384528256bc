"""Entries of the audit log, as stored and in responses."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import PeriodParameters, Text

type AuditAction = Literal[
    "client.created", "client.changed", "client.rotated", "client.revoked",
    "user.created", "user.changed", "user.disabled", "user.enabled", "user.deleted",
    "user.password_reset", "user.password_changed", "user.totp_enrolled", "user.totp_removed",
    "user.recovery_codes_replaced", "user.sign_in_failed", "user.locked_out", "user.codes_refused",
    "user.unlocked", "user.sessions_ended",
    "role.created", "role.changed", "role.deleted",
    "session.reused", "session.ended",
    "settings.changed",
    "tenant.changed", "tenant.suspended", "tenant.resumed",
    "tenant.cancelled", "tenant.moved", "tenant.exported", "tenant.imported",
    "stock.adjusted", "receipt.over_receipt_approved",
    "approval.requested", "approval.granted", "approval.denied", "approval.used",
    "webhook.created", "webhook.changed", "webhook.secret_rotated", "webhook.deleted",
    "webhook.tested", "webhook.redelivered", "webhook.recovered",
]  # fmt: skip
type ActorType = Literal["client", "user", "operator", "anonymous", "system"]
"""`operator`: somebody who uses the command line of the deployment. `anonymous`: somebody who tried
to sign in. `system`: the service itself, at a set time."""
type TargetType = Literal[
    "client",
    "user",
    "role",
    "session",
    "settings",
    "tenant",
    "stock_movement",
    "receipt",
    "approval",
    "webhook",
]


class Actor(Stored):
    """Who made the change, with the name at that time."""

    type: ActorType
    id: str | None = Field(description="Id of the client or user; null for all others.")
    name: str | None = Field(default=None, description="Null if it is not known.")


class Target(Stored):
    """What was changed."""

    type: TargetType
    id: str | None = Field(
        description="Null for the settings, of which there is one set, and for an expiry date."
    )


class StoredEntry(Stored):
    """An audit entry as stored. Changes and details are JSON texts, which keep numbers exact."""

    action: AuditAction
    actor: Actor
    target: Target
    changes_json: str
    details_json: str
    reason: str | None
    request_id: str | None
    created_at: Timestamp


class Change(Stored):
    """A field before and after the change."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    before: Any = Field(alias="from")
    after: Any = Field(alias="to")


def changed_values(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return field → (before, after) of the values that differ, for an entry."""
    return {name: (old, after[name]) for name, old in before.items() if after[name] != old}


class AuditEntry(Stored):
    """An audit entry in responses. An entry never changes."""

    id: int
    action: AuditAction
    actor: Actor
    target: Target
    changes: dict[str, Change] = Field(description="Field → its value before and after.")
    details: dict[str, Any] = Field(description="Further properties that identify the target.")
    reason: str | None
    request_id: str | None = Field(
        description="`X-Request-Id` of the request that made the change."
    )
    created_at: Timestamp


class AuditParameters(PeriodParameters):
    """Query parameters of the audit log."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    action: AuditAction | None = None
    actor_type: ActorType | None = None
    actor: Text | None = Field(default=None, description="Id of the client or user.")
    target_type: TargetType | None = None
    target: Text | None = Field(default=None, description="Id of the target.")
