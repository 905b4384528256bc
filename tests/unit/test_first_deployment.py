"""The first deployment: what a failed creation of the stack leaves, and what blocks the next one.

CloudFormation then deletes what it has created, in the state ROLLBACK_IN_PROGRESS.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.expanded_template import expanded, expanded_of
from tests.template import PATH, Template

_STORES = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key")
_NAMES = {"AliasName", "BucketName", "LogGroupName", "Name", "QueueName", "RoleName", "TableName"}
_WITH_THEIR_FUNCTION = "AWS::Lambda::Version"
"""SAM retains versions, but they disappear with their function."""


def _retained() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the resources that are not deleted together with the stack."""
    for name, one in expanded().items():
        deleted = one.get("DeletionPolicy", "Delete") == "Delete"
        if not deleted and one["Type"] != _WITH_THEIR_FUNCTION:
            yield name, one


def test_a_failed_creation_removes_everything() -> None:
    retained = dict(_retained())
    assert {one["Type"] for one in retained.values()} == set(_STORES)
    for name, one in retained.items():
        assert one["DeletionPolicy"] == "RetainExceptOnCreate", name


@pytest.mark.parametrize("kind", _STORES)
def test_stores_are_retained_in_every_other_case(kind: str) -> None:
    stores = expanded_of(kind)
    assert stores
    for name, one in stores.items():
        assert one["DeletionPolicy"] == "RetainExceptOnCreate", name
        assert one["UpdateReplacePolicy"] == "Retain", name


def test_no_table_refuses_to_be_removed() -> None:
    """`operations/tenant_tables.py` enables deletion protection, before the first tenant exists."""
    for name, table in Template({}).resources("AWS::DynamoDB::Table").items():
        assert "DeletionProtectionEnabled" not in table, name


def test_what_is_retained_has_a_generated_name() -> None:
    """A fixed one would block the next stack of the same name."""
    for name, one in _retained():
        assert not _NAMES & one["Properties"].keys(), name


def test_deployments_roll_back_and_delete_no_stack() -> None:
    """With other settings a failed stack stays half made, or its events are lost with it."""
    configuration = tomllib.loads(PATH.with_name("samconfig.toml").read_text())
    for environment in ("default", "prod"):
        deploy = configuration[environment]["deploy"]["parameters"]
        assert not {"on_failure", "disable_rollback"} & deploy.keys(), environment
