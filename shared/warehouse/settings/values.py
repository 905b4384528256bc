"""The settings of a company, which are attributes of its item in the control table."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAliasType, get_args, get_origin

from pydantic import Field

from shared.identity.tenancy.tenant import Tenant
from shared.kernel.clock import Instant
from shared.kernel.company import Company
from shared.kernel.errors import Problem
from shared.kernel.fields import Number, Stored

type Substitution = Literal["none", "position", "batch", "any"]
"""What may be picked instead of the allocated stock; `any` is another position and batch."""
type DispatchRest = Literal["close", "keep"]
"""What a dispatch does with the quantities that are not picked: give them up, or keep them open."""

type Oversell = Literal["allow", "refuse"]
"""Whether exit documents may order more than can be sold."""
REFUSE_SINCE = 4
"""Version of the schema from which on levels say what can be sold, which `refuse` needs."""
type ExpiredStock = Literal["block", "allow"]
"""Whether goods past their expiry date are kept from orders and blocked, or treated as others."""


type Capacity = Literal["ignore", "enforce"]
"""Whether positions may get more than their capacities allow."""


@dataclass(frozen=True, slots=True)
class UpTo:
    """Says of a number that it is from 0 to `most`, with at most 6 decimals."""

    most: int


class Settings(Stored):
    """The settings of a company. `model_construct` makes them without a check.

    The request that changes them, its checks, the options of `stowage tenant settings` and the
    attributes that the role may write follow from these fields.
    """

    receipt_tolerance: Annotated[Number, UpTo(100)] = Field(
        default=Decimal(0),
        description="Percentage above the ordered quantity of each line of a document that"
        " may be received without approval.",
    )
    pick_substitution: Substitution = Field(
        default="none",
        description="What may be picked instead of the allocated stock. Serials and batches"
        " that an order names are binding, except with `any`.",
    )
    minutes_per_unit: Annotated[Number, UpTo(1440)] = Field(
        default=Decimal("0.5"),
        description="Standard minutes to pick one unit, for the metrics of waves.",
    )
    minutes_per_trip: Annotated[Number, UpTo(1440)] = Field(
        default=Decimal(5),
        description="Standard minutes to walk to a position and back, for the metrics of waves.",
    )
    commit_drops: bool = Field(
        default=False,
        description="Whether files dropped into the import bucket are committed automatically.",
    )
    imports_require_kind_scope: bool = Field(
        default=False,
        description="Whether an import also requires the scope or permission of what it imports.",
    )
    approval_shortage_percent: Annotated[Number | None, UpTo(100)] = Field(
        default=None,
        description="Percentage of a picking's quantity that may be short without approval;"
        " null switches the rule off.",
    )
    approval_adjustment_qty: Annotated[Number | None, UpTo(999_999_999)] = Field(
        default=None,
        description="Units that a stock adjustment may change without approval; null switches"
        " the rule off.",
    )
    blind_returns: bool = Field(
        default=False,
        description="Whether returns without an exit document are accepted.",
    )
    packing_required: bool = Field(
        default=False,
        description="Whether only packed goods are dispatched.",
    )
    dispatch_rest: DispatchRest = Field(
        default="close",
        description="What a dispatch does with the quantities that are not picked, unless it says:"
        " `close` gives them up and closes the document, `keep` leaves them open.",
    )
    expired_stock: ExpiredStock = Field(
        default="block",
        description="Whether goods past their expiry date, or with fewer days left than their"
        " product requires, are kept from orders (`block`) or treated as other goods (`allow`)."
        " `block` also moves available goods past their date to the inventory status `blocked`.",
    )
    oversell: Oversell = Field(
        default="allow",
        description="Whether exit documents that order more than can be sold are accepted. With"
        " `refuse`, creating one, adding lines and raising quantities is 422 rule_blocked on each"
        " line of a product of which not enough is `sellable`.",
    )
    capacity: Capacity = Field(
        default="ignore",
        description="Whether positions may get more than their capacities allow. With `enforce`,"
        " receiving, transferring and restocking more than fits is 422 rule_blocked, with what"
        " fits.",
    )
    request_log: bool = Field(
        default=False,
        description="Whether the requests of API clients are kept for 7 days, for"
        " `GET /request-log`.",
    )
    rfid_required: bool = Field(
        default=False,
        description="Whether a packing order must pass an RFID validation before it is completed.",
    )
    gs1_company_prefix: str | None = Field(
        default=None,
        description="Company prefix that GS1 has assigned, 4 to 12 digits; null for none."
        " With it, new handling units have an SSCC.",
    )
    sscc_extension_digit: int = Field(
        default=0,
        description="First digit of the SSCCs of new handling units.",
    )


@dataclass(frozen=True, slots=True)
class SettingsSnapshot:
    """A tenant with its settings, as read, and the version of the settings."""

    tenant: Tenant
    version: int
    """Incremented with every change of the settings; 0 before the first."""
    updated_at: Instant | None
    """Time of the last change; None before the first."""


def _choices(kind: Any) -> tuple[str, ...]:
    """Return the texts of an alias of a Literal; none for another type."""
    value = kind.__value__ if isinstance(kind, TypeAliasType) else None
    return get_args(value) if get_origin(value) is Literal else ()


SETTING_NAMES = frozenset(Settings.model_fields)
"""Names of the settings and of their attributes."""
MAX_VALUES = {
    name: mark.most
    for name, field in Settings.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, UpTo)
}
"""Name of each numeric setting → its largest value."""
OPTIONAL = frozenset(name for name, field in Settings.model_fields.items() if field.default is None)
"""Settings that may be None, which switches their rule off."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    name: choices
    for name, field in Settings.model_fields.items()
    if (choices := _choices(field.annotation))
}
"""Name of each setting that is one of several texts → these."""
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
        if value is None and name in OPTIONAL:
            continue
        if problem := number_problem(name, Decimal("NaN") if value is None else value):
            yield Problem(name, problem)
    for name, choices in CHOICES.items():
        if getattr(settings, name) not in choices:
            yield Problem(name, f"must be one of {', '.join(choices)}")
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
