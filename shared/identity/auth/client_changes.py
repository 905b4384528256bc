"""Use cases of API clients: each in one transaction with its entry in the audit log.

The clients lie in the control table, the log in the tenant's own: one transaction spans both.
Where tokens must end, the mark that ends them is part of it.
"""

import operator
import secrets
from collections.abc import Sequence
from dataclasses import replace

from shared.identity.audit import service as audit
from shared.identity.auth.client_models import ApiClientChange, ApiClientDraft, ApiClientParameters
from shared.identity.auth.client_secrets import new_secret, secret_hash
from shared.identity.auth.clients import (
    PREFIXES,
    Client,
    Secret,
    client_key,
    client_of,
    item_of,
    slug_of,
)
from shared.identity.tenancy import directory, revocations
from shared.identity.tenancy.directory import tenant_key, tenant_of
from shared.identity.tenancy.tenant import Limit, limit_reached
from shared.kernel.config import config
from shared.kernel.db.collection import Record
from shared.kernel.db.facets import fold
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import ErrorFactory, StaleRead, Transaction
from shared.kernel.errors import Conflict, Gone, NotFound, Problem
from shared.kernel.validation import Checked, ensure_valid, invalid_fields

_COUNTED: dict[str, tuple[str, Limit]] = {
    "integration": ("clients", "integration_clients"),
    "mobile": ("mobile_clients", "mobile_clients"),
}
"""Kind → attribute of the tenant's item that counts those that work, and their limit."""


def get_client(store: Store, client_id: str) -> Client:
    """Read a client; NotFound when the tenant never had it, Gone when it is revoked."""
    known = _find(store, client_id)
    if not known.active:
        raise Gone(f"The client {client_id}", "revoked")
    return known


def _find(store: Store, client_id: str) -> Client:
    item = None
    if slug_of(client_id) == store.slug:
        key = client_key(client_id)
        # with the rights of the tenant's session
        item = store.get_cached(
            (config().control_table, key), lambda: directory.read(key, store.client)
        )
    if item is None:
        raise NotFound(f"The client {client_id}")
    return client_of(item)


def _working(store: Store) -> list[Client]:
    """Read the clients that work; an index may lag for moments."""
    items = directory.read_held(store.slug, client_key(""), store.client)
    return [client_of(item) for item in items]


def list_clients(store: Store, parameters: ApiClientParameters) -> Page[Client]:
    """Read a page of the clients that work. A tenant has few, so each page reads them all."""
    since = parameters.updated_since or ""
    by_name = parameters.sort.removeprefix("-") == "name"
    backwards = parameters.sort.startswith("-")

    def turn(one: Client) -> tuple[str, str]:
        return (fold(one.name) if by_name else one.created_at, one.client_id)

    known = sorted(_working(store), key=turn, reverse=backwards)
    wanted = [
        one for one in known if parameters.kind in {None, one.kind} and one.updated_at >= since
    ]
    first = (parameters.page - 1) * parameters.per_page
    last = _shown_last(store, parameters.cursor, known)
    if last:  # what came or went meanwhile moves no walk
        behind = operator.lt if backwards else operator.gt
        first = sum(not behind(turn(one), turn(last)) for one in wanted)
    shown = wanted[first : first + parameters.per_page]
    more = first + len(shown) < len(wanted)
    return Page(
        records=[Record(0, one.version, one) for one in shown],
        total=len(wanted),
        page=parameters.page,
        per_page=parameters.per_page,
        next_cursor=shown[-1].client_id if more and shown else None,
    )


def _shown_last(store: Store, cursor: str | None, known: Sequence[Client]) -> Client | None:
    """Return the client that the page before ended with, also when it is revoked by now."""
    for one in known:
        if one.client_id == cursor:
            return one
    try:
        return _find(store, cursor or "")
    except NotFound:
        return None


def create_client(tx: Transaction, draft: Checked[ApiClientDraft]) -> tuple[Client, str | None]:
    """Create a client within the limits of the tenant's plan.

    Returns:
        The client and its secret, which is not stored; None for a mobile application.

    Raises:
        NotFound: The tenant is gone.
        ValidationFailed: The draft is invalid, or its scopes do not fit its kind.
        ServiceError: limit_reached, the plan allows no further client.
    """
    draft = ensure_valid(draft, _scope_problems(draft))
    _count_one_more(tx, draft.kind)
    client_id = f"{PREFIXES[draft.kind]}_{tx.store.slug}_{secrets.token_hex(12)}"
    secret = new_secret() if draft.kind == "integration" else None
    made = Client(
        client_id=client_id,
        tenant=tx.store.slug,
        kind=draft.kind,
        name=draft.name,
        scopes=frozenset(draft.scopes),
        active=True,
        secrets=(Secret(secret_hash(client_id, secret), tx.now),) if secret else (),
        created_at=tx.now,
        updated_at=tx.now,
    )
    body = {
        "TableName": config().control_table,
        "Item": item_of(made),
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    tx.add_action("Put", body)
    details = {"name": made.name, "kind": made.kind, "scopes": sorted(made.scopes)}
    audit.record(tx, "client.created", "client", client_id, details=details)
    return made, secret


def _scope_problems(draft: Checked[ApiClientDraft]) -> list[Problem]:
    if invalid_fields(draft) & {"kind", "scopes"}:
        return []
    if draft.kind == "mobile":
        return [_NO_SCOPES] if draft.scopes else []
    return [] if draft.scopes else [Problem("scopes", "a client needs at least one scope")]


_NO_SCOPES = Problem("scopes", "a mobile application has none: its users have permissions")


def _count_one_more(tx: Transaction, kind: str) -> None:
    """Count a client in its transaction, so that two at once cannot pass the limit together."""
    item = directory.read(tenant_key(tx.store.slug))
    tenant = tenant_of(item) if item else None
    if item is None or tenant is None:
        raise NotFound(f"The tenant {tx.store.slug}")
    attribute, limit = _COUNTED[kind]
    used = int(item.get(attribute, {"N": "0"})["N"])
    if used >= tenant.limits[limit]:
        raise limit_reached(tenant, limit, used)
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(tx.store.slug)}},
            "UpdateExpression": "ADD #count :one",
            "ConditionExpression": "attribute_exists(pk) AND"
            " (attribute_not_exists(#count) OR #count < :limit)",
            "ExpressionAttributeNames": {"#count": attribute},
            "ExpressionAttributeValues": {
                ":one": {"N": "1"},
                ":limit": {"N": str(tenant.limits[limit])},
            },
        },
    )


def change_client(tx: Transaction, client_id: str, change: Checked[ApiClientChange]) -> Client:
    """Change the fields sent; a scope that is taken away ends the tokens of the client.

    Raises:
        NotFound, Gone: There is no such client, or it is revoked.
        ValidationFailed: The change is invalid, or gives scopes to a mobile application.
    """
    known = get_client(tx.store, client_id)
    sent = change.model_fields_set
    gives_scopes = known.kind == "mobile" and "scopes" in sent and change.scopes
    change = ensure_valid(change, [_NO_SCOPES] if gives_scopes else [])
    name = change.name if "name" in sent else known.name
    scopes = frozenset(change.scopes) if "scopes" in sent else known.scopes
    changes: dict[str, tuple[object, object]] = {}
    if name != known.name:
        changes["name"] = (known.name, name)
    if scopes != known.scopes:
        changes["scopes"] = (sorted(known.scopes), sorted(scopes))
    if not changes:
        return known
    changed = replace(known, name=name, scopes=scopes)
    if known.scopes - scopes:
        changed = _end_tokens(tx, changed)
    audit.record(tx, "client.changed", "client", client_id, changes=changes)
    return _replace(tx, known, changed)


def rotate_secret(
    tx: Transaction, client_id: str, *, keep_previous: bool = True
) -> tuple[Client, str]:
    """Give an integration client a new secret.

    Args:
        tx: The transaction.
        client_id: The client.
        keep_previous: The newest secret so far goes on working beside the new one, until the
            next rotation or until it is ended; any older one ends at once. False ends all of
            them, and the tokens of the client.

    Returns:
        The client, and its new secret, which is stored nowhere.

    Raises:
        NotFound: There is no such client.
        Gone: It is revoked.
        Conflict: It is a mobile application, or somebody else changed it at the same time: to
            go on from there would end the secret that is in use.
    """
    known = get_client(tx.store, client_id)
    if known.kind == "mobile":
        raise Conflict("A mobile application has no secret.")
    secret = new_secret()
    kept = known.secrets[:1] if keep_previous else ()
    changed = replace(known, secrets=(Secret(secret_hash(client_id, secret), tx.now), *kept))
    if not keep_previous:
        changed = _end_tokens(tx, changed)
    details = {"name": known.name, "keep_previous": keep_previous}
    audit.record(tx, "client.rotated", "client", client_id, details=details)
    return _replace(tx, known, changed, _changed_meanwhile), secret


def _changed_meanwhile() -> Conflict:
    return Conflict("The client was changed at the same time; look, then try again.")


def end_previous_secret(tx: Transaction, client_id: str) -> Client:
    """End the secret that a rotation kept. Raises NotFound, also when there is none, and Gone."""
    known = get_client(tx.store, client_id)
    previous = known.secrets[1:]
    if not previous:
        raise NotFound("A previous secret")
    changes = {"secrets": (len(known.secrets), 1)}
    audit.record(tx, "client.changed", "client", client_id, changes=changes)
    return _replace(tx, known, replace(known, secrets=known.secrets[:1]))


def revoke_client(tx: Transaction, client_id: str) -> Client:
    """Revoke a client for good: its secrets at once, its tokens within 10 s.

    Returns the client as it was. Raises NotFound, and Gone when it is revoked already.
    """
    known = get_client(tx.store, client_id)
    attribute, _ = _COUNTED[known.kind]
    revocations.stage(tx, f"client:{client_id}", counts={attribute: -1})
    audit.record(tx, "client.revoked", "client", client_id, details={"name": known.name})
    _replace(tx, known, replace(known, active=False, secrets=()))
    return known


def _end_tokens(tx: Transaction, client: Client) -> Client:
    """Stage the end of all tokens that the client has; new ones work."""
    revocations.stage(tx, f"client:{client.client_id}")
    return replace(client, tokens_from=revocations.tokens_from(tx))


def _replace(
    tx: Transaction, seen: Client, after: Client, on_condition_failed: ErrorFactory = StaleRead
) -> Client:
    """Stage the next version of a client that has not changed since it was read."""
    after = replace(after, version=seen.version + 1, updated_at=tx.now)
    body = {
        "TableName": config().control_table,
        "Item": item_of(after),
        "ConditionExpression": "version = :seen",
        "ExpressionAttributeValues": {":seen": {"N": str(seen.version)}},
    }
    tx.add_action("Put", body, on_condition_failed)
    return after
