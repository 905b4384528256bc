"""Checks of a tenant's name, plan and address, on plain data."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from shared.identity.tenancy.rules import module_problems, timezone_problems
from shared.identity.tenancy.tenant import PLANS, PlanName, is_slug
from shared.kernel.errors import Problem, ValidationFailed

_HOST = re.compile(
    r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+([a-z]{2,63}|xn--[a-z0-9-]{1,58}[a-z0-9])",
    re.ASCII,
)
"""At least two labels; the last one has no digits except in punycode, so no IP address matches."""
_API = "/api/v1"
_LOOPBACK = ("localhost", "127.0.0.1")
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
                *module_problems(self.modules),
                *timezone_problems(self.timezone),
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


def check_modules(modules: Collection[str]) -> None:
    """Raise ValidationFailed unless all modules exist."""
    _raise_problems(module_problems(modules))


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
