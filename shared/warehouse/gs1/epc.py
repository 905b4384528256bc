"""Electronic Product Codes (EPC) of RFID tags, from their binary form and from their URNs.

GS1 EPC Tag Data Standard 1.13, sections 6 (pure identity), 12 (tag URN) and 14 (binary). A binary
form has a header, a filter, a partition (how many digits the company prefix has), the company
prefix, a reference, and a serial number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shared.warehouse.gs1.numbers import check_digit

_PARTITIONS = ((12, 40), (11, 37), (10, 34), (9, 30), (8, 27), (7, 24), (6, 20))
"""Digits and bits of the company prefix, by partition."""
_SERIAL_BITS = 38
"""Bits of a serial number of digits only."""
_CHARACTER_BITS = 7

_HEX = re.compile(r"[0-9A-Fa-f]+")
_DIGITS = re.compile(r"[0-9]*")
_SERIAL_NUMBER = re.compile(r"0|[1-9][0-9]{0,11}")
_TEXT = re.compile(r"[!\"%&'()*+,\-./0-9:;<=>?A-Z_a-z]+")
"""The characters of GS1 (GS1 General Specifications, figure 7.11-1)."""
_ESCAPED_TEXT = re.compile(r"(?:[!'()*+,\-.0-9:;=A-Z_a-z]|%2[256Ff]|%3[CcEeFf])+")
"""The same in a URN, where `"`, `%`, `&`, `/`, `<`, `>` and `?` are escaped."""
_ESCAPE = re.compile("%(..)")


class UnreadableEpcError(ValueError):
    """A text is no EPC of a supported scheme."""


@dataclass(frozen=True, slots=True)
class Epc:
    """What an EPC names; equal in all of its forms.

    `key` is the GTIN of 14 digits, the SSCC, or the GRAI without its serial. `serial` is empty for
    an SSCC, which is a serial number as a whole.
    """

    scheme: Literal["sgtin", "sscc", "grai"]
    key: str
    serial: str = ""


@dataclass(frozen=True, slots=True)
class _Scheme:
    """A scheme: `digits` and `bits` are those of company prefix and reference together.

    `max_serial` is the number of characters of a serial number in the pure identity; 0 for none.
    """

    name: Literal["sgtin", "sscc", "grai"]
    digits: int
    bits: int
    max_serial: int

    def epc(self, prefix: str, reference: str, serial: str) -> Epc:
        """Return the EPC of a company prefix and a reference, whose digits are examined here."""
        is_known = 6 <= len(prefix) <= 12 and len(prefix) + len(reference) == self.digits  # noqa: PLR2004
        if not (is_known and _DIGITS.fullmatch(prefix) and _DIGITS.fullmatch(reference)):
            raise UnreadableEpcError
        # The first digit of a reference (indicator, extension) is the first of a GTIN and an SSCC.
        ahead = 0 if self.name == "grai" else 1
        body = f"{reference[:ahead]}{prefix}{reference[ahead:]}"
        return Epc(self.name, f"{body}{check_digit(body)}", serial)


@dataclass(frozen=True, slots=True)
class _Tag:
    """The binary form of a scheme: `tail_bits` are those of the serial number, or are zero."""

    scheme: _Scheme
    tail_bits: int

    @property
    def has_text(self) -> bool:
        """Whether the serial number is a text."""
        return self.tail_bits > _SERIAL_BITS

    @property
    def bits(self) -> int:
        """Bits of the whole EPC: header, filter and partition have 14."""
        return 14 + self.scheme.bits + self.tail_bits


_SGTIN = _Scheme("sgtin", digits=13, bits=44, max_serial=20)
_SSCC = _Scheme("sscc", digits=17, bits=58, max_serial=0)
_GRAI = _Scheme("grai", digits=12, bits=44, max_serial=16)
_SCHEMES: Mapping[str, _Scheme] = {scheme.name: scheme for scheme in (_SGTIN, _SSCC, _GRAI)}
_TAGS: Mapping[str, _Tag] = {
    "sgtin-96": _Tag(_SGTIN, _SERIAL_BITS),
    "sgtin-198": _Tag(_SGTIN, 20 * _CHARACTER_BITS),
    "sscc-96": _Tag(_SSCC, 24),
    "grai-96": _Tag(_GRAI, _SERIAL_BITS),
}
_HEADERS = {0x30: "sgtin-96", 0x31: "sscc-96", 0x33: "grai-96", 0x36: "sgtin-198"}


def decode(text: str) -> Epc:
    """Return what an EPC names: hexadecimal digits, a tag URN or a pure identity URN.

    Raises:
        UnreadableEpcError: It has another scheme or length, or a value that its scheme does not
            allow.
    """
    if _HEX.fullmatch(text):
        return _from_hex(text)
    parts = text.split(":", 4)
    # RFC 8141: scheme and namespace may be of either case, the rest is case-sensitive.
    if [one.lower() for one in parts[:2]] != ["urn", "epc"] or len(parts) != 5:  # noqa: PLR2004
        raise UnreadableEpcError
    _, _, form, name, body = parts
    tag = _TAGS.get(name) if form == "tag" else None
    scheme = tag.scheme if tag else _SCHEMES.get(name) if form == "id" else None
    if scheme is None:
        raise UnreadableEpcError
    return _from_urn(scheme, tag, body)


def _from_hex(text: str) -> Epc:
    """Decode the binary form, which zeros fill up to whole bytes or to words of 16 bits."""
    tag = _TAGS.get(_HEADERS.get(int(text[:2], 16), ""))
    if tag is None or len(text) * 4 not in {-(-tag.bits // unit) * unit for unit in (8, 16)}:
        raise UnreadableEpcError
    value, filling = int(text, 16), len(text) * 4 - tag.bits
    rest, tail = divmod(value >> filling, 1 << tag.tail_bits)
    if value & ((1 << filling) - 1) or (tail and not tag.scheme.max_serial):
        raise UnreadableEpcError
    both, partition = rest & ((1 << tag.scheme.bits) - 1), (rest >> tag.scheme.bits) & 7
    if partition >= len(_PARTITIONS):
        raise UnreadableEpcError
    prefix_digits, prefix_bits = _PARTITIONS[partition]
    prefix, reference = divmod(both, 1 << (tag.scheme.bits - prefix_bits))
    serial = _text_of(tail) if tag.has_text else str(tail) if tag.scheme.max_serial else ""
    return tag.scheme.epc(
        _filled(prefix, prefix_digits),
        _filled(reference, tag.scheme.digits - prefix_digits),
        serial,
    )


def _filled(number: int, digits: int) -> str:
    """Return a number with leading zeros; it is longer if it has more digits."""
    return f"{number:0{digits}d}" if digits or number else ""


def _text_of(value: int) -> str:
    """Return the text of a serial number: characters of 7 bits, then zeros only."""
    places = range(19 * _CHARACTER_BITS, -1, -_CHARACTER_BITS)
    text = "".join(chr((value >> place) & 0x7F) for place in places).rstrip("\0")
    if not _TEXT.fullmatch(text):
        raise UnreadableEpcError
    return text


def _from_urn(scheme: _Scheme, tag: _Tag | None, body: str) -> Epc:
    parts = body.split(".", (1 if scheme.max_serial else 0) + (1 if tag is None else 2))
    if tag is not None and not re.fullmatch("[0-7]", parts.pop(0)):
        raise UnreadableEpcError
    if len(parts) != (3 if scheme.max_serial else 2):
        raise UnreadableEpcError
    prefix, reference, *rest = parts
    return scheme.epc(prefix, reference, _serial_of(scheme, tag, rest[0]) if rest else "")


def _serial_of(scheme: _Scheme, tag: _Tag | None, written: str) -> str:
    """Return the serial number in a URN; the tag may allow numbers only."""
    if tag is not None and not tag.has_text:
        if not _SERIAL_NUMBER.fullmatch(written) or int(written) >= 1 << _SERIAL_BITS:
            raise UnreadableEpcError
        return written
    if not _ESCAPED_TEXT.fullmatch(written):
        raise UnreadableEpcError
    serial = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), written)
    if len(serial) > scheme.max_serial:
        raise UnreadableEpcError
    return serial
