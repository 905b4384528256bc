"""Settings as the interface shows them."""

from shared.identity.tenancy.tenant import MODULES, PLANS
from shared.warehouse.settings.models import CompanySettings, Limits, Modules
from shared.warehouse.settings.tenant_settings import SettingsSnapshot


def company_settings(snapshot: SettingsSnapshot) -> CompanySettings:
    """Show the settings of a tenant."""
    tenant, chosen = snapshot.tenant, snapshot.tenant.settings
    return CompanySettings(
        tenant=tenant.slug,
        plan=tenant.plan,
        base_url=tenant.base_url,
        features=sorted(PLANS[tenant.plan].features),
        limits=Limits.model_validate(tenant.limits),
        timezone=tenant.timezone,
        modules=Modules.model_validate({name: name in tenant.modules for name in MODULES}),
        receipt_tolerance=chosen.receipt_tolerance,
        pick_substitution=chosen.pick_substitution,
        minutes_per_unit=chosen.minutes_per_unit,
        minutes_per_trip=chosen.minutes_per_trip,
        commit_drops=chosen.commit_drops,
        updated_at=snapshot.updated_at,
    )
