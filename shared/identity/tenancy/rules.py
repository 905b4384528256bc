"""What a tenant may be called and how it may be set up; pure checks with clear messages."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlsplit

from shared.identity.tenancy.tenant import (
    MODULES,
    PLANS,
    SUBSTITUTIONS,
    PlanName,
    Settings,
    is_slug,
)
from shared.kernel.calendar_days import time_zones
from shared.kernel.errors import Problem, ValidationFailed

_HOST = re.compile(
    r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])",
    re.ASCII,
)
"""Two labels or more; the last one has no digits, as no IP address ends, unless it is punycode."""
_API = "/api/v1"
_LOOPBACK = ("localhost", "127.0.0.1")
MAX_VALUES = {"receipt_tolerance": 100, "minutes_per_unit": 1440, "minutes_per_trip": 1440}
"""Settings that are numbers, and the largest each may be."""
_DECIMALS = 6
MOST_REQUESTS = 1_000_000
"""Largest limit per minute that can be agreed on."""

# fmt: off
RESERVED_SLUGS = frozenset({
    "admin", "api", "app", "assets", "auth", "billing", "blog", "cdn", "console", "control",
    "dashboard", "dev", "docs", "email", "ftp", "help", "internal", "localhost", "login",
    "mail", "main", "oauth", "ops", "portal", "prod", "production", "root", "shared", "smtp",
    "staging", "static", "status", "stowage", "support", "sys", "system", "tenant", "tenants",
    "test", "web", "www",
})
# fmt: on
"""Names that a company must not get as its subdomain."""


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """How a tenant is set up."""

    slug: str
    """A DNS label of 3 to 32 characters: names the tenant in its address, table and prefix."""
    plan: PlanName = "essentials"
    base_url: str | None = None
    """Address that it shares with others; ends in /api/v1. Left out when it has a host."""
    host: str | None = None
    """Host name of its own, from which its address follows."""
    modules: frozenset[str] = field(default=frozenset())
    timezone: str = "UTC"

    @property
    def address(self) -> str:
        """Base address: what `base_url` of the interface stands for."""
        return address_of(self.host) if self.host else self.base_url or ""

    def check(self) -> None:
        """Check everything.

        Raises:
            ValidationFailed: Every problem at once.
        """
        _raise_problems(
            [
                *_slug_problems(self.slug),
                *_plan_problems(self.plan),
                *_address_problems(self.base_url, self.host),
                *_module_problems(self.modules),
                *_timezone_problems(self.timezone),
            ]
        )


def check_plan(plan: str) -> None:
    """Raise ValidationFailed for a plan that does not exist."""
    _raise_problems(_plan_problems(plan))


def check_host(host: str) -> None:
    """Raise ValidationFailed for what is no host name in lower case: an IP address, a wildcard."""
    _raise_problems(_host_problems(host))


def address_of(host: str) -> str:
    """Base address of a tenant that has a host of its own."""
    return f"https://{host}{_API}"


def check_configuration(timezone: str | None, modules: Collection[str], settings: Settings) -> None:
    """Raise ValidationFailed with every setting that cannot be; None is a time zone that stays."""
    _raise_problems(
        [
            *(_timezone_problems(timezone) if timezone is not None else ()),
            *_module_problems(modules),
            *_setting_problems(settings),
        ]
    )


def timezone_problem(timezone: str) -> str | None:
    """Tell what is wrong with the name of a time zone; None when nothing is."""
    if timezone in time_zones():
        return None
    return f"there is no time zone {timezone}; write it like Europe/Madrid"


def number_problem(name: str, value: Decimal) -> str | None:
    """Tell what is wrong with a setting that is a number; None when nothing is."""
    most = MAX_VALUES[name]
    if value.is_finite() and 0 <= value <= most and value == round(value, _DECIMALS):
        return None
    return f"a number from 0 to {most} with at most {_DECIMALS} decimals is needed"


def check_requests_per_minute(number: int) -> None:
    """Raise ValidationFailed for a limit that cannot be."""
    if not 1 <= number <= MOST_REQUESTS:
        message = f"a number from 1 to {MOST_REQUESTS} is needed"
        _raise_problems([Problem("requests_per_minute", message)])


def check_moved_to(state: str, moved_to: str | None) -> None:
    """Raise ValidationFailed unless exactly a move names an https address."""
    problem = None
    if state == "moved" and (moved_to is None or not _is_url(moved_to, loopback=False)):
        problem = "a move needs the https:// address of the company's own server"
    if state != "moved" and moved_to is not None:
        problem = "only a move names an address"
    _raise_problems([Problem("moved_to", problem)] if problem else [])


def _raise_problems(problems: Collection[Problem] | Iterator[Problem]) -> None:
    if found := list(problems):
        raise ValidationFailed(found)


def _slug_problems(slug: str) -> Iterator[Problem]:
    if not is_slug(slug):
        yield Problem(
            "slug",
            "3 to 32 lower-case letters, digits and hyphens are needed, beginning with a letter "
            "and ending with a letter or digit",
        )
    elif slug in RESERVED_SLUGS or slug.startswith("xn--"):
        yield Problem("slug", f"the name {slug} is reserved")


def _plan_problems(plan: str) -> Iterator[Problem]:
    if plan not in PLANS:
        yield Problem("plan", f"there is no plan {plan}; the plans are {', '.join(PLANS)}")


def _module_problems(modules: Collection[str]) -> Iterator[Problem]:
    for name in sorted(set(modules) - MODULES):
        known = ", ".join(sorted(MODULES))
        yield Problem("modules", f"there is no module {name}; the modules are {known}")


def _timezone_problems(timezone: str) -> Iterator[Problem]:
    if problem := timezone_problem(timezone):
        yield Problem("timezone", problem)


def _setting_problems(settings: Settings) -> Iterator[Problem]:
    for name in MAX_VALUES:
        if problem := number_problem(name, getattr(settings, name)):
            yield Problem(name, problem)
    if settings.pick_substitution not in SUBSTITUTIONS:
        yield Problem("pick_substitution", f"one of {', '.join(SUBSTITUTIONS)} is needed")


def _address_problems(base_url: str | None, host: str | None) -> Iterator[Problem]:
    if (base_url is None) == (host is None):
        yield Problem("base_url", "either a host or a base address is needed")
    if host is not None:
        yield from _host_problems(host)
    if base_url is not None and not (base_url.endswith(_API) and _is_url(base_url, loopback=True)):
        yield Problem("base_url", f"an https:// address that ends in {_API} is needed")


def _host_problems(host: str) -> Iterator[Problem]:
    if not _HOST.fullmatch(host):
        yield Problem("host", "a host name in lower case is needed, such as wms.example.com")


def _is_url(text: str, *, loopback: bool) -> bool:
    """Tell whether it is a plain https address; http only on this machine (`loopback`)."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    scheme = parts.scheme == "https" or (loopback and parts.scheme == "http" and host in _LOOPBACK)
    return bool(host and plain and scheme and text.isprintable() and " " not in text)
