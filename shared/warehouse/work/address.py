"""Where the goods of an order go, and with which carrier."""

import operator
from collections.abc import Iterable
from typing import Annotated, TypedDict

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import CODE, ONE_LINE, Input, Stored

MAX_PART = 100
"""Characters of a part of an address."""
_LABEL_LINE = 40
"""Characters of a line of an address that fit on a label, whatever they are."""


def _country(text: str) -> str:
    if not text:
        return text
    # Loaded with the first address: no function needs the codes to start.
    from shared.warehouse.work.countries import CODES  # noqa: PLC0415

    if text not in CODES:
        raise PydanticCustomError(
            "country", "must be a country code of two capital letters (ISO 3166-1), such as ES"
        )
    return text


def _text_or_none(text: str | None) -> str | None:
    return text or None


type AddressText = Annotated[
    Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_PART), ONE_LINE] | None,
    AfterValidator(_text_or_none),
]
"""A part of an address: up to 100 characters; an empty text is None."""
type Country = Annotated[
    Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        AfterValidator(_country),
        WithJsonSchema({"type": "string", "pattern": "^([A-Z]{2})?$"}),
    ]
    | None,
    AfterValidator(_text_or_none),
]
"""An assigned country code of ISO 3166-1 alpha-2, such as ES; an empty text is None."""
type CarrierCode = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20), CODE
]
"""Code of a carrier or of one of its services: 1 to 20 characters."""


class ShipToAddressDraft(Input):
    """Where the goods of an order go."""

    name: AddressText = None
    company: AddressText = None
    line1: AddressText = None
    line2: AddressText = None
    city: AddressText = None
    state: AddressText = None
    zip_code: AddressText = None
    country: Country = None
    phone: AddressText = None
    email: AddressText = None


_Part = Annotated[str | None, Field(exclude_if=operator.not_)]


class StoredAddress(Stored):
    """An address as stored, with the parts that it has."""

    name: _Part = None
    company: _Part = None
    line1: _Part = None
    line2: _Part = None
    city: _Part = None
    state: _Part = None
    zip_code: _Part = None
    country: _Part = None
    phone: _Part = None
    email: _Part = None


class ShipToAddress(TypedDict):
    """Where the goods of an order go."""

    name: str | None
    company: str | None
    line1: str | None
    line2: str | None
    city: str | None
    state: str | None
    zip_code: str | None
    country: str | None
    phone: str | None
    email: str | None


def stored_address(draft: ShipToAddressDraft | None) -> StoredAddress | None:
    """Return the address that a body gives; None if it has no part."""
    parts = draft.model_dump(exclude_none=True) if draft else {}
    return StoredAddress(**parts) if parts else None


def recipient_of(address: StoredAddress | None) -> str | None:
    """Return who receives the goods: the company, or the person; None if neither is known."""
    return (address.company or address.name) if address else None


def lines_of(address: StoredAddress) -> list[str]:
    """Return the lines of an address that labels and slips show below `recipient_of`."""
    place = _joined(", ", [_joined(" ", [address.zip_code, address.city]), address.state])
    # The end of a line that is too long for a label is cut, so the country is not in it.
    is_long = len(place) > _LABEL_LINE
    return [
        line
        for line in (
            address.name if address.company else None,
            address.line1,
            address.line2,
            place if is_long else _joined(", ", [place, address.country]),
            address.country if is_long else None,
            _joined(", ", [address.phone, address.email]),
        )
        if line
    ]


def _joined(separator: str, parts: Iterable[str | None]) -> str:
    return separator.join(part for part in parts if part)
