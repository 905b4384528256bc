"""The settings of a company, which are attributes of its item in the control table."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from pydantic import Field

from shared.identity.tenancy.tenant import Tenant
from shared.kernel.clock import Instant
from shared.kernel.company import Company
from shared.kernel.errors import Problem
from shared.kernel.fields import Number, Stored

type Substitution = Literal["none", "position", "batch", "any"]
"""What may be picked instead of the allocated stock; `any` is another position and batch."""

SUBSTITUTIONS: tuple[Substitution, ...] = get_args(Substitution.__value__)


class Settings(Stored):
    """The settings of a company. `model_construct` makes them without a check."""

    receipt_tolerance: Number = Field(
        default=Decimal(0),
        description="Percentage above the ordered quantity that may be received without approval.",
    )
    pick_substitution: Substitution = Field(
        default="none", description="What may be picked instead of the allocated stock."
    )
    minutes_per_unit: Number = Field(
        default=Decimal("0.5"), description="Standard minutes to pick one unit."
    )
    minutes_per_trip: Number = Field(
        default=Decimal(5), description="Standard minutes to walk to a position and back."
    )
    commit_drops: bool = Field(
        default=False,
        description="Whether files dropped into the import bucket are committed automatically.",
    )
    imports_require_kind_scope: bool = Field(
        default=False,
        description="Whether uploading, reading, committing and canceling an import also requires"
        " the scope or permission of what it imports.",
    )
    approval_shortage_percent: Number | None = Field(
        default=None,
        description="Percentage of a picking's quantity that may be short without approval; null"
        " if no shortage requires one.",
    )
    approval_adjustment_qty: Number | None = Field(
        default=None,
        description="Units that a stock adjustment may change without approval; null if none"
        " requires one.",
    )
    blind_returns: bool = Field(
        default=False, description="Whether returns without an exit document are accepted."
    )
    packing_required: bool = Field(
        default=False, description="Whether only packed goods are dispatched."
    )
    rfid_required: bool = Field(
        default=False,
        description="Whether a packing order must pass an RFID validation before it is completed.",
    )
    gs1_company_prefix: str | None = Field(
        default=None,
        description="Digits assigned by GS1; with them, new handling units have an SSCC.",
    )
    sscc_extension_digit: int = Field(
        default=0, description="First digit of the SSCCs of new units."
    )


@dataclass(frozen=True, slots=True)
class SettingsSnapshot:
    """A tenant with its settings, as read, and the version of the settings."""

    tenant: Tenant
    version: int
    """Incremented with every change of the settings; 0 before the first."""
    updated_at: Instant | None
    """Time of the last change; None before the first."""


SETTING_NAMES = frozenset(Settings.model_fields)
"""Names of the settings and of their attributes."""
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


def settings_of(company: Company) -> Settings:
    """Return the settings of a company. One that was never changed has its default."""
    values: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        match company.item.get(name):
            case {"N": number}:
                values[name] = int(number) if field.annotation is int else Decimal(number)
            case {"S": text}:
                values[name] = text
            case {"BOOL": flag}:
                values[name] = flag
            case {"NULL": _}:
                values[name] = None
    return Settings.model_construct(**values)


def setting_attribute(value: Decimal | str | bool | None) -> Mapping[str, Any]:  # noqa: FBT001  a value, not an option
    """Return the attribute that stores the value of a setting."""
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"S": value} if isinstance(value, str) else {"N": f"{Decimal(value):f}"}


def setting_problems(settings: Settings) -> Iterator[Problem]:
    """Yield the problems of settings."""
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
