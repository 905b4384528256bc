"""Addresses to which goods go: their checks, and the lines that labels and slips show."""

from typing import Any

from shared.kernel.validation import check, ensure_valid, problems_of
from shared.warehouse.documents.models import ExitDraft
from shared.warehouse.work.address import (
    ShipToAddressDraft,
    StoredAddress,
    lines_of,
    recipient_of,
    stored_address,
)
from shared.warehouse.work.countries import CODES

COUNTRY = "must be a country code of two capital letters (ISO 3166-1), such as ES"


def _problems(**parts: Any) -> dict[str, str]:
    found = problems_of(check(ExitDraft, {"ship_to_address": parts}))
    return {one.field: one.message for one in found if one.field.startswith("ship_to_address")}


def _stored(**parts: Any) -> StoredAddress | None:
    return stored_address(ensure_valid(check(ShipToAddressDraft, parts)))


def test_country_is_an_assigned_code_of_two_capitals() -> None:
    assert len(CODES) == 249
    for country in ("ES", "GB", " US ", None):
        assert _problems(country=country) == {}
    for country in ("Spain", "es", "XX", "UK", "EU", "ESP"):
        assert _problems(country=country) == {"ship_to_address.country": COUNTRY}


def test_all_problems_of_an_address_are_reported_together() -> None:
    found = _problems(
        name="x" * 101, company=5, city="Bell\x07", zip_code=28001, country="Spain", line2="x" * 100
    )

    assert found == {
        "ship_to_address.name": "must have at most 100 characters",
        "ship_to_address.company": "must be a text",
        "ship_to_address.city": "must not contain control characters",
        "ship_to_address.zip_code": "must be a text",
        "ship_to_address.country": COUNTRY,
    }


def test_address_without_a_part_is_none() -> None:
    assert _stored() is None
    assert _stored(name="", city=" ", country="") is None
    assert stored_address(None) is None


def test_parts_that_are_not_known_cost_no_storage() -> None:
    address = _stored(city=" Madrid ", country="ES", phone="")

    assert address is not None
    assert address.to_json() == '{"city":"Madrid","country":"ES"}'
    assert StoredAddress.from_json(address.to_json()) == address


def test_lines_name_the_person_the_street_the_town_and_the_contact() -> None:
    whole = StoredAddress(
        name="Ana Ruiz", company="Obras SA", line1="Calle Mayor 1", line2="2.º", city="Madrid",
        state="Madrid", zip_code="28001", country="ES", phone="910", email="ana@example.com",
    )  # fmt: skip
    person = StoredAddress(name="Ana Ruiz", city="Madrid")

    assert (recipient_of(whole), recipient_of(person)) == ("Obras SA", "Ana Ruiz")
    assert (recipient_of(StoredAddress(city="Madrid")), recipient_of(None)) == (None, None)
    assert lines_of(whole) == [
        "Ana Ruiz", "Calle Mayor 1", "2.º", "28001 Madrid, Madrid, ES", "910, ana@example.com",
    ]  # fmt: skip
    assert lines_of(person) == ["Madrid"]


def test_country_stands_alone_below_a_long_town() -> None:
    address = StoredAddress(
        city="Kingston upon Hull", state="East Riding of Yorkshire", zip_code="HU10 6RJ",
        country="GB",
    )  # fmt: skip

    assert lines_of(address) == [
        "HU10 6RJ Kingston upon Hull, East Riding of Yorkshire", "GB",
    ]  # fmt: skip
