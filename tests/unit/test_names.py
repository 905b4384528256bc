"""Names that contain the stack name: they have room for it, and do not block another stack."""

import re
import tomllib
from typing import Any

import pytest

from shared.identity.tenancy.tenant import SLUG
from tests.cases import each_case
from tests.expanded_template import expanded_of
from tests.template import PATH, Template
from tools.deploy_parameters import stack_name_problem

TEMPLATE = Template({})
_RANDOM = len("-RA330IH5SBL2")
"""Characters that CloudFormation adds to the names that it generates."""


def _is_accepted(stack: str) -> bool:
    """Return whether the template accepts the name of a stack."""
    (check,) = TEMPLATE.resources("AWS::SSM::Parameter").values()
    between, split = check["Value"]["Fn::Join"]
    delimiter, text = split["Fn::Split"]
    parts = Template({"AWS::StackName": stack}).text(text).split(delimiter)
    return bool(re.search(check["AllowedPattern"], between.join(parts)))


def _limit() -> int:
    """Return the length of the longest stack name that the template accepts."""
    return max(length for length in range(129) if _is_accepted("s" * length))


def test_a_longer_stack_name_is_refused() -> None:
    assert _limit() == 24
    assert _is_accepted("stowage-prod")
    assert not _is_accepted("s" * 128)
    assert not _is_accepted("")


@each_case(
    ("stack", "accepted"),
    [
        ("shop", True),
        ("shop-eu", True),
        ("tenant", True),
        ("tenant-eu", True),
        ("shop-tenants", True),
        ("a-tenant", False),
        ("shop-tenant", False),
        ("shop-tenant-x", False),
        ("a-tenant-b-tenant-c", False),
        ("a-tenant-tenant-b", False),
    ],
)
def test_no_stack_has_resources_with_the_names_of_tenant_tables_of_another(
    stack: str,
    accepted: bool,  # noqa: FBT001
) -> None:
    """The policies of a stack `shop` allow the tables `shop-tenant-*`."""
    assert _is_accepted(stack) == accepted
    assert (stack_name_problem(stack) is None) == accepted
    if accepted:
        for own in ("ControlTable-1A2B", "OutboxTable-1A2B", "tenant-acme"):
            for other in {stack[:length] for length in range(1, len(stack))}:
                assert not f"{stack}-{own}".startswith(f"{other}-tenant-"), other


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
    assert all(_is_accepted(name) for name in names)


@pytest.mark.parametrize("kind", ["AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::DynamoDB::Table"])
def test_what_may_outlive_the_stack_has_a_generated_name(kind: str) -> None:
    """A function writes its last lines after its log group was deleted, and so creates it again."""
    fixed = {"LogGroupName", "RoleName", "TableName"}
    for name, one in expanded_of(kind).items():
        assert not fixed & one["Properties"].keys(), name
