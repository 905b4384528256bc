"""A deployment on moto as the control plane sees it: control table, keys, role."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from botocore.session import Session
from moto import mock_aws

from shared import aws
from shared.auth import keys, signing
from shared.config import config
from shared.tenancy import access, directory
from tests import fast_moto
from tests.snapshot import Snapshot

REGION = "eu-west-1"
ACCOUNT = "123456789012"
ADDRESS = "https://api.stowage.test/api/v1"

CONTROL_TABLE: dict[str, Any] = {
    "TableName": "stowage-control",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "tenant", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_tenant",
            "KeySchema": [
                {"AttributeName": "tenant", "KeyType": "HASH"},
                {"AttributeName": "pk", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}

ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "STACK_NAME": "stowage",
    "CONTROL_TABLE": "stowage-control",
    "OUTBOX_TABLE": "stowage-outbox",
    "TENANT_DATA_ROLE_ARN": f"arn:aws:iam::{ACCOUNT}:role/stowage-data",
    "DOCS_BASE": "https://docs.stowage.test",
}

type Hook = Callable[[str, str], None]


class Wire:
    """Every AWS call that the code under test makes, at the level of botocore."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.hooks: list[Hook] = []

    def before(self, model: Any, **_: Any) -> None:
        self.calls.append(model.name)
        for hook in self.hooks:
            hook("before", model.name)

    def after(self, model: Any, **_: Any) -> None:
        for hook in self.hooks:
            hook("after", model.name)

    @contextmanager
    def recorded(self) -> Iterator[list[str]]:
        """The names of the calls made inside the block."""
        start, seen = len(self.calls), list[str]()
        yield seen
        seen.extend(self.calls[start:])

    @contextmanager
    def hooked(self, hook: Hook) -> Iterator[None]:
        """Call `hook(moment, operation)` before and after each AWS call of the block."""
        self.hooks.append(hook)
        try:
            yield
        finally:
            self.hooks.remove(hook)


class Killed(BaseException):
    """The process dies here; nothing may catch it."""


def killer(at: int) -> Hook:
    """A hook that dies at the `at`-th moment, before or after a call."""
    moments = Counter[str]()

    def hook(moment: str, operation: str) -> None:
        if moments.total() == at:
            raise Killed(f"{moment} {operation}")
        moments[moment] += 1

    return hook


_current = Wire()
"""The wire of the running test; botocore's hooks are set once, since sessions are dear."""


def _before(**event: Any) -> None:
    _current.before(**event)


def _after(**event: Any) -> None:
    _current.after(**event)


@cache
def _listen(session: Session) -> None:
    """Have every client of the session report to the current wire."""
    aws.client.cache_clear()  # clients made before do not
    session.register("before-call", _before)
    session.register("after-call", _after)


def forget_everything() -> None:
    """What a new execution environment knows: nothing."""
    config.cache_clear()
    keys.key_ring.forget()
    signing.public_key.cache_clear()
    directory.directory.forget()
    access.access.forget()


@contextmanager
def deployed() -> Iterator[Wire]:
    """A deployed stack without tenants."""
    first_day, environment = _first_day()
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, environment)
        _listen(aws.session())
        first_day.restore()
        _current.calls.clear()
        yield _current
    forget_everything()


@cache
def _first_day() -> tuple[Snapshot, dict[str, str]]:
    """Deploy once per process; the environment of the functions names its keys."""
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, ENVIRONMENT)
        aws.client("dynamodb").create_table(**CONTROL_TABLE)
        kms = aws.client("kms")
        keys = [kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY") for _ in range(2)]
        hash_key = kms.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
        environment = {
            **ENVIRONMENT,
            "SIGNING_KEY_IDS": ",".join(key["KeyMetadata"]["KeyId"] for key in keys),
            "SECRET_HASH_KEY_ID": hash_key["KeyMetadata"]["KeyId"],
        }
        return Snapshot.take(ACCOUNT, REGION), environment


def _enter(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """Begin as a new execution environment."""
    fast_moto.install(monkeypatch)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    forget_everything()
