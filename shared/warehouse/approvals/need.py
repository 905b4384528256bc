"""What a rule says when it requires an approval, apart from the approvals themselves.

Every function handles these; few need the models of approvals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.errors import ApprovalRequired
from shared.kernel.fields import Stored

if TYPE_CHECKING:
    from shared.identity.audit.models import Actor

type ApprovalCode = Literal["over_receipt", "shortage", "adjustment"]
"""A rule that may require an approval."""


class ApprovedResource(Stored):
    """The object that the request would change."""

    object: str = Field(description="Such as receipt, picking or product.")
    id: int


@dataclass(frozen=True, slots=True)
class ApprovalNeed:
    """What a rule says when it requires an approval.

    `code` names the rule and `message` says why with the numbers; `resource` is what the request
    changes. `figures` are the numbers that the rule has read, such as the quantity in stock: a
    grant holds as long as they are the same.
    """

    code: ApprovalCode
    message: str
    resource: ApprovedResource
    figures: Sequence[Decimal]


class ApprovalNotRequested(ApprovalRequired):
    """409 approval_required; the request has no open approval yet, which `shared.http` creates.

    `outdated` is the id of the approval of other figures that the new one replaces, if any.
    `prefetched` and `actor` are what the refused transaction has read and reserved for that.
    """

    def __init__(
        self, need: ApprovalNeed, outdated: int | None, prefetched: Prefetched, actor: "Actor"
    ) -> None:
        super().__init__(need.message)
        self.need = need
        self.outdated = outdated
        self.prefetched = prefetched
        self.actor = actor
