"""Integration clients: items `CLIENT#id` of the control table.

Attributes: tenant, name, scopes, state (active, revoked), created_at, and `secrets`, the list
of one or two hashes, the newest first.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.auth.client_secrets import new_secret, secret_hash
from shared.auth.scopes import SCOPES
from shared.aws import client, failed_conditions
from shared.clock import instant, now_ms
from shared.config import config
from shared.errors import Conflict, NotFound, Problem, ValidationFailed
from shared.tenancy import revocations
from shared.tenancy.directory import read, tenant_key, tenant_of
from shared.tenancy.tenant import Tenant, limit_reached

BY_TENANT = "by_tenant"
"""Index of the control table: (tenant, pk)."""

_ID_PREFIX = "stw_"
_MAX_NAME = 100


class Credentials(NamedTuple):
    """What an ERP needs for its tokens; the secret is shown once and stored nowhere."""

    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class Client:
    """An integration client."""

    client_id: str
    tenant: str
    name: str
    scopes: frozenset[str]
    active: bool
    created_at: str
    secret_hashes: tuple[bytes, ...]
    """The newest first; two while a secret is being changed."""


def client_key(client_id: str) -> str:
    """Key of a client in the control table."""
    return f"CLIENT#{client_id}"


def find_client(client_id: str) -> Client | None:
    """Find a client, also a revoked one."""
    item = read(client_key(client_id))
    return client_of(item) if item else None


def list_clients(tenant: str) -> list[Client]:
    """All clients of a tenant, the revoked ones too, by id."""
    pages = (
        client("dynamodb")
        .get_paginator("query")
        .paginate(
            TableName=config().control_table,
            IndexName=BY_TENANT,
            KeyConditionExpression="tenant = :tenant AND begins_with(pk, :clients)",
            ExpressionAttributeValues={":tenant": {"S": tenant}, ":clients": {"S": client_key("")}},
        )
    )
    return [client_of(item) for page in pages for item in page["Items"]]


def create_client(tenant: str, name: str, scopes: Iterable[str] = SCOPES) -> Credentials:
    """Create an integration client within the limit of the tenant's plan.

    Args:
        tenant: Slug of the tenant.
        name: For people, 1 to 100 characters.
        scopes: The most that its tokens may ask for.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The name is empty or too long, or a scope is unknown.
        ServiceError: limit_reached, the plan allows no further client.
    """
    known = _tenant(tenant)
    _check(name, granted := frozenset(scopes))
    created = Credentials(_ID_PREFIX + secrets.token_hex(12), new_secret())
    limit = known.limits["integration_clients"]
    dynamodb = client("dynamodb")
    put = {
        "pk": {"S": client_key(created.client_id)},
        "tenant": {"S": tenant},
        "name": {"S": name},
        "scopes": {"SS": sorted(granted)},
        "state": {"S": "active"},
        "created_at": {"S": instant(now_ms())},
        "secrets": {"L": [{"B": secret_hash(*created)}]},
    }
    try:
        dynamodb.transact_write_items(
            TransactItems=[
                {
                    "Update": {
                        "TableName": config().control_table,
                        "Key": {"pk": {"S": tenant_key(tenant)}},
                        # counted in the transaction: two at once cannot pass the limit together
                        "UpdateExpression": "ADD clients :one",
                        "ConditionExpression": "attribute_not_exists(clients) OR clients < :limit",
                        "ExpressionAttributeValues": {
                            ":one": {"N": "1"},
                            ":limit": {"N": str(limit)},
                        },
                    }
                },
                {"Put": {"TableName": config().control_table, "Item": put}},
            ]
        )
    except dynamodb.exceptions.TransactionCanceledException as error:
        if failed_conditions(error)[0]:
            raise limit_reached(known, "integration_clients", limit) from error
        raise
    return created


def rotate_client(client_id: str, *, keep_previous: bool = True) -> Credentials:
    """Give a client a new secret.

    Args:
        client_id: The client.
        keep_previous: The newest secret so far goes on working beside the new one, until the
            next rotation; any older one ends at once. False ends all of them, as after a leak;
            tokens that were issued stay valid until they expire.

    Raises:
        NotFound: There is no such client, or it is revoked.
        Conflict: Someone else rotated at the same time.
    """
    known = _active(client_id)
    created = Credentials(client_id, new_secret())
    kept = known.secret_hashes[:1] if keep_previous else ()
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": client_key(client_id)}},
            UpdateExpression="SET secrets = :new",
            ConditionExpression="secrets = :seen AND #state = :active",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={
                ":new": _hash_list((secret_hash(*created), *kept)),
                ":seen": _hash_list(known.secret_hashes),
                ":active": {"S": "active"},
            },
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        raise Conflict("The client was changed at the same time; look, then try again.") from error
    return created


def revoke_client(client_id: str) -> None:
    """Revoke a client for good: its secrets at once, its tokens within 10 s. Safe to repeat.

    Raises:
        NotFound: There is no such client.
    """
    known = find_client(client_id)
    if known is None:
        raise NotFound(f"The client {client_id}")
    # tokens first: a failure in between leaves a client that can be revoked again
    revocations.revoke(known.tenant, f"client:{client_id}", always=True)
    if not known.active:
        return
    dynamodb = client("dynamodb")
    try:
        dynamodb.transact_write_items(
            TransactItems=[
                {
                    "Update": {
                        "TableName": config().control_table,
                        "Key": {"pk": {"S": client_key(client_id)}},
                        "UpdateExpression": "SET #state = :revoked, secrets = :none",
                        "ConditionExpression": "#state = :active",
                        "ExpressionAttributeNames": {"#state": "state"},
                        "ExpressionAttributeValues": {
                            ":revoked": {"S": "revoked"},
                            ":active": {"S": "active"},
                            ":none": {"L": []},
                        },
                    }
                },
                {
                    "Update": {
                        "TableName": config().control_table,
                        "Key": {"pk": {"S": tenant_key(known.tenant)}},
                        "UpdateExpression": "ADD clients :minus_one",
                        "ExpressionAttributeValues": {":minus_one": {"N": "-1"}},
                    }
                },
            ]
        )
    except dynamodb.exceptions.TransactionCanceledException as error:
        if not failed_conditions(error)[0]:
            raise
        # someone else revoked it in the meantime, which is what was wanted


def _tenant(slug: str) -> Tenant:
    item = read(tenant_key(slug))
    tenant = tenant_of(item) if item else None
    if tenant is None:
        raise NotFound(f"The tenant {slug}")
    return tenant


def _active(client_id: str) -> Client:
    known = find_client(client_id)
    if known is None or not known.active:
        raise NotFound(f"The client {client_id}")
    return known


def _check(name: str, scopes: frozenset[str]) -> None:
    problems = [
        Problem("scopes", f"there is no scope {scope}") for scope in sorted(scopes - SCOPES.keys())
    ]
    if not scopes:
        problems.append(Problem("scopes", "a client needs at least one scope"))
    if not 1 <= len(name) <= _MAX_NAME or not name.isprintable():
        problems.append(Problem("name", f"1 to {_MAX_NAME} printable characters are needed"))
    if problems:
        raise ValidationFailed(problems)


def client_of(item: Mapping[str, Any]) -> Client:
    """Read a client's item."""
    return Client(
        client_id=item["pk"]["S"].removeprefix(client_key("")),
        tenant=item["tenant"]["S"],
        name=item["name"]["S"],
        scopes=frozenset(item["scopes"]["SS"]),
        active=item["state"]["S"] == "active",
        created_at=item["created_at"]["S"],
        secret_hashes=tuple(each["B"] for each in item["secrets"]["L"]),
    )


def _hash_list(hashes: Iterable[bytes]) -> dict[str, Any]:
    return {"L": [{"B": each} for each in hashes]}
