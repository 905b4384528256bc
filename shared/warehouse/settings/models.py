"""Settings in the interface: request bodies and responses."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from shared.identity.tenancy.rules import timezone_problem
from shared.identity.tenancy.tenant import PlanName
from shared.kernel.fields import ONE_LINE, WHOLE_NUMBER, Input, Measure, Stored, Timestamp
from shared.warehouse.settings.values import (
    COMPANY_PREFIX,
    MAX_EXTENSION_DIGIT,
    MAX_VALUES,
    Settings,
    Substitution,
    number_problem,
    prefix_problem,
)


def _checked_prefix(prefix: str) -> str:
    return _value_or_error(prefix, prefix_problem(prefix))


type _Zone = Annotated[str, StringConstraints(min_length=1, max_length=100), ONE_LINE]

type _Prefix = Annotated[
    str,
    AfterValidator(_checked_prefix),
    WithJsonSchema({"type": "string", "pattern": f"^{COMPANY_PREFIX}$"}),
]
type _Digit = Annotated[int, Field(ge=0, le=MAX_EXTENSION_DIGIT), WHOLE_NUMBER]


def _limited(name: str, default: Decimal | None) -> Any:
    return Field(default=default, json_schema_extra={"maximum": MAX_VALUES[name]})


class ModulesChange(Input):
    """Modules to enable or disable. Modules that are not sent keep their state."""

    waves: bool = False
    transfer_orders: bool = Field(
        default=False, description="Enabling it requires two active warehouses."
    )
    bulk_import: bool = False


class SettingsChange(Input):
    """Changes of the settings. Fields that are not sent keep their values."""

    timezone: _Zone = Field(
        default="", description="A name in the IANA time zone database, such as Europe/Madrid."
    )
    modules: ModulesChange = Field(default_factory=ModulesChange)
    receipt_tolerance: Measure = _limited("receipt_tolerance", Decimal(0))
    pick_substitution: Substitution = "none"
    minutes_per_unit: Measure = _limited("minutes_per_unit", Decimal(0))
    minutes_per_trip: Measure = _limited("minutes_per_trip", Decimal(0))
    commit_drops: bool = False
    imports_require_kind_scope: bool = False
    approval_shortage_percent: Measure | None = _limited("approval_shortage_percent", None)
    approval_adjustment_qty: Measure | None = _limited("approval_adjustment_qty", None)
    blind_returns: bool = False
    packing_required: bool = False
    rfid_required: bool = False
    gs1_company_prefix: _Prefix | None = None
    sscc_extension_digit: _Digit = 0

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, timezone: str) -> str:
        return _value_or_error(timezone, timezone_problem(timezone))

    @field_validator(*MAX_VALUES)
    @classmethod
    def _within_bounds(cls, number: Decimal | None, info: ValidationInfo) -> Decimal | None:
        if number is None:
            return None
        return _value_or_error(number, number_problem(info.field_name or "", number))


def _value_or_error[V](value: V, problem: str | None) -> V:
    if problem:
        raise PydanticCustomError("setting", "{problem}", {"problem": problem})
    return value


class Modules(Stored):
    """Which modules are enabled."""

    waves: bool
    transfer_orders: bool
    bulk_import: bool


class Limits(Stored):
    """The limits of the plan, overridden by limits agreed with the company."""

    requests_per_minute: int = Field(description="Per credential.")
    total_requests_per_minute: int = Field(description="Of all credentials together.")
    rows_per_import: int
    integration_clients: int
    mobile_clients: int
    webhook_subscriptions: int
    users: int


class _Company(Stored):
    tenant: str
    plan: PlanName
    base_url: str
    features: list[str] = Field(description="The features of the plan.")
    limits: Limits
    timezone: str
    modules: Modules


class CompanySettings(Settings, _Company):
    """The settings of a company in responses. Fields not in SettingsChange are the operator's."""

    updated_at: Timestamp | None = Field(
        description="Time of the last change; null before the first."
    )
