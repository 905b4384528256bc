"""What IAM policies allow, evaluated as far as this service's policies go.

Understood are Allow statements with wildcards in actions and resources, and conditions on
`dynamodb:LeadingKeys`. Whatever else a policy says fails the evaluation: it is better to
extend it here than to guess.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_LEADING_KEYS = "dynamodb:LeadingKeys"
_KNOWN = {"Sid", "Effect", "Action", "Resource", "Condition"}


@dataclass(frozen=True, slots=True)
class Access:
    """One thing that a call asks IAM for."""

    action: str
    resource: str
    """ARN."""
    leading_keys: Sequence[str] = ()
    """Partition keys that the call names, of items or of entries of an index."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An Allow statement, its names resolved."""

    sid: str
    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Mapping[str, Sequence[str]]
    """Operator (ForAllValues:StringLike …) → patterns of the leading keys."""

    def allows(self, access: Access) -> bool:
        """Tell whether the statement covers all of the access."""
        return (
            _any_like(self.actions, access.action.lower(), str.lower)
            and _any_like(self.resources, access.resource)
            and all(
                _holds(operator, patterns, access.leading_keys)
                for operator, patterns in self.conditions.items()
            )
        )


type Policy = Sequence[Statement]


def allows(policy: Policy, access: Access) -> bool:
    """Tell whether any statement allows the access."""
    return any(statement.allows(access) for statement in policy)


def read_policy(statements: Iterable[Mapping[str, Any]], resolve: Callable[[Any], str]) -> Policy:
    """Read the statements of a policy document.

    Args:
        statements: As in the document.
        resolve: Text of a name (Ref, Fn::GetAtt, Fn::Sub or plain text).
    """
    return [_statement(statement, resolve) for statement in statements]


def _statement(statement: Mapping[str, Any], resolve: Callable[[Any], str]) -> Statement:
    assert statement.keys() <= _KNOWN, f"cannot evaluate {statement.keys() - _KNOWN}"
    assert statement["Effect"] == "Allow", "cannot evaluate Deny"
    conditions: dict[str, Sequence[str]] = {}
    for operator, tests in statement.get("Condition", {}).items():
        assert tests.keys() == {_LEADING_KEYS}, f"cannot evaluate {tests.keys()}"
        conditions[operator] = _resolved(tests[_LEADING_KEYS], resolve)
    return Statement(
        sid=statement.get("Sid", ""),
        actions=_resolved(statement["Action"], resolve),
        resources=_resolved(statement["Resource"], resolve),
        conditions=conditions,
    )


def _resolved(value: Any, resolve: Callable[[Any], str]) -> list[str]:
    return [resolve(each) for each in (value if isinstance(value, list) else [value])]


def _holds(operator: str, patterns: Sequence[str], keys: Sequence[str]) -> bool:
    match operator:
        # ForAllValues also holds when there is no key at all, as it does in IAM.
        case "ForAllValues:StringLike":
            return all(_any_like(patterns, key) for key in keys)
        case "ForAllValues:StringEquals":
            return all(key in patterns for key in keys)
        case _:
            raise AssertionError(f"cannot evaluate {operator}")


def _any_like(
    patterns: Iterable[str], text: str, fold: Callable[[str], str] = lambda pattern: pattern
) -> bool:
    return any(like(fold(pattern), text) for pattern in patterns)


def like(pattern: str, text: str) -> bool:
    """Compare with IAM's wildcards: `*` any characters, `?` one."""
    return _regex(pattern).fullmatch(text) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char) or re.escape(char) for char in pattern), re.DOTALL)
