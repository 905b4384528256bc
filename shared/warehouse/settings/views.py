"""Conversion of settings to the responses of the interface."""

from shared.identity.tenancy.tenant import MODULES, PLANS
from shared.warehouse.settings.models import CompanySettings, Limits, Modules
from shared.warehouse.settings.values import SettingsSnapshot, settings_of


def company_settings(snapshot: SettingsSnapshot) -> CompanySettings:
    """Return the response model of a tenant's settings."""
    tenant = snapshot.tenant
    return CompanySettings.from_stored(
        settings_of(tenant.company),
        tenant=tenant.slug,
        plan=tenant.plan,
        base_url=tenant.base_url,
        features=sorted(PLANS[tenant.plan].features),
        limits=Limits.model_validate(tenant.limits),
        timezone=tenant.timezone,
        modules=Modules.model_validate({name: name in tenant.modules for name in MODULES}),
        updated_at=snapshot.updated_at,
    )
