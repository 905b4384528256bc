"""Names that contain the stack name: they have room for it, and do not block another stack."""

import re
import tomllib
from typing import Any

import pytest

from shared.identity.tenancy.tenant import SLUG
from tests.expanded_template import expanded_of
from tests.template import PATH, Template

TEMPLATE = Template({})
_RANDOM = len("-RA330IH5SBL2")
"""Characters that CloudFormation adds to the names that it generates."""


def _pattern() -> str:
    (check,) = TEMPLATE.resources("AWS::SSM::Parameter").values()
    assert check["Value"] == {"Ref": "AWS::StackName"}
    pattern: str = check["AllowedPattern"]
    return pattern


def _limit() -> int:
    """Return the length of the longest stack name that the template accepts."""
    return max(length for length in range(129) if re.search(_pattern(), "s" * length))


def test_a_longer_stack_name_is_refused() -> None:
    assert _limit() == 24
    assert re.search(_pattern(), "stowage-prod")
    assert not re.search(_pattern(), "s" * 128)


def test_role_names_are_not_shortened() -> None:
    """Policies trust roles by the beginning of their names."""
    roles = expanded_of("AWS::IAM::Role")
    assert len(roles) > 20
    longest = max(roles, key=len)
    assert _limit() + len(f"-{longest}") + _RANDOM <= 64, longest


def test_names_of_the_template_fit() -> None:
    longest = {"AWS::Scheduler::ScheduleGroup": ("Name", 64), "AWS::KMS::Alias": ("AliasName", 256)}
    for kind, (field, most) in longest.items():
        for name, one in TEMPLATE.resources(kind).items():
            text = Template({"AWS::StackName": "s" * _limit()}).text(one[field])
            assert len(text) <= most, name


def test_names_of_tenant_tables_fit() -> None:
    slug = max((length for length in range(255) if re.fullmatch(SLUG, "t" * length)), default=0)
    assert slug == 32
    assert _limit() + len("-tenant-") + slug <= 255


def test_stack_names_of_the_configuration_are_accepted() -> None:
    configuration: dict[str, Any] = tomllib.loads(PATH.with_name("samconfig.toml").read_text())
    names = [
        commands["global"]["parameters"]["stack_name"]
        for commands in configuration.values()
        if isinstance(commands, dict)
    ]
    assert len(names) == 2
    assert all(re.search(_pattern(), name) for name in names)


@pytest.mark.parametrize("kind", ["AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::DynamoDB::Table"])
def test_what_may_outlive_the_stack_has_a_generated_name(kind: str) -> None:
    """A function writes its last lines after its log group was deleted, and so creates it again."""
    fixed = {"LogGroupName", "RoleName", "TableName"}
    for name, one in expanded_of(kind).items():
        assert not fixed & one["Properties"].keys(), name
