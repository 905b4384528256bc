"""RFID tags of goods, for the demo and the sample data."""

from shared.warehouse.gs1.numbers import gtin_14

_PREFIX_DIGITS = 7


def tag_of(gtin: str, serial: int | str) -> str:
    """Return the EPC of one unit of a GTIN, as a pure identity URN."""
    digits = gtin_14(gtin)
    prefix, item = digits[1 : 1 + _PREFIX_DIGITS], digits[1 + _PREFIX_DIGITS : -1]
    return f"urn:epc:id:sgtin:{prefix}.{digits[0]}{item}.{serial}"
