"""Checks of a tenant's name, plan, address and settings, on plain data."""

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
"""At least two labels; the last one has no digits except in punycode, so no IP address matches."""
_API = "/api/v1"
_LOOPBACK = ("localhost", "127.0.0.1")
MAX_VALUES = {
    "receipt_tolerance": 100,
    "minutes_per_unit": 1440,
    "minutes_per_trip": 1440,
    "approval_shortage_percent": 100,
    "approval_adjustment_qty": 999_999_999,
}
"""Name of each numeric setting → its largest value."""
OPTIONAL_NUMBERS = frozenset({"approval_shortage_percent", "approval_adjustment_qty"})
"""Numeric settings that may be None, which switches their rule off."""
MAX_EXTENSION_DIGIT = 9
"""Largest extension digit of an SSCC."""
COMPANY_PREFIX = r"[0-9]{4,12}"
"""Regular expression of the company prefix of GS1."""
_DECIMALS = 6
MAX_REQUESTS_PER_MINUTE = 1_000_000
"""Largest rate limit that can be agreed with a company."""

# fmt: off
RESERVED_SLUGS = frozenset({
    "admin", "api", "app", "assets", "auth", "billing", "blog", "cdn", "console", "control",
    "dashboard", "dev", "docs", "email", "ftp", "help", "internal", "localhost", "login",
    "mail", "main", "oauth", "ops", "portal", "prod", "production", "root", "shared", "smtp",
    "staging", "static", "status", "stowage", "support", "sys", "system", "tenant", "tenants",
    "test", "web", "www",
})
# fmt: on
"""Slugs that must not become subdomains of companies."""


@dataclass(frozen=True, slots=True)
class NewTenant:
    """The properties with which a tenant is created."""

    slug: str
    """DNS label of 3 to 32 characters, part of the tenant's URL, table name and S3 prefix."""
    plan: PlanName = "essentials"
    base_url: str | None = None
    """Base URL shared with other tenants, ends in /api/v1; None if the tenant has a `host`."""
    host: str | None = None
    """Host name of the tenant's own, which determines its base URL."""
    modules: frozenset[str] = field(default=frozenset())
    timezone: str = "UTC"

    @property
    def full_base_url(self) -> str:
        """The tenant's base URL, whether shared or its own."""
        return base_url_of(self.host) if self.host else self.base_url or ""

    def check(self) -> None:
        """Check all properties.

        Raises:
            ValidationFailed: Lists every problem.
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
    """Raise ValidationFailed unless the plan exists."""
    _raise_problems(_plan_problems(plan))


def check_host(host: str) -> None:
    """Raise ValidationFailed unless `host` is a lower-case host name, no IP address or wildcard."""
    _raise_problems(_host_problems(host))


def base_url_of(host: str) -> str:
    """Return the base URL of a tenant with a host name of its own."""
    return f"https://{host}{_API}"


def check_settings(timezone: str | None, modules: Collection[str], settings: Settings) -> None:
    """Raise ValidationFailed with every invalid setting; `timezone` None is not checked."""
    _raise_problems(
        [
            *(_timezone_problems(timezone) if timezone is not None else ()),
            *_module_problems(modules),
            *_setting_problems(settings),
        ]
    )


def timezone_problem(timezone: str) -> str | None:
    """Return the problem of a time zone name; None if it is valid."""
    if timezone in time_zones():
        return None
    return f"there is no time zone {timezone}; use an IANA name such as Europe/Madrid"


def number_problem(name: str, value: Decimal) -> str | None:
    """Return the problem of a numeric setting (a key of MAX_VALUES); None if it is valid."""
    most = MAX_VALUES[name]
    if value.is_finite() and 0 <= value <= most and value == round(value, _DECIMALS):
        return None
    return f"must be a number from 0 to {most} with at most {_DECIMALS} decimals"


def prefix_problem(prefix: str | None) -> str | None:
    """Return the problem of a company prefix of GS1; None if it is valid or there is none."""
    if prefix is None or re.fullmatch(COMPANY_PREFIX, prefix):
        return None
    return "must have 4 to 12 digits"


def check_requests_per_minute(number: int) -> None:
    """Raise ValidationFailed unless the rate limit is allowed."""
    if not 1 <= number <= MAX_REQUESTS_PER_MINUTE:
        message = f"must be from 1 to {MAX_REQUESTS_PER_MINUTE}, not {number}"
        _raise_problems([Problem("requests_per_minute", message)])


def check_moved_to(state: str, moved_to: str | None) -> None:
    """Raise ValidationFailed unless `moved_to` is an https URL exactly in the state `moved`."""
    problem = None
    if state == "moved" and (moved_to is None or not _is_url(moved_to, loopback=False)):
        problem = "a move needs the https:// URL of the company's own server"
    if state != "moved" and moved_to is not None:
        problem = f"is only allowed in the state moved, not {state}"
    _raise_problems([Problem("moved_to", problem)] if problem else [])


def _raise_problems(problems: Collection[Problem] | Iterator[Problem]) -> None:
    if found := list(problems):
        raise ValidationFailed(found)


def _slug_problems(slug: str) -> Iterator[Problem]:
    if not is_slug(slug):
        yield Problem(
            "slug",
            "must have 3 to 32 lower-case letters, digits and hyphens, starting with a letter "
            "and ending with a letter or digit",
        )
    elif slug in RESERVED_SLUGS or slug.startswith("xn--"):
        yield Problem("slug", f"the name {slug} is reserved")


def _plan_problems(plan: str) -> Iterator[Problem]:
    if plan not in PLANS:
        yield Problem("plan", f"there is no plan {plan}; the plans are {', '.join(PLANS)}")


def _module_problems(modules: Collection[str]) -> Iterator[Problem]:
    for name in sorted(set(modules) - MODULES):
        names = ", ".join(sorted(MODULES))
        yield Problem("modules", f"there is no module {name}; the modules are {names}")


def _timezone_problems(timezone: str) -> Iterator[Problem]:
    if problem := timezone_problem(timezone):
        yield Problem("timezone", problem)


def _setting_problems(settings: Settings) -> Iterator[Problem]:
    for name in MAX_VALUES:
        value: Decimal | None = getattr(settings, name)
        if value is None and name in OPTIONAL_NUMBERS:
            continue
        if problem := number_problem(name, Decimal("NaN") if value is None else value):
            yield Problem(name, problem)
    if settings.pick_substitution not in SUBSTITUTIONS:
        yield Problem("pick_substitution", f"must be one of {', '.join(SUBSTITUTIONS)}")
    if problem := prefix_problem(settings.gs1_company_prefix):
        yield Problem("gs1_company_prefix", problem)
    if not 0 <= settings.sscc_extension_digit <= MAX_EXTENSION_DIGIT:
        yield Problem("sscc_extension_digit", f"must be a digit, 0 to {MAX_EXTENSION_DIGIT}")


def _address_problems(base_url: str | None, host: str | None) -> Iterator[Problem]:
    if (base_url is None) == (host is None):
        yield Problem("base_url", "either a host or a base URL is required, not both")
    if host is not None:
        yield from _host_problems(host)
    if base_url is not None and not (base_url.endswith(_API) and _is_url(base_url, loopback=True)):
        yield Problem("base_url", f"must be an https:// URL that ends in {_API}")


def _host_problems(host: str) -> Iterator[Problem]:
    if not _HOST.fullmatch(host):
        yield Problem("host", "must be a lower-case host name such as wms.example.com")


def _is_url(text: str, *, loopback: bool) -> bool:
    """Return whether `text` is a plain https URL, or http to this machine if `loopback`."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    scheme = parts.scheme == "https" or (loopback and parts.scheme == "http" and host in _LOOPBACK)
    return bool(host and plain and scheme and text.isprintable() and " " not in text)
