"""Approvals, as stored and in responses, and the parameters of their list."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from shared.kernel.fields import Input, Note, Stored, Timestamp
from shared.kernel.list_parameters import OneOf, PeriodParameters
from shared.warehouse.approvals.need import ApprovalCode, ApprovedResource

type Stage = Literal["pending", "granted", "denied", "used"]
"""The stored status."""
type ApprovalStatus = Literal["pending", "granted", "denied", "used", "expired"]
"""A pending or granted approval counts as expired once its time has passed, or when another one
replaces it."""


class ApprovalRequester(Stored):
    """Who sent the request, with the name at that time; one of both ids is null."""

    user_id: int | None
    client_id: str | None
    name: str | None = None


class Approver(Stored):
    """The user who decided, with the name at that time; null if the company has no such user."""

    user_id: int | None
    name: str | None


class StoredApproval(Stored):
    """An approval as stored.

    `body_json` is the JSON text of the body; None if it is not shown. `figures` is the digest of
    the figures of the rule; None for an approval of an earlier release.
    """

    id: int
    stage: Stage
    code: ApprovalCode
    message: str
    resource: ApprovedResource
    method: str
    path: str
    body_json: str | None
    digest: str
    figures: str | None = None
    requested_by: ApprovalRequester
    decided_by: Approver | None = None
    decided_at: Timestamp | None = None
    comment: str | None = None
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


@dataclass(frozen=True, slots=True)
class OpenApproval:
    """The pending or granted approval of a request, or the one that was used a moment ago.

    `until_ms` is when it expires. `figures` is the digest of the figures of the rule; None for an
    approval of an earlier release.
    """

    approval_id: int
    stage: Stage
    until_ms: int
    figures: str | None


class ApprovalDecision(Input):
    """The decision of a supervisor, with a comment for whoever asked."""

    comment: Note | None = None


class ApprovalRequest(Stored):
    """The request that needs the approval."""

    method: str
    path: str = Field(description="Relative to the base address.")
    body: dict[str, Any] | None = Field(
        description="The fields that the route knows; null without a body, and for one of more than"
        " 8,192 bytes."
    )


class Approval(Stored):
    """An approval in a list."""

    object: Literal["approval"] = "approval"
    id: int
    status: ApprovalStatus
    code: ApprovalCode = Field(description="The rule that refused the request.")
    message: str
    resource: ApprovedResource
    request: ApprovalRequest
    requested_by: ApprovalRequester
    decided_by: Approver | None = Field(description="Null before the decision.")
    decided_at: Timestamp | None
    comment: str | None
    expires_at: Timestamp = Field(
        description="24 hours after its creation, or when another approval replaced it."
    )
    created_at: Timestamp
    updated_at: Timestamp = Field(
        description="Time of the last change of the approval; that it expires is no change."
    )


class ApprovalDetail(Approval):
    """One approval, with the actions that its status admits, whoever reads it."""

    actions: list[str]


class ApprovalParameters(PeriodParameters):
    """Query parameters of the list of approvals."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[ApprovalStatus] | None = None
