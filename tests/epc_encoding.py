"""Encodes EPCs as the GS1 EPC Tag Data Standard describes it: field by field, as text of bits.

Independent of `shared.warehouse.gs1.epc`; tests use it to make tags and to check the decoder.
"""

from shared.warehouse.gs1.numbers import GTIN_DIGITS

_PREFIX_BITS = {12: 40, 11: 37, 10: 34, 9: 30, 8: 27, 7: 24, 6: 20}
_OWN_DIGITS = 7
"""Digits of the company prefixes of the tests."""
_ESCAPED = '"%&/<>?'


def _bits(number: int, width: int) -> str:
    text = f"{number:b}".zfill(width)
    assert len(text) == width, (number, width)
    return text


def _head(header: int, filter_value: int, prefix: str, reference: str, width: int) -> str:
    """Return header, filter, partition, company prefix and reference, these in `width` bits."""
    prefix_bits = _PREFIX_BITS[len(prefix)]
    return (
        _bits(header, 8)
        + _bits(filter_value, 3)
        + _bits(12 - len(prefix), 3)
        + _bits(int(prefix), prefix_bits)
        + _bits(int(reference or 0), width - prefix_bits)
    )


def _hex(bits: str, digits: int) -> str:
    return f"{int(bits.ljust(digits * 4, '0'), 2):0{digits}X}"


def sgtin_96(prefix: str, reference: str, serial: int, filter_value: int = 1) -> str:
    """Return the hexadecimal digits of an SGTIN with a serial of digits."""
    return _hex(_head(0x30, filter_value, prefix, reference, 44) + _bits(serial, 38), 24)


def sgtin_198(prefix: str, reference: str, serial: str, digits: int = 52) -> str:
    """Return the hexadecimal digits of an SGTIN with a serial of up to 20 characters."""
    characters = "".join(_bits(ord(character), 7) for character in serial)
    return _hex(_head(0x36, 1, prefix, reference, 44) + characters, digits)


def sscc_96(prefix: str, reference: str) -> str:
    """Return the hexadecimal digits of an SSCC; the reference begins with the extension digit."""
    return _hex(_head(0x31, 0, prefix, reference, 58), 24)


def grai_96(prefix: str, reference: str, serial: int) -> str:
    """Return the hexadecimal digits of a GRAI."""
    return _hex(_head(0x33, 0, prefix, reference, 44) + _bits(serial, 38), 24)


def escaped(serial: str) -> str:
    """Return a serial as a URN writes it."""
    return "".join(f"%{ord(one):02X}" if one in _ESCAPED else one for one in serial)


def tag_of(gtin: str, serial: int | str) -> str:
    """Return the tag of a GTIN of 8 to 14 digits, with a serial of digits or of characters."""
    prefix, reference = _parts(gtin.zfill(GTIN_DIGITS))
    if isinstance(serial, int):
        return sgtin_96(prefix, reference, serial)
    return sgtin_198(prefix, reference, serial)


def sscc_tag_of(sscc: str) -> str:
    """Return the tag of an SSCC."""
    return sscc_96(*_parts(sscc))


def _parts(digits: str) -> tuple[str, str]:
    """Return company prefix and reference of a GTIN or SSCC, without its check digit."""
    return digits[1 : 1 + _OWN_DIGITS], digits[0] + digits[1 + _OWN_DIGITS : -1]
