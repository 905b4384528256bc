"""Serial Shipping Container Codes (SSCC): 18 digits that name one handling unit in the world.

GS1 General Specifications, section 3.2: an extension digit, the company prefix that GS1 has
assigned, a serial reference of the company, and a check digit.
"""

from shared.warehouse.gs1.numbers import check_digit

_DIGITS = 17
"""Digits before the check digit."""


def sscc(extension_digit: int, company_prefix: str, serial: int) -> str:
    """Return the SSCC with a serial reference; it begins again once all its digits are used."""
    places = _DIGITS - 1 - len(company_prefix)
    body = f"{extension_digit}{company_prefix}{serial % 10**places:0{places}d}"
    return f"{body}{check_digit(body)}"
