"""Requests of administrators for users and roles, and helpers for concurrent requests."""

import base64
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from shared.identity.users import totp
from shared.kernel.clock import now_ms
from tests import concurrency
from tests.faults import AwsFaults, before_first
from tests.gateway import Erp, Response
from tests.integration.write_users import MARIA, PASSWORD
from tests.sampling import is_complete
from tests.stack import Stack

CONCURRENCY = 20 if is_complete() else 8


def run_concurrently[R](act: Callable[[int], R]) -> list[R]:
    """Run an action CONCURRENCY times at the same moment; return the results."""
    return concurrency.run_concurrently(CONCURRENCY, act)


def before_next_commit(
    aws_faults: AwsFaults, act: Callable[[], object]
) -> AbstractContextManager[None]:
    """Run an action just before the next transaction is committed."""
    return aws_faults.faulty(before_first("TransactWriteItems", act))


def create_role(erp: Erp, name: str = "Packers", *permissions: str) -> int:
    """Create a role; return its id."""
    return erp.post("/roles", {"name": name, "permissions": list(permissions)}).id


def create_user(erp: Erp, username: str = "maria.lopez", **body: Any) -> int:
    """Create a user whose password is PASSWORD; return the id."""
    plain = {**MARIA, "roles": [], "username": username, "password": PASSWORD}
    return erp.post("/users", {**plain, **body}).id


def as_user(stack: Stack, number: int, *permissions: str, **claims: Any) -> Erp:
    """Return a caller with a token of the user."""
    token = stack.user_token(sub=str(number), permissions=" ".join(permissions), **claims)
    return Erp(stack.gateway, token)


def code_of(secret: str, periods: int = 0) -> str:
    """Return the code of an app, `periods` from now."""
    step = now_ms() // 1000 // totp.PERIOD
    return totp.code_at(base64.b32decode(secret), step + periods)


def enrol(erp: Erp, user: int | str = "me", key: str | None = None, **body: object) -> Response:
    """Enrol an authenticator app with the password PASSWORD, or the one given."""
    return erp.post(f"/users/{user}/totp", {"password": PASSWORD, **body}, key=key)


def confirm_totp(erp: Erp, user: int, code: str, key: str | None = None) -> Response:
    """Confirm the enrolment of a user."""
    return erp.post(f"/users/{user}/totp/confirm", {"code": code}, key=key)


def audit_entries(erp: Erp, **query: object) -> list[dict[str, Any]]:
    """Return the audit entries, oldest first, without ids, request ids and times."""
    rows = erp.walk("/audit-log", sort="created_at", **query)
    for row in rows:
        del row["id"], row["request_id"], row["created_at"]
    return rows
