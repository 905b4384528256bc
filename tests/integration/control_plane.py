"""A deployment on moto without tenants: control table, outbox, keys and role."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from moto import mock_aws

from shared.identity.auth import signing
from shared.identity.auth.key_ring import key_ring
from shared.identity.tenancy import access, directory
from shared.kernel import aws
from shared.kernel.config import config
from tests import fast_moto, faults
from tests.faults import AwsFaults
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

OUTBOX_TABLE: dict[str, Any] = {
    "TableName": "stowage-outbox",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "S"},
    ],
}

ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "STACK_NAME": "stowage",
    "STACK_ID": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/stowage/0a1b",
    "CONTROL_TABLE": "stowage-control",
    "OUTBOX_TABLE": "stowage-outbox",
    "TENANT_DATA_ROLE_ARN": f"arn:aws:iam::{ACCOUNT}:role/stowage-data",
    "DOCS_BASE": "https://docs.stowage.test",
}


def clear_caches() -> None:
    """Clear all caches, as in a new execution environment."""
    config.cache_clear()
    key_ring.clear()
    signing.public_key.cache_clear()
    directory.directory.clear()
    access.tenant_access.clear()


@contextmanager
def deployed() -> Iterator[AwsFaults]:
    """Deploy a stack without tenants; yield the recorder of its AWS calls."""
    snapshot, environment = _deployment()
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, environment)
        snapshot.restore()
        yield faults.install(monkeypatch)
    clear_caches()


@cache
def _deployment() -> tuple[Snapshot, dict[str, str]]:
    """Deploy once per process; the environment of the functions names its keys."""
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, ENVIRONMENT)
        for table in (CONTROL_TABLE, OUTBOX_TABLE):
            aws.client("dynamodb").create_table(**table)
        kms = aws.client("kms")
        keys = [kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY") for _ in range(2)]
        hash_key = kms.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
        sealing_key = kms.create_key(KeyUsage="ENCRYPT_DECRYPT")
        environment = {
            **ENVIRONMENT,
            "SIGNING_KEY_IDS": ",".join(key["KeyMetadata"]["KeyId"] for key in keys),
            "SECRET_HASH_KEY_ID": hash_key["KeyMetadata"]["KeyId"],
            "SEALING_KEY_ID": sealing_key["KeyMetadata"]["KeyId"],
        }
        return Snapshot.take(ACCOUNT, REGION), environment


def _enter(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """Start as a new execution environment."""
    fast_moto.install(monkeypatch)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    clear_caches()
