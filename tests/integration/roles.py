"""The permissions that the template grants to functions, and to the roles that they assume."""

import json
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tests.aws_calls import Arns, Made
from tests.expanded_template import expanded_of, statements_of
from tests.iam import Access, Policy, Statement, allows, like, read_policy
from tests.stack import ACCOUNT, REGION, Stack
from tests.template import Template

ARNS = Arns(REGION, ACCOUNT)


USER_KEYS = (
    "user#000000000001",
    "username#ana.ruiz",
    "role#000000000001",
    "role_name#packers",
    "role_users#000000000001",
    "administrators",
    "count#user",
    "count#role",
)
"""Partition keys of users, roles and administrators; see docs/internals/storage.md."""


class Roles:
    """The permissions that the template grants, with the names of one deployment."""

    def __init__(self, stack: Stack) -> None:
        names = {**stack.template._names, "AWS::Partition": "aws"}
        template = Template(names)
        for table in template.resources("AWS::DynamoDB::Table"):
            names[f"{table}.Arn"] = ARNS.table(names[table])
            names[f"{table}.StreamArn"] = f"{ARNS.table(names[table])}/stream/1"
        for logs in template.resources("AWS::Logs::LogGroup"):
            names[f"{logs}.Arn"] = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{logs}:*"
        for key in template.resources("AWS::KMS::Key"):
            names[f"{key}.Arn"] = ARNS.key(names[key])
        for queue in template.resources("AWS::SQS::Queue"):
            names[f"{queue}.Arn"] = ARNS.queue(names[queue])
        for bucket in template.resources("AWS::S3::Bucket"):
            names[f"{bucket}.Arn"] = f"arn:aws:s3:::{names[bucket]}"
        self._template = template
        roles = {name: one["Properties"] for name, one in expanded_of("AWS::IAM::Role").items()}
        self.functions: dict[str, Policy] = {}
        self.role_names: dict[str, str] = {}
        for name, function in expanded_of("AWS::Lambda::Function").items():
            handler, role = function["Properties"]["Handler"], f"{name}Role"
            named = function["Properties"]["Role"]
            assert named == {"Fn::GetAtt": [role, "Arn"]}, "names are trusted"
            self.functions[handler] = self._rights(roles.pop(role))
            self.role_names[handler] = f"{names['AWS::StackName']}-{role}-1A2B3C4D5E6F"
        self._data_roles = roles
        self._arns = {name: names[f"{name}.Arn"] for name in self._data_roles}
        self.data_roles = {name: self._rights(role) for name, role in self._data_roles.items()}
        """Logical id of a data role → its policy."""

    @classmethod
    @lru_cache(2)
    def of(cls, stack: Stack) -> "Roles":
        """Read the permissions once per process."""
        return cls(stack)

    def lacking(self, removed: str) -> "Roles":
        """Return the permissions without an action or a value of a condition, in all policies."""
        fewer = copy(self)
        fewer.functions = _without(self.functions, removed)
        fewer.data_roles = _without(self.data_roles, removed)
        return fewer

    def _rights(self, role: Mapping[str, Any]) -> Policy:
        return read_policy(statements_of(role), self._template.text)

    def functions_assuming(self, role: str) -> set[str]:
        """Return the handlers that may assume a data role and are trusted by it."""
        asking = Access("sts:AssumeRole", self._arns[role])
        may = {handler for handler, policy in self.functions.items() if allows(policy, asking)}
        return {handler for handler in may if self._trusts(role, handler)}

    def _trusts(self, role: str, handler: str) -> bool:
        (statement,) = self._data_roles[role]["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"].keys() == {"AWS"}
        (patterns,) = statement["Condition"]["ArnLike"].values()
        arn = f"arn:aws:iam::{ACCOUNT}:role/{self.role_names[handler]}"
        texts = patterns if isinstance(patterns, list) else [patterns]
        return any(like(self._template.text(pattern), arn) for pattern in texts)

    def rights(self, made: Made) -> Sequence[Policy]:
        """Return the policies that must each allow the call."""
        if made.session is None:
            return [self.functions[made.handler]]
        (role,) = (name for name, arn in self._arns.items() if arn == made.session.role)
        return [self.data_roles[role], _session_policy(made.session.policy)]

    def denied(self, calls: Sequence[Made]) -> list[tuple[str, Access]]:
        """Return handler and access of everything in the calls that is denied."""
        denied = []
        for made in calls:
            rights = self.rights(made)
            denied += [
                (made.handler, access)
                for access in made.accesses
                if not all(allows(policy, access) for policy in rights)
            ]
        return denied

    def assert_no_access_to_other_tenant(self, calls: Sequence[Made]) -> None:
        """Assert that only sessions have access to tenant data, and none to the data of beta."""
        in_sessions = [made for made in calls if made.session]
        assert in_sessions, "no call accesses the data of a tenant"
        for made in in_sessions:
            for access in made.accesses:
                assert not allows(self.functions[made.handler], access), "allowed without a session"
                stolen = replace(made, accesses=(_of_neighbour(access),))
                assert self.denied([stolen]), f"acme's session may {stolen.accesses}"


@lru_cache(64)
def _session_policy(text: str) -> Policy:
    """Read a session policy, which many calls have in common."""
    return read_policy(json.loads(text)["Statement"], str)


def concerns(access: Access, name: str) -> bool:
    """Return whether an access uses this action, leading key, attribute or value of a condition."""
    named = {
        access.action,
        *access.encryption_context.values(),
        *access.attributes,
        *access.tags.values(),
        access.passed_to,
    }
    return name in named or any(like(name, key) for key in access.leading_keys)


def _of_neighbour(access: Access) -> Access:
    """Return the same access with the names of beta."""
    if access.resource.endswith("-OutboxTable"):
        assert all(re.fullmatch("acme#[0-9a-f]", key) for key in access.leading_keys)
        return replace(access, leading_keys=("beta#0",))
    if access.resource.startswith("arn:aws:s3:::"):
        assert "/acme/" in access.resource
        return replace(access, resource=access.resource.replace("/acme/", "/beta/"))
    if "-ControlTable" in access.resource:
        keys = tuple(
            re.sub(r"\bacme\b|(?<=_)acme(?=_)", "beta", key) for key in access.leading_keys
        )
        assert keys != access.leading_keys
        return replace(access, leading_keys=keys)
    assert "-tenant-acme" in access.resource
    return replace(access, resource=access.resource.replace("-tenant-acme", "-tenant-beta"))


def _without(policies: Mapping[str, Policy], lacking: str) -> dict[str, Policy]:
    return {
        name: [_lacking(statement, lacking) for statement in policy]
        for name, policy in policies.items()
    }


def _lacking(statement: Statement, lacking: str) -> Statement:
    return replace(
        statement,
        actions=[each for each in statement.actions if each != lacking],
        conditions=[
            replace(one, values=[each for each in one.values if each != lacking])
            for one in statement.conditions
        ],
    )
