"""A tenant (one company), its plan, and what both allow."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from shared.kernel.config import config
from shared.kernel.errors import (
    CODES,
    FeatureNotInPlan,
    ServiceError,
    TenantCancelled,
    TenantMoved,
    TenantSuspended,
)

type State = Literal["active", "suspended", "cancelled", "moved"]
type PlanName = Literal["essentials", "professional", "enterprise"]
type Substitution = Literal["none", "position", "batch", "any"]
type Limit = Literal[
    "requests_per_minute", "rows_per_import", "integration_clients", "mobile_clients",
    "webhook_subscriptions",
]  # fmt: skip

PUBLIC_API = "api.public.enabled"
WEBHOOKS = "webhooks.enabled"

MODULE_ERRORS: Mapping[str, str] = {
    "waves": "not_found",
    "transfer_orders": "transfer_orders_disabled",
    "bulk_import": "bulk_import_disabled",
}
"""Modules that are switched on and off per tenant, whatever the plan → the error code that their
routes answer while the module is off."""

MODULES = frozenset(MODULE_ERRORS)

SLUG = r"[a-z][a-z0-9-]{1,30}[a-z0-9]"
"""Form of a tenant's name, as a regular expression; it is a label of host names."""


def is_slug(text: str) -> bool:
    """Tell whether a text can be the name of a tenant."""
    return re.fullmatch(SLUG, text, re.ASCII) is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a plan includes."""

    features: frozenset[str]
    limits: Mapping[Limit, int]
    next_plan: PlanName | None
    """The plan above, to be offered when a limit is reached that it raises."""


_SUBSCRIPTIONS = 20
"""Of webhooks, whatever the plan."""
_MOBILE_CLIENTS = 10
"""Applications by which users sign in, whatever the plan."""

PLANS: Mapping[PlanName, Plan] = {
    "essentials": Plan(
        frozenset({PUBLIC_API}),
        {
            "requests_per_minute": 120,
            "rows_per_import": 2_000,
            "integration_clients": 2,
            "mobile_clients": _MOBILE_CLIENTS,
            "webhook_subscriptions": _SUBSCRIPTIONS,
        },
        "professional",
    ),
    "professional": Plan(
        frozenset({PUBLIC_API, WEBHOOKS}),
        {
            "requests_per_minute": 300,
            "rows_per_import": 10_000,
            "integration_clients": 10,
            "mobile_clients": _MOBILE_CLIENTS,
            "webhook_subscriptions": _SUBSCRIPTIONS,
        },
        "enterprise",
    ),
    "enterprise": Plan(
        frozenset({PUBLIC_API, WEBHOOKS}),
        {
            "requests_per_minute": 1_200,
            "rows_per_import": 100_000,
            "integration_clients": 50,
            "mobile_clients": _MOBILE_CLIENTS,
            "webhook_subscriptions": _SUBSCRIPTIONS,
        },
        None,
    ),
}


SUBSTITUTIONS: tuple[Substitution, ...] = ("none", "position", "batch", "any")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a company works."""

    receipt_tolerance: Decimal = Decimal(0)
    """Percent of the quantity ordered that may be received beyond it without approval."""
    pick_substitution: Substitution = "none"
    """What may be picked instead of what was allocated: another position, batch, or both."""
    minutes_per_unit: Decimal = Decimal("0.5")
    """Standard minutes to pick one unit."""
    minutes_per_trip: Decimal = Decimal(5)
    """Standard minutes to go to a place and back."""
    commit_drops: bool = False
    """Whether files dropped into the import bucket are committed without being asked."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One company as the control table knows it."""

    slug: str
    state: State
    plan: PlanName
    modules: frozenset[str]
    base_url: str
    """Ends in /api/v1, without a trailing slash; issuer and audience of the tenant's tokens."""
    timezone: str = "UTC"
    moved_to: str | None = None
    """Address of the company's own server, once it has moved there."""
    revoked: Mapping[str, int] = field(default_factory=dict)
    """Mark of a revoked credential → when the last token that it stops expires, in seconds
    since the epoch; see `shared.identity.tenancy.revocations`."""
    settings: Settings = field(default_factory=Settings)
    requests_per_minute: int | None = None
    """Limit of each credential that was agreed with the company; None: the plan's."""

    @property
    def limits(self) -> Mapping[Limit, int]:
        """The limits of the tenant's plan, and what was agreed with the company instead."""
        limits = PLANS[self.plan].limits
        if self.requests_per_minute is None:
            return limits
        return {**limits, "requests_per_minute": self.requests_per_minute}


def ensure_open(tenant: Tenant) -> None:
    """Refuse a tenant that is not served.

    Raises:
        TenantMoved: It runs on its own server.
        TenantSuspended: Its bills are open.
        TenantCancelled: It has left.
        FeatureNotInPlan: Its plan does not include the public API.
    """
    match tenant.state:
        case "moved":
            raise TenantMoved(tenant.moved_to)
        case "suspended":
            raise TenantSuspended
        case "cancelled":
            raise TenantCancelled
        case "active":
            ensure_feature(tenant, PUBLIC_API)


def ensure_feature(tenant: Tenant, feature: str) -> None:
    """Refuse a feature that the tenant's plan lacks.

    Raises:
        FeatureNotInPlan: The plan lacks it.
    """
    if feature not in PLANS[tenant.plan].features:
        raise FeatureNotInPlan(feature, config().upgrade_url)


def gets_webhooks(tenant: Tenant) -> bool:
    """Tell whether events of the tenant are delivered."""
    return tenant.state == "active" and WEBHOOKS in PLANS[tenant.plan].features


def has_module(tenant: Tenant, name: str) -> bool:
    """Return whether the module `name` (one of MODULES) is switched on."""
    return name in tenant.modules


def ensure_module(tenant: Tenant, name: str) -> None:
    """Refuse a module (one of MODULES) that the tenant has switched off.

    Raises:
        ServiceError: The module's own error code.
    """
    if not has_module(tenant, name):
        code = MODULE_ERRORS[name]
        raise ServiceError(CODES[code].meaning, code)


def limit_reached(tenant: Tenant, limit: Limit, used: int) -> ServiceError:
    """Make the 402 limit_reached that offers the next plan.

    `error.offer` is {limit, used, plan, next_plan, upgrade_url}; `limit` is the number allowed,
    `next_plan` null where no plan allows more.
    """
    allowed = tenant.limits[limit]
    above = PLANS[tenant.plan].next_plan
    next_plan = above if above and PLANS[above].limits[limit] > allowed else None
    what = limit.replace("_", " ")
    return ServiceError(
        f"The plan {tenant.plan} allows {allowed} {what}.",
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
