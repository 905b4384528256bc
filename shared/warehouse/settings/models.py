"""Settings in the interface: request bodies and responses."""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from shared.identity.tenancy.rules import timezone_problem
from shared.identity.tenancy.tenant import PlanName
from shared.kernel.fields import ONE_LINE, WHOLE_NUMBER, Input, Measure, Stored, Timestamp
from shared.warehouse.settings.values import (
    COMPANY_PREFIX,
    MAX_EXTENSION_DIGIT,
    MAX_VALUES,
    OPTIONAL,
    Settings,
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
_SENT_AS: Mapping[str, Any] = {
    "gs1_company_prefix": _Prefix | None,
    "sscc_extension_digit": _Digit,
}
"""Name of each setting that requests restrict more than its stored type → its type in requests."""


class ModulesChange(Input):
    """Modules to enable or disable. Modules that are not sent keep their state."""

    waves: bool = False
    transfer_orders: bool = Field(
        default=False, description="Enabling it requires two active warehouses."
    )
    bulk_import: bool = False


class _CompanyChange(Input):
    timezone: _Zone = Field(
        default="", description="A name in the IANA time zone database, such as Europe/Madrid."
    )
    modules: ModulesChange = Field(default_factory=ModulesChange)

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, timezone: str) -> str:
        return _value_or_error(timezone, timezone_problem(timezone))


def _sent_field(name: str, field: FieldInfo) -> tuple[Any, Any]:
    """Return a setting as a field of a request."""
    sent: Any = _SENT_AS.get(name, field.annotation)
    more: dict[str, Any] = {}
    if name in MAX_VALUES:
        bounded: Any = Annotated[Measure, AfterValidator(partial(_checked_number, name))]
        sent = bounded | None if name in OPTIONAL else bounded
        more = {"maximum": MAX_VALUES[name]}
    default, description = field.default, field.description
    return sent, Field(default=default, description=description, json_schema_extra=more or None)


def _checked_number(name: str, number: Decimal) -> Decimal:
    return _value_or_error(number, number_problem(name, number))


if TYPE_CHECKING:

    class SettingsChange(_CompanyChange):
        """Changes of the settings. Its other fields are those of Settings."""

else:
    SettingsChange = create_model(
        "SettingsChange",
        __base__=_CompanyChange,
        __module__=__name__,
        __doc__="Changes of the settings. Fields that are not sent keep their values.",
        **{name: _sent_field(name, field) for name, field in Settings.model_fields.items()},
    )


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
