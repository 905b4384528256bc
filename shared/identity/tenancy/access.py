"""AWS clients with credentials that are restricted to one tenant's data."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from shared.identity.tenancy.directory import (
    current_table,
    existing_tenant,
    is_being_restored,
    read_item,
    table_version_of,
    tenant_key,
)
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.aws import client, client_as
from shared.kernel.clock import Deadline, is_fresh, now
from shared.kernel.company import Company
from shared.kernel.config import config
from shared.kernel.db.schema import TableVersion, current_version, served
from shared.kernel.db.store import Store
from shared.kernel.errors import TableReplaced, UnservedTable
from shared.kernel.observability import count_for_service, logger

_CAPACITY = 1_000
"""Tenants whose clients an execution environment caches. A client has about 0.25 MB; all share the
same connections."""

_LIFETIME = 3600
"""Seconds; the maximum for role chaining."""

_RENEW_BEFORE = 1_000
"""Seconds before their expiry at which credentials are renewed. Presigned URLs and forms are valid
for up to 15 minutes and expire with the credentials that signed them."""

_READ_ACTIONS = ["dynamodb:*GetItem", "dynamodb:ConditionCheckItem", "dynamodb:Query"]
_WRITE_ACTIONS = [f"dynamodb:{name}Item" for name in ("Put", "Update", "Delete")]
_CONTROL_ACTIONS = [f"dynamodb:{name}" for name in ("GetItem", "PutItem", "UpdateItem", "Query")]
"""The actions that the session policy allows, as far as the role allows them."""

_EVENT_ACTIONS = ("GetItem", "PutItem", "BatchWriteItem")

_USER_KEYS = ["user*", "role*", "administrators", "count#user*", "count#role*"]
"""Partition keys of users and roles, of their names and numbers, and of the administrators."""

_RATE_KEYS = "rate#*"
"""Partition keys of the counters of requests, and of the request log."""

type _Part = Literal[
    "count", "read", "write", "write users", "events", "earlier events", "earlier changes",
    "events and earlier changes", "control", "files",
]  # fmt: skip

ACCESSES: Mapping[str, Sequence[_Part]] = {
    "requests": ("count",),
    "labels": ("read", "count"),
    "relay": ("read", "write", "earlier changes"),
    "deliveries": ("read", "write", "events", "earlier events"),
    "changes": ("read", "count", "control"),
    "warehouse": ("read", "write", "events", "control"),
    "imports": ("read", "write", "events and earlier changes", "control", "files"),
    "settings": ("read", "write users", "events", "control"),
    "everything": ("read", "write users", "events", "control", "files"),
}
"""What a session may do (`DATA_ACCESS` of a function) → the statements of its policy."""


@dataclass(slots=True)
class _Session:
    """Credentials of one tenant and the clients created with them."""

    table: str
    """The only table of tenants that they reach."""
    obtained_at: float
    max_age: float
    """Seconds after which they are renewed."""
    credentials: dict[str, Any]
    clients: dict[str, Any] = field(default_factory=dict)


class TenantAccess:
    """Cache of AWS clients per tenant and service, whose credentials are renewed before expiry."""

    def __init__(
        self,
        clock: Callable[[], float] = now,
        *,
        role: Callable[[], str] = lambda: config().tenant_data_role,
        control_keys: Sequence[str] = (),
        access: Callable[[], str] = lambda: config().data_access,
    ) -> None:
        """Create an empty cache.

        Args:
            clock: Returns the time in seconds.
            role: Returns the ARN of the role to assume.
            control_keys: Items of the control table that the sessions also reach.
            access: Returns what the sessions may do.
        """
        self._clock, self._role, self._control_keys = clock, role, control_keys
        self._access = access
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._lock = Lock()

    def client(self, service: str, slug: str, table: str) -> Any:
        """Return a client of `service` (dynamodb or s3) that can reach only this tenant's data.

        A restore gives a tenant another table; the first client for it gets new credentials.
        """
        role = self._role()
        if not role:
            return client(service)
        with self._lock:  # concurrent threads assume the role once
            session, moment = self._sessions.get(slug), self._clock()
            if (
                session is None
                or session.table != table
                or not is_fresh(session.obtained_at, session.max_age, moment)
            ):
                credentials = _narrowed_credentials(
                    role, slug, table, *self._control_keys, access=self._access()
                )
                max_age = credentials["Expiration"].timestamp() - _RENEW_BEFORE - moment
                session = self._sessions[slug] = _Session(table, moment, max_age, credentials)
            self._sessions.move_to_end(slug)
            if len(self._sessions) > _CAPACITY:
                self._sessions.popitem(last=False)
            if service not in session.clients:
                session.clients[service] = client_as(service, session.credentials)
            return session.clients[service]

    def clear(self) -> None:
        """Empty the cache."""
        self._sessions.clear()


def _narrowed_credentials(
    role: str, slug: str, table: str, *control_keys: str, access: str
) -> dict[str, Any]:
    sts = client("sts")
    partition, account = role.split(":")[1], role.split(":")[4]
    answer = sts.assume_role(
        RoleArn=role,
        RoleSessionName=f"tenant-{slug}",
        DurationSeconds=_LIFETIME,
        Policy=session_policy(
            slug,
            table,
            f"arn:{partition}:dynamodb:{sts.meta.region_name}:{account}",
            *control_keys,
            access=access,
        ),
    )
    credentials: dict[str, Any] = answer["Credentials"]
    return credentials


def session_policy(
    slug: str, table_name: str, dynamodb_arn: str, *control_keys: str, access: str
) -> str:
    """Return the session policy that restricts a role to one tenant: JSON, at most 2048 characters.

    `dynamodb_arn` is `arn:PARTITION:dynamodb:REGION:ACCOUNT`, `control_keys` are further items of
    the control table.
    """
    settings = config()
    table = f"{dynamodb_arn}:table/{table_name}"
    buckets = [name for name in (settings.import_bucket, settings.import_work_bucket) if name]

    def events(*actions: str) -> dict[str, Any]:
        return {
            "Action": [f"dynamodb:{name}" for name in actions],
            "Resource": f"{dynamodb_arn}:table/{settings.outbox_table}",
            "Condition": _leading_keys("StringLike", [f"{slug}#?"]),
        }

    parts: dict[_Part, dict[str, Any]] = {
        "count": {
            "Action": "dynamodb:UpdateItem",
            "Resource": table,
            "Condition": _leading_keys("StringLike", [_RATE_KEYS]),
        },
        "read": {"Action": _READ_ACTIONS, "Resource": [table, f"{table}/index/*"]},
        "write": {
            "Action": _WRITE_ACTIONS,
            "Resource": table,
            "Condition": _leading_keys("StringNotLike", _USER_KEYS),
        },
        "write users": {"Action": "dynamodb:*Item", "Resource": table},
        "events": events(*_EVENT_ACTIONS),
        "events and earlier changes": events(*_EVENT_ACTIONS, "BatchGetItem"),
        "earlier events": events("Query"),
        "earlier changes": events("BatchGetItem"),
        "control": {
            "Action": _CONTROL_ACTIONS,
            # the table and its index
            "Resource": f"{dynamodb_arn}:table/{settings.control_table}*",
            "Condition": _leading_keys(
                "StringLike", [f"TENANT#{slug}", f"CLIENT#st?_{slug}_*", slug, *control_keys]
            ),
        },
        "files": {
            "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
            "Resource": [
                f"arn:{dynamodb_arn.split(':')[1]}:s3:::{name}/{slug}/*" for name in buckets
            ],
        },
    }
    statements = [
        {"Effect": "Allow", **parts[name]} for name in ACCESSES[access] if parts[name]["Resource"]
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def _leading_keys(operator: str, patterns: Sequence[str]) -> dict[str, Any]:
    """Return the condition on the partition keys of a call."""
    return {
        f"ForAllValues:{operator}": {"dynamodb:LeadingKeys": patterns},
        # ForAllValues is true for a request without the key.
        "Null": {"dynamodb:LeadingKeys": "false"},
    }


tenant_access = TenantAccess()
"""The instance of this execution environment."""


def dynamodb_for(tenant_slug: str, table: str) -> Any:
    """Return a DynamoDB client for one tenant; the unrestricted client if no role is configured."""
    return tenant_access.client("dynamodb", tenant_slug, table)


def store_for(tenant: Tenant, deadline: Deadline | None = None, *, writes: bool = True) -> Store:
    """Return the tenant's table for a function, which accesses it through `dynamodb_for`.

    Calls are retried until the deadline. A function that only reads (`writes` is false) is served
    during a restore.

    Raises:
        TableReplaced: The table is about to be replaced by a restored one.
        UnservedTable: This release does not serve the version of the table. An alarm reports it.
    """
    if writes and tenant.is_being_restored:
        raise TableReplaced(tenant.slug)
    try:
        version = served(tenant.slug, tenant.table_version)
    except UnservedTable as error:
        logger.error("unserved table", tenant=tenant.slug, reason=error.message)
        count_for_service("unserved_tables")
        raise
    dynamodb = dynamodb_for(tenant.slug, tenant.table)
    return operator_store_of(tenant.company, tenant.table, version, deadline, dynamodb)


def operator_store(
    tenant_slug: str, deadline: Deadline | None = None, dynamodb: Any = None
) -> Store:
    """Return the tenant's table for an operator, who accesses it with the default credentials.

    `dynamodb` is another client to use instead.

    The version of the table is read without a cache. A tenant that is not created yet, or is
    deleted, has no table, and thus no version. The deletion of a tenant needs none.

    Raises:
        TableReplaced: The table is about to be replaced by a restored one.
        UnservedTable: This release does not serve the version of the table.
    """
    item = read_item(tenant_key(tenant_slug))
    version = current_version()
    if item and item["state"]["S"] not in {"deleting", "deleted"}:
        version = served(tenant_slug, table_version_of(item))
        if is_being_restored(item):
            raise TableReplaced(tenant_slug)
    table = current_table(tenant_slug, item)
    tenant = existing_tenant(item) if item else None
    company = tenant.company if tenant else Company(tenant_slug)
    return operator_store_of(company, table, version, deadline, dynamodb)


def operator_store_of(
    company: Company,
    table: str,
    version: TableVersion,
    deadline: Deadline | None = None,
    dynamodb: Any = None,
) -> Store:
    """Return one of a tenant's tables for an operator: the present one, an earlier or a new one."""
    return Store(
        dynamodb or client("dynamodb"),
        company=company,
        table=table,
        outbox=config().outbox_table,
        deadline=deadline,
        version=version,
    )


def s3_for(tenant: Tenant) -> Any:
    """Return an S3 client that is restricted to the tenant's prefix of the import buckets."""
    return tenant_access.client("s3", tenant.slug, tenant.table)
