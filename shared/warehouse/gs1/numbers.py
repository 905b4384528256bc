"""The numbers of GS1 on plain text: check digits, and GTINs in their forms of 8 to 14 digits."""

GTIN_LENGTHS = (8, 12, 13, 14)
GTIN_DIGITS = 14
"""Digits of the longest form of a GTIN."""
SSCC_DIGITS = 18


def check_digit(digits: str) -> str:
    """Return the check digit that follows `digits` in a GTIN, an SSCC or another number of GS1."""
    weighted = (int(digit) * (3, 1)[place % 2] for place, digit in enumerate(reversed(digits)))
    return str(-sum(weighted) % 10)


def gtin_problem(text: str) -> str | None:
    """Return why a text is not a GTIN; None if it is one."""
    is_number = text.isascii() and text.isdecimal() and text.strip("0")
    if not is_number or len(text) not in GTIN_LENGTHS:
        return "must be a GTIN of 8, 12, 13 or 14 digits"
    return _digit_problem(text)


def sscc_problem(text: str) -> str | None:
    """Return why a text is not an SSCC; None if it is one."""
    if not (text.isascii() and text.isdecimal()) or len(text) != SSCC_DIGITS:
        return f"must be an SSCC of {SSCC_DIGITS} digits"
    return _digit_problem(text)


def _digit_problem(number: str) -> str | None:
    digit = check_digit(number[:-1])
    if number[-1] == digit:
        return None
    return f"ends in the check digit {number[-1]}, which must be {digit}"


def gtin_14(gtin: str) -> str:
    """Return a GTIN padded to 14 digits, so that its forms compare equal."""
    return gtin.zfill(GTIN_DIGITS)


def gtin_forms(gtin: str) -> list[str]:
    """Return all forms of a GTIN of 14 digits, the longest first."""
    zeros = len(gtin) - len(gtin.lstrip("0"))
    return [gtin[-length:] for length in reversed(GTIN_LENGTHS) if GTIN_DIGITS - length <= zeros]
