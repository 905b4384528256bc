"""Tenants that tests create in the local stack, and use again in later runs."""

from contextlib import suppress

from operations import provisioning
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.kernel.errors import Conflict


def tenant_at(slug: str, base_url: str) -> Tenant:
    """Create a tenant with every module, or give that of an earlier run this address."""
    wanted = NewTenant(slug, plan="enterprise", base_url=base_url, modules=MODULES)
    with suppress(Conflict):
        return provisioning.create_tenant(wanted)
    return provisioning.set_address(slug, base_url=base_url)
