"""Evaluation of IAM policies, as far as the policies of this service need it.

Supported are Allow statements with wildcards in actions and resources, and conditions on
`dynamodb:LeadingKeys`, `dynamodb:Attributes`, `dynamodb:Select`, entries of the KMS encryption
context, tags of the resource and the service to which a role is passed. Anything else in a policy
raises AssertionError and must be added here.

Conditions are evaluated as AWS documents them; see "Conditions of IAM policies" in
docs/operating/aws.md. A key without a value in a request is absent from it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

_ENCRYPTION_CONTEXT = "kms:EncryptionContext:"
_TAG = "aws:ResourceTag/"
_MULTIVALUED = {"dynamodb:LeadingKeys", "dynamodb:Attributes"}
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

    def context(self, key: str) -> Sequence[str]:
        """Return the values of a condition key in the request; none if it is absent."""
        match key:
            case "dynamodb:LeadingKeys":
                return self.leading_keys
            case "dynamodb:Attributes":
                return self.attributes
            case "dynamodb:Select":
                return [self.select] if self.select else []
            case "iam:PassedToService":
                return [self.passed_to] if self.passed_to else []
        for prefix, entries in ((_TAG, self.tags), (_ENCRYPTION_CONTEXT, self.encryption_context)):
            if key.startswith(prefix):
                name = key.removeprefix(prefix)
                return [entries[name]] if name in entries else []
        raise AssertionError(f"cannot evaluate {key}")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a statement, with resolved values."""

    operator: str
    key: str
    values: Sequence[str]

    def holds(self, access: Access) -> bool:
        """Return whether the access fulfils the condition."""
        found = access.context(self.key)
        if self.operator == "Null":
            assert set(self.values) <= {"true", "false"}, f"cannot evaluate {self.values}"
            return ("false" if found else "true") in self.values
        quantifier, _, name = self.operator.rpartition(":")
        test = _TESTS[name.removesuffix(_IF_EXISTS)]
        matching = [test(self.values, value) for value in found]
        match quantifier:
            case "ForAllValues":  # true without the key
                return all(matching)
            case "ForAnyValue":  # false without the key
                return any(matching)
            case _:
                assert not quantifier, f"cannot evaluate {self.operator}"
                assert self.key not in _MULTIVALUED, f"{self.key} needs a set operator"
                if not found:
                    return name.endswith(_IF_EXISTS) or name.startswith("StringNot")
                (only,) = matching
                return only


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


def unused(policy: Policy, accesses: Sequence[Access]) -> Iterator[str]:
    """Yield the actions, resources and values of conditions that none of the accesses needs.

    A value of a condition that excludes others is no right.
    """
    for statement in policy:
        allowed = [access for access in accesses if statement.allows(access)]
        name = f"{statement.actions} on {statement.resources}"
        for action in statement.actions:
            if not any(access.action == action for access in allowed):
                yield f"{name}: {action}"
        for resource in statement.resources:
            if not any(like(resource, access.resource) for access in allowed):
                yield f"{name}: {resource}"
        for condition in statement.conditions:
            if condition.operator.rpartition(":")[2] not in {"StringEquals", "StringLike"}:
                continue
            found = {value for access in allowed for value in access.context(condition.key)}
            for value in condition.values:
                if not any(like(value, one) for one in found):
                    yield f"{name}: {condition.key} {value}"


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


_IF_EXISTS = "IfExists"
_TESTS: Mapping[str, Callable[[Sequence[str], str], bool]] = {
    "StringEquals": lambda wanted, value: value in wanted,
    "StringNotEquals": lambda wanted, value: value not in wanted,
    "StringLike": _any_like,
    "StringNotLike": lambda patterns, value: not _any_like(patterns, value),
}
"""Operator → whether one value of the request matches the values of the policy."""
