"""The request that a transaction carries out, as its caller sent it."""

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from shared.kernel.caller import Caller

_DIGITS = 28
"""Digits of a whole number that is written in full; no field has as many."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request to a route that writes.

    `path` is relative to the base address. `body` is the body as it was parsed, `model` as the
    route knows it; both are None for a route that takes none.
    """

    caller: Caller
    method: str
    path: str
    body: object
    model: BaseModel | None

    @property
    def known_body(self) -> dict[str, Any] | None:
        """The fields of the body that the route knows; None without a body."""
        return self.model.model_dump(exclude_unset=True) if self.model else None

    def digest(self) -> str:
        """Return a hash that only the same request of the same credential has.

        The order and spacing of JSON keys do not matter, nor how a number is written.
        """
        caller = self.caller
        parts = [caller.kind, caller.subject, self.method, self.path, self.body]
        text = json.dumps(parts, sort_keys=True, default=_number)
        return hashlib.sha256(text.encode()).hexdigest()


def _number(value: object) -> object:
    """Return a Decimal as a value of JSON that only equal numbers have, and no text."""
    if not isinstance(value, Decimal):
        raise TypeError(f"{value!r} is not a value of JSON")
    is_whole = value.is_finite() and value.adjusted() < _DIGITS and value == int(value)
    return int(value) if is_whole else {"number": str(value.normalize())}
