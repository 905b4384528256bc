"""The office of a company: users and roles as administrators make them over HTTP."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Barrier
from typing import Any

from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp
from tests.integration.write_users import MARIA, PASSWORD
from tests.stack import Stack

CONCURRENCY = 20


def run_concurrently[R](act: Callable[[int], R]) -> list[R]:
    """Do it twenty times at the same instant."""
    barrier = Barrier(CONCURRENCY)

    def worker(number: int) -> R:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(CONCURRENCY) as workers:
        return list(workers.map(worker, range(CONCURRENCY)))


def at_the_last_moment(
    aws_faults: AwsFaults, act: Callable[[], object]
) -> AbstractContextManager[None]:
    """Let something happen just before the next transaction is committed."""
    left = [act]

    def meanwhile(call: Call, forward: Forward) -> Answer:
        if call.operation == "TransactWriteItems" and left:
            left.pop()()
        return forward()

    return aws_faults.faulty(meanwhile)


def create_role(erp: Erp, name: str = "Packers", *permissions: str) -> int:
    """Create a role."""
    answer = erp.post("/roles", {"name": name, "permissions": list(permissions)})
    assert answer.status == 201, answer.text
    return int(answer.data["id"])


def create_user(erp: Erp, username: str = "maria.lopez", **body: Any) -> int:
    """Create a user whose password is PASSWORD."""
    plain = {**MARIA, "roles": [], "username": username, "password": PASSWORD}
    answer = erp.post("/users", {**plain, **body})
    assert answer.status == 201, answer.text
    return int(answer.data["id"])


def as_user(stack: Stack, number: int, *permissions: str, **claims: Any) -> Erp:
    """Whoever has the token of a user."""
    token = stack.user_token(sub=str(number), permissions=" ".join(permissions), **claims)
    return Erp(stack.gateway, token)


def log_of(erp: Erp, **query: object) -> list[dict[str, Any]]:
    """Entries of the audit log, the oldest first, without what differs each time."""
    rows = erp.walk("/audit-log", sort="created_at", **query)
    for row in rows:
        del row["id"], row["request_id"], row["created_at"]
    return rows
