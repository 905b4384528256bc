"""The declarations of all routes, read from `functions/*/app.py`."""

import importlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

from shared.http.api_handler import ApiHandler
from shared.http.routes import Idempotency, Operation, resource_path
from shared.identity.tenancy.tenant import MODULE_ERRORS
from shared.kernel.errors import CODES
from tools.action_tables import SUBJECTS

ROOT = Path(__file__).resolve().parents[2]

_COMMON_CODES = (
    "bad_request",
    "unauthenticated",
    "feature_not_in_plan",
    "tenant_suspended",
    "tenant_cancelled",
    "tenant_moved",
    "payload_too_large",
    "rate_limited",
    "internal_error",
    "service_unavailable",
)
"""Error codes of every route that needs a token."""


def operations() -> list[Operation]:
    """Return all operations: handlers by name, routes in the order of declaration."""
    found: list[Operation] = []
    for path in sorted((ROOT / "functions").glob("*/app.py")):
        handler = importlib.import_module(f"functions.{path.parent.name}.app").lambda_handler
        if isinstance(handler, ApiHandler):
            found += handler.operations
    return found


_VERBS: Mapping[str, str] = {
    "GET": "get", "POST": "create", "PUT": "put", "PATCH": "update", "DELETE": "delete",
}  # fmt: skip

_ACTIONS = {
    "acknowledge", "allocate", "cancel", "close", "commit", "complete", "confirm", "dispatch",
    "end", "execute", "extend", "finalize", "finish", "plan", "post", "receive", "recount",
    "recover", "redeliver", "release", "reset", "revert", "rotate", "start", "synchronize", "test",
    "undo",
}  # fmt: skip
"""Verbs with which the last part of a path begins, as in `/waves/{id}/close`."""


def operation_id(operation: Operation) -> str:
    """Return the operation id: a verb, and the resource of the path.

    `list` and `get` read, `create`, `put`, `update` and `delete` write. The last part of a path may
    itself begin with a verb: `POST /webhooks/{id}/rotate-secret` is `rotate_webhook_secret`.
    """
    parts = operation.path.strip("/").replace(".", "-").split("/")
    words = [part.replace("-", "_") for part in parts if not part.startswith("{")]
    if operation.is_list or (operation.responds_with_list and not operation.writes):
        return "_".join(["list", *map(_singular, words[:-1]), words[-1]])
    verb, _, rest = words[-1].partition("_")
    if verb in _ACTIONS:
        return "_".join(filter(None, [verb, *map(_singular, words[:-1]), rest]))
    if operation.responds_with_list:
        return "_".join(["create", words[0]])
    return "_".join([_VERBS[operation.method], *map(_singular, words)])


def _singular(noun: str) -> str:
    """Return the name of one resource of a collection; what is read as a whole keeps its name."""
    if noun in {"settings", "labels"}:
        return noun
    if noun.endswith("ies"):
        return noun.removesuffix("ies") + "y"
    return noun.removesuffix("s")


def description(operation: Operation) -> str:
    """Return the docstring of the handler, the declared description and the access rules."""
    handler = inspect.getdoc(operation.handler) or ""
    users = f"the permission {permissions(operation)}" if operation.permission else "a valid token"
    clients = f"the scope `{operation.scope}`" if operation.scope else "a valid token"
    who = f"Integration clients need {clients}, users {users}."
    if operation.allows_self:
        who += " Users do not need the permission for their own user."
    texts = (handler, _states(operation), operation.description, who)
    return "\n\n".join(text for text in texts if text)


def permissions(operation: Operation) -> str:
    """Return the permissions of which a user needs one, as text."""
    named = [f"`{name}`" for name in (operation.permission, *operation.other_permissions)]
    return " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _states(operation: Operation) -> str:
    """Return the statuses from which an action starts, and those to which it leads."""
    name = f"{operation.method} {operation.path}"
    for subject in SUBJECTS:
        for action in subject.table.actions.values():
            if subject.operation(action.name) != name:
                continue
            starts = _listed(action.starts)
            if not operation.path.startswith(subject.path):
                return f"The {_singular(subject.path.strip('/')).replace('-', ' ')} is {starts}."
            to = f"leads to {_listed(action.leads_to)}" if action.leads_to else "the status stays"
            return f"From {starts}; {to}."
    return ""


def _listed(statuses: Sequence[str]) -> str:
    *others, last = [f"`{status}`" for status in statuses]
    return f"{', '.join(others)} or {last}" if others else last


def honours_if_match(operation: Operation) -> bool:
    """Return whether the operation supports If-Match: a GET shows the state before the change."""
    shown = {one.path for one in operations() if one.method == "GET" and not one.is_list}
    return operation.writes and not shown.isdisjoint(
        (operation.path, resource_path(operation.path))
    )


def sends_etag(operation: Operation) -> bool:
    """Return whether a success has the header ETag: every read, and writes that show a resource."""
    if not operation.writes:
        return True
    reads = (one for one in operations() if not one.writes)
    return any(operation.shows_as(read) for read in reads)


def codes(operation: Operation) -> list[str]:
    """Return the error codes of the operation, in the order of the error table."""
    applies = {
        "idempotency_key_required": operation.idempotency is Idempotency.REQUIRED,
        "missing_scope": bool(operation.scope),
        "forbidden": bool(operation.permission),
        "client_not_allowed": not operation.allows_mobile,
        "not_found": "{" in operation.path or operation.module is not None,
        "duplicate_in_flight": operation.writes,
        "idempotency_key_reused": operation.writes,
        "stale_state": honours_if_match(operation),
        "validation_failed": operation.body is not None or operation.parameters is not None,
        MODULE_ERRORS.get(operation.module or "", ""): True,
    }
    named = {*_COMMON_CODES, *operation.errors, *(code for code, does in applies.items() if does)}
    return [code for code in CODES if code in named]
