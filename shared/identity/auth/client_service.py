"""Use cases of API clients: each is one transaction together with its audit entry.

The clients are in the control table and the audit log is in the tenant's table; one transaction
spans both. A change that must revoke tokens adds a revocation entry to it.
"""

import operator
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from shared.identity.audit import service as audit
from shared.identity.audit.models import changed_values
from shared.identity.auth.client_models import (
    ApiClientChange,
    ApiClientDraft,
    ApiClientParameters,
    ApiClientRotation,
)
from shared.identity.auth.client_secrets import (
    hash_of_digest,
    new_secret,
    seal_digest,
    secret_digest,
)
from shared.identity.auth.clients import (
    ID_PREFIXES,
    LISTED_AS,
    ClientKind,
    ClientSecret,
    OAuthClient,
    client_from_item,
    client_key,
    client_to_item,
    slug_of_client_id,
)
from shared.identity.tenancy import directory, revocations
from shared.identity.tenancy.plan_counters import count_one_more
from shared.identity.tenancy.tenant import LimitName
from shared.identity.webhook_deactivation import deactivation_problems
from shared.kernel.config import config
from shared.kernel.db.actions import ErrorFactory, StaleRead
from shared.kernel.db.facets import fold
from shared.kernel.db.items import update_of
from shared.kernel.db.lists.cursor import InvalidCursor, Mark
from shared.kernel.db.lists.page import Page
from shared.kernel.db.outbox_item import VersionChange
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Gone, NotFound, Problem
from shared.kernel.validation import Checked, ensure_valid, invalid_fields

_COUNTERS: dict[str, tuple[str, LimitName]] = {
    "integration": ("clients", "integration_clients"),
    "mobile": ("mobile_clients", "mobile_clients"),
}
"""Kind → counter of active clients in the tenant's item, and the limit of the plan."""


def get_client(store: Store, client_id: str) -> OAuthClient:
    """Read a client that is not revoked."""
    client = _find_client(store, client_id)
    if not client.active:
        raise Gone(f"The client {client_id}", "revoked")
    return client


def _find_client(store: Store, client_id: str) -> OAuthClient:
    item = None
    if slug_of_client_id(client_id) == store.slug:
        key = client_key(client_id)
        # the store's client can read only the clients of this tenant
        item = store.get_cached(
            (config().control_table, key), lambda: directory.read_item(key, store.client)
        )
    if item is None:
        raise NotFound(f"The client {client_id}")
    return client_from_item(item)


def active_ids(store: Store) -> list[str]:
    """Return the ids of the active clients, from the index."""
    return [client.client_id for client in _active_clients(store)]


def find_clients(store: Store, client_ids: Iterable[str]) -> list[OAuthClient]:
    """Read those of some clients that exist and are not revoked."""
    found = map_concurrently(partial(_known_client, store), list(client_ids))
    return [client for client in found if client and client.active]


def _known_client(store: Store, client_id: str) -> OAuthClient | None:
    try:
        return _find_client(store, client_id)
    except NotFound:
        return None


def _active_clients(store: Store) -> list[OAuthClient]:
    """Read the active clients from the index, which lags by milliseconds."""
    items = directory.query_by_holder(store.slug, client_key(""), store.client)
    return [client_from_item(item) for item in items]


def list_clients(store: Store, parameters: ApiClientParameters) -> Page[OAuthClient]:
    """Read a page of the active clients. A tenant has few, so each page reads all of them."""
    since = parameters.updated_since or ""
    by_name = parameters.sort.removeprefix("-") == "name"
    descending = parameters.sort.startswith("-")

    def sort_key(client: OAuthClient) -> tuple[str, str]:
        return (fold(client.name) if by_name else client.created_at, client.client_id)

    clients = sorted(_active_clients(store), key=sort_key, reverse=descending)
    matching = [
        client
        for client in clients
        if parameters.kind in {None, client.kind} and client.updated_at >= since
    ]
    first = (parameters.page - 1) * parameters.per_page
    if parameters.cursor:
        last = _last_shown(store, parameters.cursor.mark, clients)
        # continue after this client, even if others were created or revoked since
        is_after = operator.lt if descending else operator.gt
        first = sum(not is_after(sort_key(client), sort_key(last)) for client in matching)
    records = [Record(0, client.version, client) for client in matching]
    return parameters.page_of(records, first, operator.attrgetter("client_id"))


def _last_shown(store: Store, mark: Mark, clients: Sequence[OAuthClient]) -> OAuthClient:
    """Return the last client of the previous page, even if it has been revoked since."""
    for client in clients:
        if client.client_id == mark:
            return client
    try:
        return _find_client(store, str(mark))
    except NotFound:
        raise InvalidCursor from None


def create_client(
    tx: Transaction, draft: Checked[ApiClientDraft]
) -> tuple[OAuthClient, str | None]:
    """Create a client, within the limits of the tenant's plan.

    Returns:
        The client and its secret, which is not stored; None for a mobile application.

    Raises:
        ServiceError: limit_reached, the plan allows no more clients.
    """
    is_checked = not invalid_fields(draft) & {"kind", "scopes"}
    draft = ensure_valid(draft, _scope_problems(draft.kind, draft.scopes) if is_checked else ())
    count_one_more(tx, *_COUNTERS[draft.kind])
    client_id = f"{ID_PREFIXES[draft.kind]}_{tx.store.slug}_{secrets.token_hex(12)}"
    secret = new_secret() if draft.kind == "integration" else None
    client = OAuthClient(
        client_id=client_id,
        tenant=tx.store.slug,
        kind=draft.kind,
        name=draft.name,
        scopes=frozenset(draft.scopes),
        active=True,
        secrets=(_stored_secret(tx, client_id, secret),) if secret else (),
        created_at=tx.now,
        updated_at=tx.now,
        written_by=tx.outbox.noted_by,
    )
    tx.outbox.note(VersionChange(LISTED_AS, client_id, None, client.version), None)
    body = {
        "TableName": config().control_table,
        "Item": client_to_item(client),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    tx.add_action("Put", body)
    details = {"name": client.name, "kind": client.kind, "scopes": sorted(client.scopes)}
    audit.record(tx, "client.created", "client", client_id, details=details)
    return client, secret


def _stored_secret(tx: Transaction, client_id: str, secret: str) -> ClientSecret:
    digest = secret_digest(client_id, secret)
    sealed = seal_digest(tx.store.slug, client_id, digest)
    return ClientSecret(hash_of_digest(digest), tx.now, sealed)


def _scope_problems(kind: ClientKind | None, scopes: Collection[str] | None) -> list[Problem]:
    """Return the problem of the scopes of a client, both valid; None stands for no scopes."""
    if kind == "mobile" and scopes:
        message = "must be empty for a mobile application, whose users have permissions"
        return [Problem("scopes", message)]
    if kind == "integration" and not scopes:
        return [Problem("scopes", "an integration client needs at least one scope")]
    return []


def change_client(tx: Transaction, client_id: str, change: Checked[ApiClientChange]) -> OAuthClient:
    """Change the fields that were sent; removing a scope revokes the tokens of the client.

    `deactivate_webhooks` is for the caller of this function.
    """
    client = get_client(tx.store, client_id)
    sent = change.model_fields_set
    is_checked = "scopes" in sent - invalid_fields(change)
    found = _scope_problems(client.kind, change.scopes) if is_checked else []
    found += deactivation_problems(
        deactivate=change.deactivate_webhooks, allowed="scopes" in sent, needed="scopes"
    )
    change = ensure_valid(change, found)
    name = change.name if "name" in sent else client.name
    scopes = frozenset(change.scopes) if "scopes" in sent else client.scopes
    changed = replace(client, name=name, scopes=scopes)
    changes = changed_values(_audited(client), _audited(changed))
    if not changes:
        return client
    if client.scopes - scopes:
        changed = _revoke_tokens(tx, changed)
    audit.record(tx, "client.changed", "client", client_id, changes=changes)
    return _put_next_version(tx, client, changed)


def _audited(client: OAuthClient) -> dict[str, object]:
    return {"name": client.name, "scopes": sorted(client.scopes)}


def rotate_secret(
    tx: Transaction, client_id: str, rotation: Checked[ApiClientRotation]
) -> tuple[OAuthClient, str]:
    """Give an integration client a new secret; return both. The secret is not stored.

    With `keep_previous`, the newest previous secret stays active beside the new one, until the next
    rotation or until it is deleted; older secrets are deleted. Otherwise, all previous secrets are
    deleted and the tokens of the client are revoked.

    Raises:
        Conflict: The client is a mobile application, or it was changed concurrently. The rotation
            is not retried then, because that would delete the secret in use.
    """
    client = get_client(tx.store, client_id)
    if client.kind == "mobile":
        raise Conflict(f"The client {client_id} is a mobile application and has no secret.")
    keep_previous = ensure_valid(rotation).keep_previous
    secret = new_secret()
    kept = client.secrets[:1] if keep_previous else ()
    changed = replace(client, secrets=(_stored_secret(tx, client_id, secret), *kept))
    if not keep_previous:
        changed = _revoke_tokens(tx, changed)
    details = {"name": client.name, "keep_previous": keep_previous}
    audit.record(tx, "client.rotated", "client", client_id, details=details)
    return _put_next_version(tx, client, changed, _concurrent_change), secret


def _concurrent_change() -> Conflict:
    return Conflict(
        "The client was changed by another request at the same time; read it, then try again."
    )


def delete_previous_secret(tx: Transaction, client_id: str) -> OAuthClient:
    """Delete the previous secret.

    Raises:
        NotFound: The client has no previous secret.
    """
    client = get_client(tx.store, client_id)
    previous = client.secrets[1:]
    if not previous:
        raise NotFound(f"A previous secret of the client {client_id}")
    changes = {"secrets": (len(client.secrets), 1)}
    audit.record(tx, "client.changed", "client", client_id, changes=changes)
    return _put_next_version(tx, client, replace(client, secrets=client.secrets[:1]))


def revoke_client(tx: Transaction, client_id: str) -> OAuthClient:
    """Revoke a client permanently: its secrets at once, its tokens within 10 s.

    Return the client as it was before.
    """
    client = get_client(tx.store, client_id)
    counter, _ = _COUNTERS[client.kind]
    revocations.revoke_in(tx, f"client:{client_id}", one_less=counter)
    audit.record(tx, "client.revoked", "client", client_id, details={"name": client.name})
    _put_next_version(tx, client, replace(client, active=False, secrets=()))
    return client


def _revoke_tokens(tx: Transaction, client: OAuthClient) -> OAuthClient:
    """Add the revocation of the client's present tokens; tokens issued later are valid."""
    revocations.revoke_in(tx, f"client:{client.client_id}")
    return replace(client, tokens_from=revocations.next_valid_iat(tx))


def _put_next_version(
    tx: Transaction,
    before: OAuthClient,
    after: OAuthClient,
    on_condition_failed: ErrorFactory = StaleRead,
) -> OAuthClient:
    """Add the next version of a client, on the condition that it is unchanged since it was read."""
    after = replace(
        after, version=before.version + 1, updated_at=tx.now, written_by=tx.outbox.noted_by
    )
    version = after.version if after.active else None
    tx.outbox.note(
        VersionChange(LISTED_AS, after.client_id, before.version, version), before.written_by
    )
    item = client_to_item(after)
    key = {"pk": item.pop("pk")}
    # Attributes that only another release knows stay.
    expression, names, values = update_of({"scopes": None, **item})
    body = {
        "TableName": config().control_table,
        "Key": key,
        "UpdateExpression": expression,
        "ConditionExpression": "version = :seen",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {**values, ":seen": {"N": str(before.version)}},
    }
    tx.add_action("Update", body, on_condition_failed)
    return after
