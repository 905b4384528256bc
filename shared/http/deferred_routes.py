"""Routes whose module is imported when one of their paths is requested for the first time.

So the cold start of a function with several groups of routes imports only what the request needs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from shared.http.routes import Operation, RouteMatch, Routes


@dataclass(frozen=True, slots=True)
class DeferredRoutes:
    """The `routes` of a module.

    Attributes:
        module: Name of the module.
        prefixes: Beginnings of the paths, such as `/receipts`; `{id}` stands for any segment.
    """

    module: str
    prefixes: tuple[str, ...]

    @property
    def operations(self) -> list[Operation]:
        """The routes; imports the module."""
        return self._routes().operations

    def match(self, path: str) -> Iterable[RouteMatch]:
        """Return every operation whose path pattern matches `path`."""
        if any(_begins_with(path, prefix) for prefix in self.prefixes):
            return self._routes().match(path)
        return ()

    def _routes(self) -> Routes:
        routes: Routes = import_module(self.module).routes
        return routes


def _begins_with(path: str, prefix: str) -> bool:
    wanted, given = prefix.split("/"), path.split("/")
    return len(given) >= len(wanted) and all(
        one in {segment, "{id}"} for one, segment in zip(wanted, given, strict=False)
    )
