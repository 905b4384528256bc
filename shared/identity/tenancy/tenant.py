"""A tenant (one company), its plan, its limits and its modules."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from shared.kernel.company import Company
from shared.kernel.config import config
from shared.kernel.db.schema import TableVersion
from shared.kernel.errors import CODES, FeatureNotInPlan, ServiceError

type State = Literal["active", "suspended", "cancelled", "moved"]
type PlanName = Literal["essentials", "professional", "enterprise"]
type LimitName = Literal[
    "requests_per_minute", "rows_per_import", "integration_clients", "mobile_clients",
    "webhook_subscriptions", "users", "total_requests_per_minute",
]  # fmt: skip

PUBLIC_API = "api.public.enabled"
WEBHOOKS = "webhooks.enabled"

MODULE_ERRORS: Mapping[str, str] = {
    "waves": "not_found",
    "transfer_orders": "transfer_orders_disabled",
    "bulk_import": "bulk_import_disabled",
}
"""Module → error code of its routes while the module is disabled. A module can be enabled per
tenant, in every plan."""

MODULES = frozenset(MODULE_ERRORS)

SLUG = r"[a-z][a-z0-9-]{1,30}[a-z0-9]"
"""Regular expression of a tenant's slug, which is also a DNS label."""


def is_slug(text: str) -> bool:
    """Return whether `text` has the form of a slug."""
    return re.fullmatch(SLUG, text, re.ASCII) is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """The features and limits of a plan."""

    features: frozenset[str]
    limits: Mapping[LimitName, int]
    next_plan: PlanName | None
    """The next larger plan, offered when a limit is reached; None for the largest plan."""


TOTAL_REQUESTS = 5
"""Requests of all credentials of a tenant, as a multiple of the limit of one credential."""
_SAME_LIMITS: Mapping[LimitName, int] = {"mobile_clients": 10, "webhook_subscriptions": 20}
"""The limits that are the same in every plan."""

PLANS: Mapping[PlanName, Plan] = {
    "essentials": Plan(
        frozenset({PUBLIC_API}),
        {
            "requests_per_minute": 120,
            "rows_per_import": 2_000,
            "integration_clients": 2,
            **_SAME_LIMITS,
            "users": 10,
        },
        "professional",
    ),
    "professional": Plan(
        frozenset({PUBLIC_API, WEBHOOKS}),
        {
            "requests_per_minute": 300,
            "rows_per_import": 10_000,
            "integration_clients": 10,
            **_SAME_LIMITS,
            "users": 50,
        },
        "enterprise",
    ),
    "enterprise": Plan(
        frozenset({PUBLIC_API, WEBHOOKS}),
        {
            "requests_per_minute": 1_200,
            "rows_per_import": 100_000,
            "integration_clients": 50,
            **_SAME_LIMITS,
            "users": 500,
        },
        None,
    ),
}


@dataclass(frozen=True, slots=True)
class Tenant:
    """One company, as stored in the control table."""

    slug: str
    state: State
    plan: PlanName
    modules: frozenset[str]
    base_url: str
    """Ends in /api/v1, without a trailing slash. Issuer and audience of the tenant's tokens."""
    timezone: str = "UTC"
    moved_to: str | None = None
    """URL of the company's own server; set only in the state `moved`."""
    is_being_moved: bool = False
    """Whether it is suspended in order to be moved; refused requests then get Retry-After."""
    revoked: Mapping[str, int] = field(default_factory=dict)
    """Revocation key → expiry in seconds since the epoch; see
    `shared.identity.tenancy.revocations`."""
    requests_per_minute: int | None = None
    """Agreed rate limit per credential; None for the limit of the plan."""
    table_version: TableVersion | None = None
    """The version of its table; None if it was created before tables had versions."""
    own_table: str | None = None
    """Name of its table since a restore; None for the name that its creation gave."""
    is_being_restored: bool = False
    """Whether its requests are refused because its table is about to be replaced."""
    item: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The stored item, in which others keep attributes: `shared.warehouse.settings.values`."""

    @property
    def company(self) -> Company:
        """What use cases know of it."""
        return Company(self.slug, self.timezone, self.item)

    @property
    def table(self) -> str:
        """The name of its table."""
        return self.own_table or config().tenant_table(self.slug)

    @property
    def limits(self) -> Mapping[LimitName, int]:
        """The limits of the plan, overridden by agreed limits."""
        limits = PLANS[self.plan].limits
        per_credential = self.requests_per_minute or limits["requests_per_minute"]
        return {
            **limits,
            "requests_per_minute": per_credential,
            "total_requests_per_minute": TOTAL_REQUESTS * per_credential,
        }


def ensure_active(tenant: Tenant) -> None:
    """Raise an error unless the tenant is active and its plan includes the public API.

    Raises:
        ServiceError: tenant_moved, tenant_suspended or tenant_cancelled.
        FeatureNotInPlan: The plan does not include the public API.
    """
    match tenant.state:
        case "moved":
            where = f" Its address is {tenant.moved_to}." if tenant.moved_to else ""
            raise ServiceError(f"This company now runs on its own server.{where}", "tenant_moved")
        case "suspended" if tenant.is_being_moved:
            raise ServiceError(
                "This company is being moved to another server. Repeat the request after the"
                " seconds in Retry-After.",
                "tenant_suspended",
                headers={"Retry-After": "60"},
            )
        case "suspended":
            raise ServiceError("This account is suspended for billing.", "tenant_suspended")
        case "cancelled":
            raise ServiceError("This account is cancelled.", "tenant_cancelled")
        case "active":
            ensure_feature(tenant, PUBLIC_API)


def ensure_feature(tenant: Tenant, feature: str) -> None:
    """Raise FeatureNotInPlan unless the tenant's plan includes a feature."""
    if feature not in PLANS[tenant.plan].features:
        raise FeatureNotInPlan(feature, config().upgrade_url)


def receives_webhooks(tenant: Tenant) -> bool:
    """Return whether events of the tenant are delivered to webhooks."""
    return tenant.state == "active" and WEBHOOKS in PLANS[tenant.plan].features


def ensure_module(tenant: Tenant, name: str) -> None:
    """Raise the error of a module (one of MODULES) unless it is enabled."""
    if name not in tenant.modules:
        code = MODULE_ERRORS[name]
        raise ServiceError(CODES[code].meaning, code)


def limit_reached(tenant: Tenant, limit: LimitName, used: int) -> ServiceError:
    """Return the error limit_reached (402), which offers the next plan.

    `error.offer` is {limit, used, plan, next_plan, upgrade_url}. `limit` is the allowed number;
    `next_plan` is null if no plan allows more. `used` is how many the tenant has.
    """
    allowed = tenant.limits[limit]
    above = PLANS[tenant.plan].next_plan
    next_plan = above if above and PLANS[above].limits[limit] > allowed else None
    subject = limit.replace("_", " ")
    return ServiceError(
        f"The plan {tenant.plan} allows {allowed} {subject}; {used} are in use.",
        "limit_reached",
        {
            "offer": {
                "limit": allowed,
                "used": used,
                "plan": tenant.plan,
                "next_plan": next_plan,
                "upgrade_url": config().upgrade_url,
            }
        },
    )
