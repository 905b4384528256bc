"""What the audit log holds, as stored and as answered."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from shared.kernel.fields import Stored, Timestamp
from shared.kernel.list_parameters import PeriodParameters, Text

type AuditAction = Literal[
    "client.created", "client.changed", "client.rotated", "client.revoked",
    "user.created", "user.changed", "user.disabled", "user.enabled", "user.deleted",
    "user.password_reset", "user.password_changed", "user.totp_enrolled", "user.totp_removed",
    "role.created", "role.changed", "role.deleted",
    "session.reused",
    "settings.changed",
    "tenant.changed", "tenant.suspended", "tenant.resumed",
    "tenant.cancelled", "tenant.moved", "tenant.exported",
    "stock.adjusted",
]  # fmt: skip
type ActorType = Literal["client", "user", "operator"]
"""`operator`: whoever runs the deployment, by the command line."""
type TargetType = Literal[
    "client", "user", "role", "session", "settings", "tenant", "stock_movement"
]


class Actor(Stored):
    """Who did it."""

    type: ActorType
    id: str | None = Field(description="Id of the client or user; null for an operator.")
    name: str | None = Field(default=None, description="Where it is known.")


class Target(Stored):
    """What it was done to."""

    type: TargetType
    id: str | None = Field(description="Null where there is but one.")


class StoredEntry(Stored):
    """An entry as stored. What it tells is kept as JSON texts, so that numbers stay exact."""

    action: AuditAction
    actor: Actor
    target: Target
    changes_json: str
    details_json: str
    reason: str | None
    request_id: str | None
    created_at: Timestamp


class Change(Stored):
    """A field before and after."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    before: Any = Field(alias="from")
    after: Any = Field(alias="to")


class AuditEntry(Stored):
    """One act, never changed afterwards, as answered."""

    id: int
    action: AuditAction
    actor: Actor
    target: Target
    changes: dict[str, Change] = Field(description="By field: what it was, and what it became.")
    details: dict[str, Any] = Field(description="What else tells which one it was.")
    reason: str | None
    request_id: str | None = Field(description="X-Request-Id of the request that did it.")
    created_at: Timestamp


class AuditParameters(PeriodParameters):
    """Parameters of the audit log."""

    sort: Literal["created_at", "-created_at"] = "-created_at"
    action: AuditAction | None = None
    actor_type: ActorType | None = None
    actor: Text | None = Field(default=None, description="Id of the client or user.")
    target_type: TargetType | None = None
    target: Text | None = Field(default=None, description="Id of what it was done to.")
