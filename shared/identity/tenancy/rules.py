"""Checks of a tenant's modules and time zone, on plain data."""

from collections.abc import Collection, Iterator

from shared.identity.tenancy.tenant import MODULES
from shared.kernel.calendar_days import time_zones
from shared.kernel.errors import Problem


def timezone_problem(timezone: str) -> str | None:
    """Return the problem of a time zone name; None if it is valid."""
    if timezone in time_zones():
        return None
    return f"there is no time zone {timezone}; use an IANA name such as Europe/Madrid"


def module_problems(modules: Collection[str]) -> Iterator[Problem]:
    """Yield the problems of the names of modules."""
    for name in sorted(set(modules) - MODULES):
        names = ", ".join(sorted(MODULES))
        yield Problem("modules", f"there is no module {name}; the modules are {names}")


def timezone_problems(timezone: str) -> Iterator[Problem]:
    """Yield the problem of a time zone name."""
    if problem := timezone_problem(timezone):
        yield Problem("timezone", problem)
