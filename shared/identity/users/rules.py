"""Decisions about users and roles on plain data."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from shared.identity.audit.models import AuditAction, changed_values
from shared.identity.users.models import User
from shared.kernel.errors import Problem
from shared.kernel.validation import valid_entries

_BOOKKEEPING = {"updated_at", "tokens_from"}


def unknown_role_problems(
    role_ids: Sequence[int | None] | None, existing_ids: Container[int]
) -> list[Problem]:
    """Return a problem for each role that does not exist; invalid entries are None."""
    return [
        Problem(f"roles.{at}", f"there is no role {number}")
        for at, number in valid_entries(role_ids)
        if number not in existing_ids
    ]


def role_count_changes(before: Iterable[int], after: Iterable[int]) -> Mapping[int, int]:
    """Return role id → 1 for an added role, -1 for a removed role."""
    had, has = set(before), set(after)
    return {role: 1 if role in has else -1 for role in sorted(had ^ has)}


def field_changes(before: BaseModel, after: BaseModel) -> Mapping[str, tuple[Any, Any]]:
    """Return field → (before, after) of the changed fields, for the audit log."""
    return changed_values(*(one.model_dump(exclude=_BOOKKEEPING) for one in (before, after)))


def audit_action(before: User, after: User) -> AuditAction:
    """Return the action of the audit entry for a changed user."""
    if before.is_active == after.is_active:
        return "user.changed"
    return "user.enabled" if after.is_active else "user.disabled"
