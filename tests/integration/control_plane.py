"""A deployment on moto without tenants: control table, outbox, keys and role."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from moto import mock_aws

from shared.kernel import aws
from tests import fast_moto, faults
from tests.faults import AwsFaults
from tests.snapshot import Snapshot
from tests.stack import (
    ACCOUNT,
    CREDENTIALS,
    NAME,
    REGION,
    STACK_ID,
    clear_caches_except_clients,
    create_table,
)

ENVIRONMENT = {
    **CREDENTIALS,
    "STACK_NAME": NAME,
    "STACK_ID": STACK_ID,
    "CONTROL_TABLE": "stowage-control",
    "OUTBOX_TABLE": "stowage-outbox",
    "TENANT_DATA_ROLE_ARN": f"arn:aws:iam::{ACCOUNT}:role/stowage-data",
    "DOCS_BASE": "https://docs.stowage.test",
}


@contextmanager
def deployed() -> Iterator[AwsFaults]:
    """Deploy a stack without tenants; yield the recorder of its AWS calls."""
    snapshot, environment = _deployment()
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, environment)
        snapshot.restore()
        yield faults.install(monkeypatch)
    clear_caches_except_clients()


@cache
def _deployment() -> tuple[Snapshot, dict[str, str]]:
    """Deploy once per process; the environment of the functions names its keys."""
    with mock_aws(), pytest.MonkeyPatch.context() as monkeypatch:
        _enter(monkeypatch, ENVIRONMENT)
        create_table("ControlTable", ENVIRONMENT["CONTROL_TABLE"])
        create_table("OutboxTable", ENVIRONMENT["OUTBOX_TABLE"])
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
    clear_caches_except_clients()
