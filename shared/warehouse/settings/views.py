"""Conversion of settings to the responses of the interface."""

from shared.identity.tenancy.tenant import MODULES, PLANS
from shared.warehouse.settings.models import CompanySettings, Limits, Modules
from shared.warehouse.settings.tenant_settings import SettingsSnapshot
from shared.warehouse.settings.values import settings_of


def company_settings(snapshot: SettingsSnapshot) -> CompanySettings:
    """Return the response model of a tenant's settings."""
    tenant, settings = snapshot.tenant, settings_of(snapshot.tenant)
    return CompanySettings(
        tenant=tenant.slug,
        plan=tenant.plan,
        base_url=tenant.base_url,
        features=sorted(PLANS[tenant.plan].features),
        limits=Limits.model_validate(tenant.limits),
        timezone=tenant.timezone,
        modules=Modules.model_validate({name: name in tenant.modules for name in MODULES}),
        receipt_tolerance=settings.receipt_tolerance,
        pick_substitution=settings.pick_substitution,
        minutes_per_unit=settings.minutes_per_unit,
        minutes_per_trip=settings.minutes_per_trip,
        commit_drops=settings.commit_drops,
        imports_require_kind_scope=settings.imports_require_kind_scope,
        approval_shortage_percent=settings.approval_shortage_percent,
        approval_adjustment_qty=settings.approval_adjustment_qty,
        blind_returns=settings.blind_returns,
        packing_required=settings.packing_required,
        rfid_required=settings.rfid_required,
        gs1_company_prefix=settings.gs1_company_prefix,
        sscc_extension_digit=settings.sscc_extension_digit,
        updated_at=snapshot.updated_at,
    )
