"""What an example of a route that writes is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.gateway import Erp, Form
from tests.stack import Stack, once

type Values = Mapping[str, object]
type Prepare = Callable[[Erp], Values]


def _nothing(_erp: Erp) -> Values:
    return {}


@dataclass(frozen=True, slots=True)
class Example:
    """One use of a route.

    `prepare` brings about what the request needs and returns the values of its path.
    `grows` is by how many the live entities of each kind change, `events` are the events
    that are raised (and `redelivery` where one is asked for again), in any order; `afterwards`
    tells what GET on the resource then answers. `own`: only the user whose id is in the path
    may use it. `fill` makes the fields of the body that depend on what was prepared, and on
    the time; `body` has others in their place.
    """

    status: int
    body: Mapping[str, Any] | Form | None = None
    prepare: Prepare = _nothing
    grows: Mapping[str, int] = field(default_factory=dict)
    events: Sequence[str] = ()
    status_afterwards: int = 200
    own: bool = False
    dynamic_fields: Callable[[Values], Mapping[str, Any]] | None = None

    def prepared(self, erp: Erp) -> Values:
        """Have a stack to which nothing has happened prepared; the values of the path."""
        return once(erp, self.prepare, lambda: self.prepare(erp))

    def sender(self, erp: Erp, values: Values) -> Erp:
        """Whoever may send it: the ERP, or the user whom it is about."""
        if not self.own:
            return erp
        token = Stack(erp.gateway.template).user_token(sub=str(values["id"]))
        return replace(erp, token=token)

    def filled(self, values: Values) -> Mapping[str, Any] | Form | None:
        """Return the body, as it must be sent at this moment."""
        if self.dynamic_fields is None or not isinstance(self.body, Mapping):
            return self.body
        return {**self.body, **self.dynamic_fields(values)}
