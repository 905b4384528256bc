"""The stack on moto: what `template.yaml` declares, as far as functions use it, and tenants."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar
from weakref import WeakSet

import pytest
from botocore.retries import quota
from botocore.retries.quota import RetryQuota
from moto import mock_aws
from moto.s3.models import s3_backends
from moto.sqs.models import sqs_backends

from operations import provisioning
from shared.http.rate_limit import limiter
from shared.identity.auth import signing, tokens
from shared.identity.auth.key_ring import key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy import access, directory
from shared.identity.tenancy.directory import tenant_key
from shared.identity.tenancy.rules import MAX_REQUESTS_PER_MINUTE, NewTenant
from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.integration.webhooks import delivery
from shared.kernel import aws
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.db import bookmarks, counters
from shared.kernel.db.store import Store
from tests import fast_moto
from tests.dns import only_known_names
from tests.gateway import Erp, Gateway
from tests.snapshot import Snapshot, stored_items
from tests.template import Template

NAME = "stowage"
_TENANTS = ("acme", "beta")
REGION = "eu-west-1"
ACCOUNT = "123456789012"
HOST = "api.stowage.test"
ADDRESS = f"https://{HOST}/api/v1"
CREDENTIALS = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
}


def forget_everything() -> None:
    """Begin as a new execution environment, which knows nothing."""
    forget_what_was_asked()
    aws.client.cache_clear()


def forget_what_was_asked() -> None:
    """Begin as an execution environment that has asked AWS nothing yet."""
    _forget_the_stack()
    access.tenant_access.clear()


def _forget_the_stack() -> None:
    """Begin as an execution environment that has its clients and knows nothing else.

    Clients are dear, and the same in every test but for what they may still try again.
    """
    config.cache_clear()
    key_ring.clear()
    signing.public_key.cache_clear()
    directory.directory.clear()
    limiter.forget()
    bookmarks._remembered.clear()
    delivery._unseal.cache_clear()
    _Quota.refill()


class _Quota(RetryQuota):
    """What a client may still try again."""

    _all: ClassVar[WeakSet["_Quota"]] = WeakSet()

    def __init__(self) -> None:
        super().__init__()
        self._all.add(self)

    @classmethod
    def refill(cls) -> None:
        """Have every client as if it had never met a fault."""
        for one in cls._all:
            one.release(one.INITIAL_CAPACITY)


quota.RetryQuota = _Quota  # type: ignore[assignment, misc]


@dataclass(frozen=True, slots=True)
class Stack:
    """A deployed stack with the tenants acme and beta, both empty, with every module.

    With both as many requests per minute are agreed as can be, and its minute never ends unless
    a test lets it: tests send more than any plan allows, and must not depend on the time of day.
    """

    template: Template

    @property
    def gateway(self) -> Gateway:
        """The API at its default address."""
        return Gateway(self.template, HOST)

    def tenant(self, slug: str = "acme") -> Tenant:
        """The tenant as the control table has it."""
        return provisioning.show_tenant(slug)

    def token(
        self, slug: str = "acme", *, client: str = "erp", scopes: Iterable[str] = SCOPES
    ) -> str:
        """Mint the token of an integration client, as the token route would."""
        return tokens.issue_to_client(self.tenant(slug), client, frozenset(scopes))

    def user_token(self, slug: str = "acme", **claims: object) -> str:
        """Mint the token of a user; `claims` replace kind, permissions, second_factor …"""
        tenant = self.tenant(slug)
        client_token = tokens.issue_to_client(tenant, "app", frozenset())
        own = tokens._json(client_token.split(".")[1])
        return tokens.sign_claims(
            own | {"sub": "u1", "kind": "user", "permissions": "", "second_factor": True} | claims
        )

    def erp(self, slug: str = "acme", **token: Any) -> Erp:
        """An ERP with a token for every scope, unless `scopes` names some."""
        return Erp(self.gateway, self.token(slug, **token))

    def store(self, slug: str = "acme") -> Store:
        """The tenant's table, to look behind the scenes."""
        return Store(
            aws.client("dynamodb"),
            slug=slug,
            table=config().tenant_table(slug),
            outbox=config().outbox_table,
        )

    def empty(self, slug: str = "acme") -> None:
        """Make the tenant as it was on its first day, its events forgotten, nobody revoked."""
        _first_day().snapshot.restore_table(config().tenant_table(slug))
        aws.client("dynamodb").update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key(slug)}},
            UpdateExpression="SET revoked = :nobody",
            ExpressionAttributeValues={":nobody": {"M": {}}},
        )
        directory.directory.clear()
        for event in self.events(slug):
            key = {name: event[name] for name in ("PK", "SK")}
            aws.client("dynamodb").delete_item(TableName=config().outbox_table, Key=key)
        bookmarks._remembered.clear()

    def keep(self) -> Callable[[], None]:
        """Return what makes every table as it is now, whatever happens to it until then."""
        kept = Snapshot.take(ACCOUNT, REGION)

        def bring_back() -> None:
            kept.restore()
            bookmarks._remembered.clear()

        return bring_back

    def items(self, slug: str = "acme") -> list[dict[str, Any]]:
        """Items of a tenant's table as `stored`, in DynamoDB's JSON, by their keys."""
        return sorted(self.stored(slug), key=lambda item: (item["PK"]["S"], item["SK"]["S"]))

    def stored(self, slug: str = "acme") -> Iterator[dict[str, Any]]:
        """Every item of a tenant's table but the counts of its requests, in no order."""
        items = stored_items(ACCOUNT, REGION, config().tenant_table(slug))
        return (item for item in items if not item["PK"]["S"].startswith("rate#"))

    def control(self) -> list[dict[str, Any]]:
        """Every item of the control table, in DynamoDB's JSON."""
        return list(stored_items(ACCOUNT, REGION, config().control_table))

    def event_count(self) -> int:
        """How many events of all tenants are in the outbox."""
        return sum(1 for _ in _outbox())

    def events(self, slug: str = "acme") -> list[dict[str, Any]]:
        """Every event of a tenant in the outbox, oldest first, in DynamoDB's JSON."""
        events = [item for item in _outbox() if item["PK"]["S"] == slug]
        return sorted(events, key=lambda event: str(event["SK"]["S"]))


def once[R](erp: Erp, what: Hashable, prepare: Callable[[], R]) -> R:
    """Let an ERP prepare a stack to which nothing has happened, or have it as it did before.

    Either way the environment knows the tenant, the keys and the ERP afterwards.

    Args:
        erp: Who prepares.
        what: Name of the preparation; the same name means the same preparation.
        prepare: Prepares through the interface; only its writes to tables are reused.

    Returns:
        What preparing returned, then or now.
    """
    assert erp.token is not None
    caller = tokens._json(erp.token.split(".")[1])
    # How many shards there are shows in the table.
    name = (what, caller["tenant"], caller["sub"], counters.SHARDS)
    result: R
    if not _first_day().snapshot.is_current():
        result = prepare()
    elif name in _prepared:
        kept, result = _prepared[name]
        kept.restore()
    else:
        result = prepare()
        if _has_only_tables():
            _prepared[name] = Snapshot.take(ACCOUNT, REGION), result
    bookmarks._remembered.clear()
    assert erp.get("/warehouses").status == 200
    return result


_prepared: dict[Hashable, tuple[Snapshot, Any]] = {}


def _has_only_tables() -> bool:
    """Tell whether buckets and queues are as empty as on the first day."""
    buckets = s3_backends[ACCOUNT]["aws"].buckets.values()
    queues = sqs_backends[ACCOUNT][REGION].queues.values()
    return not any(bucket.keys for bucket in buckets) and not any(
        queue._messages for queue in queues
    )


def _outbox() -> Iterator[dict[str, Any]]:
    return stored_items(ACCOUNT, REGION, config().outbox_table)


@dataclass(frozen=True, slots=True)
class _FirstDay:
    """The stack just after it was deployed and its tenants were created."""

    template: Template
    snapshot: Snapshot


@contextmanager
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """Deploy the stack, fresh, for the length of the block."""
    first_day = _first_day()
    fast_moto.install(monkeypatch)
    with mock_aws(), only_known_names(monkeypatch):
        _enter(monkeypatch, first_day.template)
        first_day.snapshot.restore()
        monkeypatch.setattr(limiter, "_clock", partial(int, now_ms()))
        _open_buckets_and_queues()
        for slug in _TENANTS:
            access.dynamodb_for(slug)
        yield Stack(first_day.template)
        _forget_the_stack()


@cache
def _first_day() -> _FirstDay:
    """Deploy once per process, as the template and the provisioning have it."""
    with pytest.MonkeyPatch.context() as monkeypatch, mock_aws():
        for name, value in CREDENTIALS.items():
            monkeypatch.setenv(name, value)
        forget_everything()
        template = _create()
        _enter(monkeypatch, template)
        provisioning.set_shared_address(ADDRESS)
        for slug in _TENANTS:
            provisioning.create_tenant(
                NewTenant(slug, plan="enterprise", base_url=ADDRESS, modules=MODULES)
            )
            # not by provisioning, which would note it in the tenant's audit log
            aws.client("dynamodb").update_item(
                TableName=config().control_table,
                Key={"pk": {"S": tenant_key(slug)}},
                UpdateExpression="SET requests_per_minute = :most",
                ExpressionAttributeValues={":most": {"N": str(MAX_REQUESTS_PER_MINUTE)}},
            )
        return _FirstDay(template, Snapshot.take(ACCOUNT, REGION))


def _enter(monkeypatch: pytest.MonkeyPatch, template: Template) -> None:
    """Begin as a new execution environment of the stack's functions."""
    for name, value in (CREDENTIALS | template.environment()).items():
        monkeypatch.setenv(name, value)
    _forget_the_stack()


def _create() -> Template:
    """Create the tables and keys that the template declares; name everything else."""
    declared = Template({})
    names = {"AWS::StackName": NAME, "AWS::Region": REGION, "AWS::AccountId": ACCOUNT}
    for table, properties in declared.resources("AWS::DynamoDB::Table").items():
        names[table] = f"{NAME}-{table}"
        wanted = ("AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "KeySchema")
        arguments = {name: properties[name] for name in wanted if name in properties}
        aws.client("dynamodb").create_table(TableName=names[table], **arguments)
    for key, properties in declared.resources("AWS::KMS::Key").items():
        made = aws.client("kms").create_key(
            KeySpec=properties["KeySpec"], KeyUsage=properties["KeyUsage"]
        )
        names[key] = made["KeyMetadata"]["KeyId"]
    for bucket in _buckets():
        names[bucket] = f"{NAME}-{bucket.lower()}"
    for queue in _queues():
        names[queue] = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{NAME}-{queue}"
    for role in declared.resources("AWS::IAM::Role"):
        names[f"{role}.Arn"] = f"arn:aws:iam::{ACCOUNT}:role/{NAME}-{role}"
    return Template(names)


@cache
def _buckets() -> tuple[str, ...]:
    return tuple(Template({}).resources("AWS::S3::Bucket"))


@cache
def _queues() -> tuple[str, ...]:
    return tuple(Template({}).resources("AWS::SQS::Queue"))


def _open_buckets_and_queues() -> None:
    """Create what is empty at first, without asking through the wire."""
    for bucket in _buckets():
        s3_backends[ACCOUNT]["aws"].create_bucket(f"{NAME}-{bucket.lower()}", REGION)
    for queue in _queues():
        sqs_backends[ACCOUNT][REGION].create_queue(f"{NAME}-{queue}", tags={})
