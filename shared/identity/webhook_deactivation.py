"""The field `deactivate_webhooks` of requests that end or narrow the access of clients and users.

Subscriptions are a subject of a later floor: the callers of the use cases deactivate them.
"""

from typing import Annotated

from pydantic import Field

from shared.kernel.errors import Problem

type DeactivateWebhooks = Annotated[
    bool,
    Field(
        description="Also deactivate the webhook subscriptions that the response lists in"
        " `webhooks`."
    ),
]


def deactivation_problems(*, deactivate: bool | None, allowed: bool, needed: str) -> list[Problem]:
    """Return a problem when subscriptions are to be deactivated by a change that narrows no access.

    `deactivate` is the field of the change, None if it is invalid; `allowed` is whether the change
    has a field that can end or narrow access. `needed` are these fields, for the message.
    """
    if not deactivate or allowed:
        return []
    return [Problem("deactivate_webhooks", f"is only allowed with {needed}")]
