"""Serial Shipping Container Codes (SSCC): 18 digits that name one handling unit in the world.

GS1 General Specifications, section 3.2: an extension digit, the company prefix that GS1 has
assigned, a serial reference of the company, and a check digit.
"""

_DIGITS = 17
"""Digits before the check digit."""


def sscc(extension_digit: int, company_prefix: str, serial: int) -> str:
    """Return the SSCC with a serial reference; it begins again once all its digits are used."""
    places = _DIGITS - 1 - len(company_prefix)
    body = f"{extension_digit}{company_prefix}{serial % 10**places:0{places}d}"
    return f"{body}{check_digit(body)}"


def check_digit(body: str) -> int:
    """Return the check digit of GS1 for the digits before it: weights 3, 1, 3 … from the right."""
    weighted = (int(digit) * (3, 1)[at % 2] for at, digit in enumerate(reversed(body)))
    return -sum(weighted) % 10
