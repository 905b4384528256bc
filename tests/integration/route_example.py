"""The definition of an example of a write route."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from shared.identity.auth import tokens
from shared.identity.tenancy import revocations
from tests.gateway import Erp, Form
from tests.stack import Stack, prepare_once

type Values = Mapping[str, object]
type Prepare = Callable[[Erp], Values]


def prepared_once(prepare: Prepare) -> Prepare:
    """Let other preparations begin with the result of this one, which runs once per process."""

    @wraps(prepare)
    def prepared(erp: Erp) -> Values:
        return prepare_once(erp, prepare, lambda: prepare(erp))

    return prepared


def _no_values(_erp: Erp) -> Values:
    return {}


def creation(
    path: str, body: object = None, *, after: Prepare = _no_values, key: str | None = None
) -> Prepare:
    """Return a preparation that creates a resource by POST, and returns its id.

    The values that `after` returns are the fields of the path.
    """

    def prepare(erp: Erp) -> Values:
        return {"id": erp.post(path.format(**after(erp)), body, key=key).ok(201)["id"]}

    return prepare


def step(path: str, body: object = None, *, after: Prepare, status: int = 200) -> Prepare:
    """Return a preparation that sends POST, and returns the values that `after` returns."""

    def prepare(erp: Erp) -> Values:
        values = after(erp)
        erp.post(path.format(**values), body).ok(status)
        return values

    return prepare


@dataclass(frozen=True, slots=True)
class Example:
    """One use of a write route, and its effects.

    Attributes:
        prepare: Creates what the request needs; returns the values of the path.
        grows: Kind of entity → change of the number of live entities.
        events: The events that are raised, in any order; `redelivery` for a redelivered event,
            `recovery` for a recovery.
        status_afterwards: Status of GET on the resource after the request.
        own: Whether the user whose id is in the path must send the request.
        permissions: Permissions of the user who must send the request; empty for the ERP.
        dynamic_fields: Returns fields of the body that depend on `prepare` or on the time.
    """

    status: int
    body: Mapping[str, Any] | Form | None = None
    prepare: Prepare = _no_values
    grows: Mapping[str, int] = field(default_factory=dict)
    events: Sequence[str] = ()
    status_afterwards: int = 200
    own: bool = False
    permissions: str = ""
    dynamic_fields: Callable[[Values], Mapping[str, Any]] | None = None

    def prepared(self, erp: Erp) -> Values:
        """Prepare an unused stack; return the values of the path."""
        return prepare_once(erp, self.prepare, lambda: self.prepare(erp))

    def sender(self, erp: Erp, values: Values) -> Erp:
        """Return the caller: the ERP, a user, or the user with the id in the path."""
        if self.permissions:
            token = Stack(erp.gateway.template).user_token(permissions=self.permissions)
            return replace(erp, token=token)
        if not self.own:
            return erp
        stack, keys = Stack(erp.gateway.template), [f"user:{values['id']}"]
        # `prepare` may have revoked the tokens of the user
        earliest = revocations.earliest_valid_iat(stack.tenant().revoked, keys)
        issued_at = max(int(time.time()), earliest)
        token = stack.user_token(
            sub=str(values["id"]), iat=issued_at, exp=issued_at + tokens.LIFETIME
        )
        return replace(erp, token=token)

    def filled(self, values: Values) -> Mapping[str, Any] | Form | None:
        """Return the body with the fields that depend on `values` and on the current time."""
        if self.dynamic_fields is None or not isinstance(self.body, Mapping):
            return self.body
        return {**self.body, **self.dynamic_fields(values)}


def deletion(prepare: Prepare, kind: str, **grows: int) -> Example:
    """Return the example of a deletion; `grows` are the other effects."""
    return Example(200, prepare=prepare, grows={kind: -1, **grows}, status_afterwards=410)
