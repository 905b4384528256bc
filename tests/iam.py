"""Evaluation of IAM policies, as far as the policies of this service need it.

Supported are Allow statements with wildcards in actions and resources, and conditions on
`dynamodb:LeadingKeys`, `dynamodb:Attributes`, `dynamodb:Select`, entries of the KMS encryption
context, tags of the resource and the service to which a role is passed. Anything else in a policy
raises AssertionError and must be added here.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

_LEADING_KEYS = "dynamodb:LeadingKeys"
_ATTRIBUTES = "dynamodb:Attributes"
_SELECT = "dynamodb:Select"
_ENCRYPTION_CONTEXT = "kms:EncryptionContext:"
_TAG = "aws:ResourceTag/"
_PASSED_TO = "iam:PassedToService"
_KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


@dataclass(frozen=True, slots=True)
class Access:
    """One request of a call to IAM: an action on a resource, with the values of condition keys."""

    action: str
    resource: str
    """ARN."""
    leading_keys: Sequence[str] = ()
    """Partition keys in the call, of items or of an index."""
    encryption_context: Mapping[str, str] = field(default_factory=dict)
    """Encryption context of a KMS call."""
    attributes: Sequence[str] = ()
    """Attributes that the call names, including those in its condition."""
    select: str | None = None
    """Whether a read returns all attributes or those that it names; None of a write."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the resource."""
    passed_to: str | None = None
    """Service to which the call passes a role."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a statement, with resolved values."""

    operator: str
    key: str
    values: Sequence[str]

    def holds(self, access: Access) -> bool:
        """Return whether the access fulfils the condition."""
        if self.key == _LEADING_KEYS:
            return _all_hold(self.operator, self.values, access.leading_keys)
        if self.key == _ATTRIBUTES:
            return _all_hold(self.operator, self.values, access.attributes)
        if self.key == _SELECT:
            assert self.operator == "StringEqualsIfExists", f"cannot evaluate {self.operator}"
            return access.select is None or access.select in self.values
        assert self.operator == "StringEquals", f"cannot evaluate {self.operator}"
        # A missing key never equals a value, as in IAM.
        if self.key.startswith(_TAG):
            return access.tags.get(self.key.removeprefix(_TAG)) in self.values
        if self.key == _PASSED_TO:
            return access.passed_to in self.values
        assert self.key.startswith(_ENCRYPTION_CONTEXT), f"cannot evaluate {self.key}"
        found = access.encryption_context.get(self.key.removeprefix(_ENCRYPTION_CONTEXT))
        return found in self.values


@dataclass(frozen=True, slots=True)
class Statement:
    """An Allow statement, with resolved names."""

    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Sequence[Condition]

    def allows(self, access: Access) -> bool:
        """Return whether the statement allows the access."""
        return (
            _any_like(self.actions, access.action.lower(), str.lower)
            and _any_like(self.resources, access.resource)
            and all(condition.holds(access) for condition in self.conditions)
        )


type Policy = Sequence[Statement]


def allows(policy: Policy, access: Access) -> bool:
    """Return whether any statement allows the access."""
    return any(statement.allows(access) for statement in policy)


def read_policy(statements: Iterable[Mapping[str, Any]], resolve: Callable[[Any], str]) -> Policy:
    """Read the statements of a policy document.

    Args:
        statements: The statements of the document.
        resolve: Returns the value of Ref, Fn::GetAtt, Fn::Sub or plain text.
    """
    return [_statement(statement, resolve) for statement in statements]


def _statement(statement: Mapping[str, Any], resolve: Callable[[Any], str]) -> Statement:
    assert statement.keys() <= _KNOWN, f"cannot evaluate {statement.keys() - _KNOWN}"
    assert statement["Effect"] == "Allow", "cannot evaluate Deny"
    return Statement(
        actions=_resolved(statement["Action"], resolve),
        resources=_resolved(statement["Resource"], resolve),
        conditions=[
            Condition(operator, key, _resolved(values, resolve))
            for operator, tests in statement.get("Condition", {}).items()
            for key, values in tests.items()
        ],
    )


def _resolved(value: Any, resolve: Callable[[Any], str]) -> list[str]:
    return [resolve(each) for each in (value if isinstance(value, list) else [value])]


def _all_hold(operator: str, patterns: Sequence[str], keys: Sequence[str]) -> bool:
    match operator:
        # ForAllValues is also true for an empty set of keys, as in IAM.
        case "ForAllValues:StringLike":
            return all(_any_like(patterns, key) for key in keys)
        case "ForAllValues:StringNotLike":
            return not any(_any_like(patterns, key) for key in keys)
        case "ForAllValues:StringEquals":
            return all(key in patterns for key in keys)
        case _:
            raise AssertionError(f"cannot evaluate {operator}")


def _any_like(
    patterns: Iterable[str], text: str, fold: Callable[[str], str] = lambda pattern: pattern
) -> bool:
    return any(like(fold(pattern), text) for pattern in patterns)


def like(pattern: str, text: str) -> bool:
    """Return whether `text` matches a pattern with IAM's wildcards `*` and `?`."""
    return _regex(pattern).fullmatch(text) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char) or re.escape(char) for char in pattern), re.DOTALL)
