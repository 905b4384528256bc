"""The stack on moto: what `template.yaml` declares, as far as functions use it, and tenants."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import count
from typing import Any, ClassVar
from weakref import WeakSet

import pytest
from botocore.retries import quota
from botocore.retries.quota import RetryQuota
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from moto import mock_aws
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sqs.models import sqs_backends

from operations import provisioning, tenant_changes
from operations.tenant_rules import MAX_REQUESTS_PER_MINUTE, NewTenant
from shared.http.rate_limit import WINDOW_MS, limiter
from shared.identity.auth import signing, tokens
from shared.identity.auth.key_ring import key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy import access, directory
from shared.identity.tenancy.directory import tenant_key
from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.integration.webhooks import delivery
from shared.kernel import aws, json_text
from shared.kernel.clock import Deadline, now_ms
from shared.kernel.company import Company
from shared.kernel.config import config
from shared.kernel.db import counters, items
from shared.kernel.db.items import to_attributes
from shared.kernel.db.lists import bookmarks
from shared.kernel.db.store import Store
from shared.kernel.events import feed_ids
from shared.kernel.events.feed import HEAD_KEY
from shared.kernel.events.outbox import CombinedEvents, StoredEvent, parse_entry
from tests import fast_moto
from tests.dns import only_known_names
from tests.gateway import Erp, Gateway
from tests.snapshot import Snapshot, stored_items
from tests.template import Template

NAME = "stowage"
_TENANTS = ("acme", "beta")
REGION = "eu-west-1"
ACCOUNT = "123456789012"
STACK_ID = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{NAME}/0a1b"
HOST = "api.stowage.test"
ADDRESS = f"https://{HOST}/api/v1"
CREDENTIALS = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
}


def clear_all_caches() -> None:
    """Clear all caches, as in a new execution environment."""
    clear_caches_except_clients()
    aws.client.cache_clear()


def clear_caches_except_clients() -> None:
    """Clear all caches except the clients that use the ambient credentials."""
    _clear_stack_caches()
    access.tenant_access.clear()


def _clear_stack_caches() -> None:
    """Clear all caches except clients, which are slow to create and the same in every test."""
    config.cache_clear()
    key_ring.clear()
    signing.public_key.cache_clear()
    directory.directory.clear()
    limiter.forget()
    bookmarks._cached_positions.clear()
    feed_ids.forget()
    delivery._unseal.cache_clear()
    _Quota.refill()


class _Quota(RetryQuota):
    """The retry quota of a client, which the tests can refill."""

    _all: ClassVar[WeakSet["_Quota"]] = WeakSet()

    def __init__(self) -> None:
        super().__init__()
        self._all.add(self)

    @classmethod
    def refill(cls) -> None:
        """Refill the quota of every client."""
        for one in cls._all:
            one.release(one.INITIAL_CAPACITY)


quota.RetryQuota = _Quota  # type: ignore[assignment, misc]


@dataclass(frozen=True, slots=True)
class Stack:
    """A deployed stack with the tenants acme and beta, both empty, with every module.

    Both tenants have the highest rate limit, and the limit's minute does not end unless a test ends
    it: tests send more requests than any plan allows and must not depend on the time of day.
    """

    template: Template

    @property
    def gateway(self) -> Gateway:
        """Return the API at its default address."""
        return Gateway(self.template, HOST)

    def tenant(self, slug: str = "acme") -> Tenant:
        """Return the tenant from the control table."""
        return tenant_changes.show_tenant(slug)

    def token(
        self, slug: str = "acme", *, client: str = "erp", scopes: Iterable[str] = SCOPES
    ) -> str:
        """Issue a token of an integration client, as the token route does."""
        with _signing_in_moto():
            return tokens.issue_to_client(self.tenant(slug), client, frozenset(scopes))

    def user_token(self, slug: str = "acme", **claims: object) -> str:
        """Issue a token of a user; `claims` replace kind, permissions, second_factor …"""
        own = tokens._json(self.token(slug, client="app", scopes=()).split(".")[1])
        user = {"sub": "u1", "kind": "user", "permissions": "", "second_factor": True}
        with _signing_in_moto():
            return tokens.sign_claims(own | user | claims)

    def erp(self, slug: str = "acme", **token: Any) -> Erp:
        """Return an ERP whose token has every scope, or those of `scopes`."""
        return Erp(self.gateway, self.token(slug, **token))

    def store(self, slug: str = "acme") -> Store:
        """Return the tenant's table, for direct reads."""
        return Store(
            aws.client("dynamodb"),
            company=Company(slug),
            table=config().tenant_table(slug),
            outbox=config().outbox_table,
        )

    def reset_tenant(self) -> None:
        """Restore acme as deployed, without events and revocations."""
        _deployment().snapshot.restore_table(config().tenant_table("acme"))
        set_attributes(revoked={"M": {}})
        for item in self.outbox_items("acme"):
            key = {name: item[name] for name in ("PK", "SK")}
            aws.client("dynamodb").delete_item(TableName=config().outbox_table, Key=key)
        bookmarks._cached_positions.clear()
        feed_ids.forget()

    def take_snapshot(self) -> Callable[[], None]:
        """Return a function that restores every table to its present state."""
        kept = Snapshot.take(ACCOUNT, REGION)

        def restore() -> None:
            kept.restore()
            bookmarks._cached_positions.clear()
            feed_ids.forget()

        return restore

    def items(self, slug: str = "acme") -> list[dict[str, Any]]:
        """Return the items of a tenant's table as `unsorted_items` does, sorted by key."""
        return sorted(
            self.unsorted_items(slug), key=lambda item: (item["PK"]["S"], item["SK"]["S"])
        )

    def unsorted_items(self, slug: str = "acme") -> Iterator[dict[str, Any]]:
        """Yield every item of a tenant's table, in any order.

        Left out are rate limit windows, and what every new table has: the version of the schema and
        the head of the feed of changes.
        """
        items = stored_items(ACCOUNT, REGION, config().tenant_table(slug))
        return (
            item
            for item in items
            if not item["PK"]["S"].startswith(("rate#", "schema"))
            and (item["PK"]["S"], item["SK"]["S"]) != HEAD_KEY
        )

    def stored(self, slug: str = "acme") -> list[dict[str, Any]]:
        """Return the items that a refused request leaves as they are: all but sequences of ids."""
        return [item for item in self.items(slug) if item["PK"]["S"] != "sequence"]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Assert that the block changes nothing and raises no event; sequences may advance."""
        before = self.stored(), self.events()
        yield
        assert (self.stored(), self.events()) == before

    def control_items(self) -> list[dict[str, Any]]:
        """Return every item of the control table, in DynamoDB's JSON."""
        return list(stored_items(ACCOUNT, REGION, config().control_table))

    def event_count(self) -> int:
        """Return the number of events of all tenants in the outbox."""
        return sum(len(events_in(item)) for item in _outbox())

    def events(self, slug: str = "acme") -> list[dict[str, Any]]:
        """Return every event of a tenant in the outbox, oldest first, in DynamoDB's JSON."""
        return [event for item in self.outbox_items(slug) for event in events_in(item)]

    def outbox_items(self, slug: str) -> list[dict[str, Any]]:
        """Return every item of a tenant in the outbox, oldest first, in DynamoDB's JSON."""
        items = [item for item in _outbox() if parse_entry(item)[0] == slug]
        return sorted(items, key=lambda item: str(item["SK"]["S"]))


def set_attributes(slug: str = "acme", **values: Mapping[str, Any]) -> None:
    """Set attributes of a tenant's item in DynamoDB's JSON; the functions see them at once."""
    aws.client("dynamodb").update_item(
        TableName=config().control_table,
        Key={"pk": {"S": tenant_key(slug)}},
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
        ExpressionAttributeNames={f"#{name}": name for name in values},
        ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
    )
    directory.directory.clear()


def events_in(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an item of the outbox, or the events that are combined in it as items of their own."""
    entry = parse_entry(item)[1]
    if not isinstance(entry, CombinedEvents):
        return [item]
    return [to_attributes({**event.item, "SK": event.id}) for event in entry.events]


def event_attributes(event: Mapping[str, Any]) -> Any:
    """Return the attributes of an event in DynamoDB's JSON: the resource as its list shows it."""
    entry = parse_entry(event)[1]
    assert isinstance(entry, StoredEvent)
    return json.loads(json_text.dumps(entry.attributes))


def prepare_once[R](erp: Erp, what: Hashable, prepare: Callable[[], R]) -> R:
    """Prepare a fresh stack through the interface, or restore the result of the first time.

    Either way the caches hold the tenant, the keys and the ERP afterwards.

    Args:
        erp: The ERP that prepares.
        what: Name of the preparation; the same name means the same preparation.
        prepare: Prepares the stack. If it writes to buckets or queues, it runs every time.

    Returns:
        The result of `prepare`.
    """
    assert erp.token is not None
    caller = tokens._json(erp.token.split(".")[1])
    # The number of shards and the size of a part change the items of the table.
    name = (what, caller["tenant"], caller["sub"], counters.SHARDS, items.PART_SIZE)
    result: R
    if not _deployment().snapshot.is_current():
        result = prepare()
    elif name in _prepared:
        kept, result = _prepared[name]
        kept.restore()
    else:
        result = prepare()
        if _has_only_tables():
            _prepared[name] = Snapshot.take(ACCOUNT, REGION), result
    bookmarks._cached_positions.clear()
    feed_ids.forget()
    assert erp.get("/warehouses").status == 200
    return result


_prepared: dict[Hashable, tuple[Snapshot, Any]] = {}


def _has_only_tables() -> bool:
    """Return whether all buckets and queues are empty."""
    buckets = s3_backends[ACCOUNT]["aws"].buckets.values()
    queues = sqs_backends[ACCOUNT][REGION].queues.values()
    return not any(bucket.keys for bucket in buckets) and not any(
        queue._messages for queue in queues
    )


def _outbox() -> Iterator[dict[str, Any]]:
    return stored_items(ACCOUNT, REGION, config().outbox_table)


@dataclass(frozen=True, slots=True)
class _Deployment:
    """The stack after its deployment and the creation of its tenants."""

    template: Template
    snapshot: Snapshot


_windows = count(1)
_compute_signature = lru_cache(4_096)(tokens._check_signature)


def _check_signature(token: str, kms_key: str, audience: str) -> None:
    """Check the signature of a token once per process; a wrong one is checked each time."""
    signing.public_key(kms_key)  # each execution environment reads it from KMS
    _compute_signature(token, kms_key, audience)


_sign_with_kms = signing.sign
_is_in_moto = ContextVar("is_in_moto", default=False)


@contextmanager
def _signing_in_moto() -> Iterator[None]:
    """Sign tokens of tests with the keys in moto; a call of KMS costs as much as a request."""
    token = _is_in_moto.set(True)
    try:
        yield
    finally:
        _is_in_moto.reset(token)


def _sign(kms_key: str, message: bytes) -> bytes:
    if not _is_in_moto.get():
        return _sign_with_kms(kms_key, message)
    key = kms_backends[ACCOUNT][REGION].keys[kms_key].private_key
    r, s = decode_dss_signature(key.sign(message, "ECDSA_SHA_256"))
    return r.to_bytes(32) + s.to_bytes(32)


@contextmanager
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """Deploy a fresh stack for the block."""
    deployment = _deployment()
    fast_moto.install(monkeypatch)
    monkeypatch.setattr(tokens, "_check_signature", _check_signature)
    monkeypatch.setattr(signing, "sign", _sign)
    with mock_aws(), only_known_names(monkeypatch):
        enter_stack(monkeypatch, deployment.template)
        deployment.snapshot.restore()
        # A restored table may hold a window whose spare tokens are leased: use a window of its own.
        moment = now_ms() + next(_windows) * WINDOW_MS
        monkeypatch.setattr(limiter, "_clock", partial(int, moment))
        # How long a request takes on this machine must not decide what it costs.
        monkeypatch.setattr(Deadline, "elapsed_ms", 0)
        _open_buckets_queues_and_schedules()
        for slug in _TENANTS:
            access.dynamodb_for(slug, config().tenant_table(slug))
        yield Stack(deployment.template)
        _clear_stack_caches()


@cache
def _deployment() -> _Deployment:
    """Deploy the template and create the tenants, once per process."""
    with pytest.MonkeyPatch.context() as monkeypatch, mock_aws():
        for name, value in CREDENTIALS.items():
            monkeypatch.setenv(name, value)
        clear_all_caches()
        template = _create()
        enter_stack(monkeypatch, template)
        provisioning.set_shared_address(ADDRESS)
        for slug in _TENANTS:
            provisioning.create_tenant(
                NewTenant(slug, plan="enterprise", base_url=ADDRESS, modules=MODULES)
            )
            # Not through provisioning, which would add an entry to the tenant's audit log.
            set_attributes(slug, requests_per_minute={"N": str(MAX_REQUESTS_PER_MINUTE)})
        return _Deployment(template, Snapshot.take(ACCOUNT, REGION))


def deploy_another(name: str) -> Template:
    """Deploy a further stack beside the one of `deployed`, without tenants; return its template.

    `enter_stack` switches between the two.
    """
    template = _create(name)
    _open_buckets_queues_and_schedules(name)
    return template


def enter_stack(
    monkeypatch: pytest.MonkeyPatch, template: Template, stack_id: str = STACK_ID
) -> None:
    """Start as a new execution environment of a stack's functions."""
    # Operations use the environment of the functions, the id of the stack, another queue and role.
    own = {
        "STACK_ID": stack_id,
        "RELAY_FAILURES_URL": template.text({"Ref": "RelayFailures"}),
        "TENANT_IMPORT_ROLE_ARN": template.text({"Fn::GetAtt": "TenantImportRole.Arn"}),
    }
    for name, value in (CREDENTIALS | template.environment() | own).items():
        monkeypatch.setenv(name, value)
    _clear_stack_caches()


def _create(stack: str = NAME) -> Template:
    """Create the tables and keys of the template, and names for its other resources."""
    declared = Template({})
    names = {"AWS::StackName": stack, "AWS::Region": REGION, "AWS::AccountId": ACCOUNT}
    for table in declared.resources("AWS::DynamoDB::Table"):
        names[table] = f"{stack}-{table}"
        create_table(table, names[table])
    for key, properties in declared.resources("AWS::KMS::Key").items():
        made = aws.client("kms").create_key(
            KeySpec=properties["KeySpec"], KeyUsage=properties["KeyUsage"]
        )
        names[key] = made["KeyMetadata"]["KeyId"]
    for bucket in _declared("AWS::S3::Bucket"):
        names[bucket] = f"{stack}-{bucket.lower()}"
    for queue in _declared("AWS::SQS::Queue"):
        names[queue] = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{stack}-{queue}"
    for group in _declared("AWS::Scheduler::ScheduleGroup"):
        names[group] = f"{stack}-{group}"
        names[f"{group}.Arn"] = (
            f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule-group/{stack}-{group}"
        )
    for role in declared.resources("AWS::IAM::Role"):
        names[f"{role}.Arn"] = f"arn:aws:iam::{ACCOUNT}:role/{stack}-{role}"
    return Template(names)


def create_table(declared: str, name: str) -> None:
    """Create a table that the template declares, under another name."""
    properties = Template({}).resources("AWS::DynamoDB::Table")[declared]
    wanted = ("AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "KeySchema")
    arguments = {name: properties[name] for name in wanted if name in properties}
    aws.client("dynamodb").create_table(TableName=name, **arguments)


@cache
def _declared(kind: str) -> tuple[str, ...]:
    """Return the names of the resources of a kind in the template."""
    return tuple(Template({}).resources(kind))


def _open_buckets_queues_and_schedules(stack: str = NAME) -> None:
    """Create buckets, queues and schedule groups directly in moto, without calls of AWS."""
    for bucket in _declared("AWS::S3::Bucket"):
        s3_backends[ACCOUNT]["aws"].create_bucket(f"{stack}-{bucket.lower()}", REGION)
    for queue in _declared("AWS::SQS::Queue"):
        sqs_backends[ACCOUNT][REGION].create_queue(f"{stack}-{queue}", tags={})
    for group in _declared("AWS::Scheduler::ScheduleGroup"):
        scheduler_backends[ACCOUNT][REGION].create_schedule_group(f"{stack}-{group}", tags=[])
