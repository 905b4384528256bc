"""The subscriptions of clients and users whose access ends or is narrowed.

A client or user is responsible for the subscriptions that it created, and for those whose address,
secret or activation it set last. Access is narrowed when the right to manage subscriptions is lost:
the scope `webhooks:manage` of a client, the permission `users.manage` of a user.

Call the functions in the transaction that ends or narrows the access. The change has to revoke the
tokens, as it does for every right that is lost: a subscription that is created, activated or set at
the same time is then deactivated, too, or refused. A tenant has at most 20 subscriptions, so their
deactivation fits into the transaction.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from pydantic import Field

from shared.identity.audit.models import ActorType
from shared.identity.auth.client_models import ApiClientChange, RegisteredClient
from shared.identity.auth.clients import OAuthClient
from shared.identity.auth.scopes import Scope
from shared.identity.users import administrators
from shared.identity.users.models import Role, RoleChange, StoredRole, User, UserChange
from shared.identity.webhook_deactivation import DeactivateWebhooks
from shared.integration.webhooks import repository, service
from shared.integration.webhooks.models import StoredWebhook
from shared.integration.webhooks.repository import WEBHOOKS
from shared.integration.webhooks.rules import Responsible, responsible_for
from shared.kernel.db.items import Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.kinds import EventKind
from shared.kernel.fields import Input, Stored
from shared.kernel.validation import Checked

MANAGING_SCOPE: Scope = "webhooks:manage"
MANAGING_PERMISSION = administrators.PERMISSION
READ_AHEAD: Sequence[Key] = (repository.REGISTER_KEY,)
"""Keys of what the functions read first; a change of access can read it with other items."""
_NARROWING = frozenset({"is_active", "roles", "permissions"})
"""Fields of users and roles that can end or narrow access."""


def read_ahead_of(change: Checked[UserChange] | Checked[RoleChange]) -> Sequence[Key]:
    """Return READ_AHEAD if a change of a user or a role may need it."""
    return READ_AHEAD if change.model_fields_set & _NARROWING else ()


def webhooks_of(
    tx: Transaction, kind: ActorType, number: str | int, *, deactivate: bool
) -> list[StoredWebhook]:
    """Return the subscriptions for which a client or user is responsible; deactivate them if asked.

    This is for an access that ends; the functions below are for changes.
    """
    return _webhooks_of_those(tx, lambda _: {(kind, str(number))}, deactivate=deactivate)


def webhooks_of_changed_client(
    tx: Transaction, client: OAuthClient, change: ApiClientChange
) -> list[StoredWebhook] | None:
    """Return the subscriptions of a client that may no longer manage subscriptions.

    None if the change has no scopes, or the client, as it is afterwards, still has the scope. The
    change may be repeated to deactivate the subscriptions.
    """
    if "scopes" not in change.model_fields_set or MANAGING_SCOPE in client.scopes:
        return None
    return webhooks_of(tx, "client", client.client_id, deactivate=change.deactivate_webhooks)


def webhooks_of_changed_user(
    tx: Transaction, user: User, change: UserChange
) -> list[StoredWebhook] | None:
    """Return the subscriptions of a user who is disabled, or may no longer manage subscriptions.

    As `webhooks_of_changed_client`, with the roles of the user.
    """
    if change.is_active and (
        "roles" not in change.model_fields_set
        or administrators.are_administrative(tx.store, user.roles)
    ):
        return None
    return webhooks_of(tx, "user", user.id, deactivate=change.deactivate_webhooks)


def webhooks_of_changed_role(
    tx: Transaction, role: StoredRole, change: RoleChange
) -> list[StoredWebhook] | None:
    """Return the subscriptions of the role's users who may no longer manage subscriptions.

    As `webhooks_of_changed_client`, with the permissions of the role. Users who have the
    permission by another role keep theirs.
    """
    if "permissions" not in change.model_fields_set or MANAGING_PERMISSION in role.permissions:
        return None

    def affected(responsible: AbstractSet[Responsible]) -> set[Responsible]:
        users = [int(number) for kind, number in responsible if kind == "user"]
        losing = administrators.without_other_source(tx.store, users, role.id)
        return {("user", str(number)) for number in losing}

    return _webhooks_of_those(tx, affected, deactivate=change.deactivate_webhooks)


def _webhooks_of_those(
    tx: Transaction,
    affected: Callable[[AbstractSet[Responsible]], AbstractSet[Responsible]],
    *,
    deactivate: bool,
) -> list[StoredWebhook]:
    """Return the subscriptions of affected clients and users; deactivate them if asked.

    `affected` returns the clients and users whose access ends or is narrowed, given all that are
    responsible for a subscription.
    """
    register = repository.read_register(tx.store)
    records = WEBHOOKS.get_many(tx.store, sorted(register.ids))
    ended = affected({one for record in records for one in responsible_for(record.entity)})
    found = [record for record in records if not ended.isdisjoint(responsible_for(record.entity))]
    if not deactivate:
        return [record.entity for record in found]
    changed = service.deactivate(tx, found)
    # Also written when nothing changes: see `service.read_register`.
    repository.stage_registration(tx, register, *changed)
    now = {webhook.id: webhook for webhook in changed}
    return [now.get(record.id, record.entity) for record in found]


# Request body and responses


class AccessEnd(Input):
    """What happens to the subscriptions of a client or user whose access ends."""

    deactivate_webhooks: DeactivateWebhooks = False


class ListedWebhook(Stored):
    """A subscription of a client or user whose access ends or is narrowed."""

    id: int
    url: str = Field(json_schema_extra={"format": "uri"})
    events: list[EventKind]
    is_active: bool


class RevokedApiClient(RegisteredClient):
    """A revoked client as it was before, and its subscriptions."""

    webhooks: list[ListedWebhook] = Field(
        description="The subscriptions that the client created, or whose address, secret or"
        " activation it set last, as they are now."
    )


class ChangedApiClient(RegisteredClient):
    """A changed client, and its subscriptions if it may no longer manage subscriptions."""

    webhooks: list[ListedWebhook] | None = Field(
        description="The subscriptions that the client created, or whose address, secret or"
        " activation it set last, as they are now. Null unless the request sets scopes without"
        f" `{MANAGING_SCOPE}`."
    )


class ChangedUser(User):
    """A changed or deleted user, and the user's subscriptions if access ends or is narrowed."""

    webhooks: list[ListedWebhook] | None = Field(
        description="The subscriptions that the user created, or whose address, secret or"
        " activation the user set last, as they are now. Null unless the request disables or"
        f" deletes the user, or sets roles without the permission `{MANAGING_PERMISSION}`."
    )


class ChangedRole(Role):
    """A changed role, and the subscriptions of users who may no longer manage subscriptions."""

    webhooks: list[ListedWebhook] | None = Field(
        description="The subscriptions that users created, or whose address, secret or activation"
        f" they set last, who have this role and no other with `{MANAGING_PERMISSION}`, as they"
        f" are now. Null unless the request sets permissions without `{MANAGING_PERMISSION}`."
    )


def listed_webhooks(found: Sequence[StoredWebhook] | None) -> list[ListedWebhook] | None:
    """Return subscriptions for the response to the change that ends or narrows the access.

    None if they were not read.
    """
    return None if found is None else [ListedWebhook.from_stored(one) for one in found]
