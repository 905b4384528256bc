"""What an example of a route that writes is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.gateway import Erp, Form
from tests.stack import once

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
    tells what GET on the resource then answers.
    """

    status: int
    body: Mapping[str, Any] | Form | None = None
    prepare: Prepare = _nothing
    grows: Mapping[str, int] = field(default_factory=dict)
    events: Sequence[str] = ()
    afterwards: int = 200

    def prepared(self, erp: Erp) -> Values:
        """Have a stack to which nothing has happened prepared; the values of the path."""
        return once(erp, self.prepare, lambda: self.prepare(erp))
