"""EPCs, compared with the examples of the Tag Data Standard and with an encoder of the tests."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.warehouse.gs1.epc import Epc, UnreadableEpcError, decode
from shared.warehouse.gs1.numbers import check_digit
from tests import epc_encoding as encoding
from tests.cases import each_case

_CHARACTERS = string.digits + string.ascii_letters + "!\"%&'()*+,-./:;<=>?_"

_SGTIN = Epc("sgtin", "80614141123458", "6789")
_TEXT_SGTIN = Epc("sgtin", "70614141123451", "32a/b")
_SSCC = Epc("sscc", "106141412345678908")
_GRAI = Epc("grai", "0614141123452", "5678")


@each_case(
    "example",
    [  # the Tag Data Standard 1.13, appendix E.3
        ("3074257BF7194E4000001A85", _SGTIN),
        ("3074257bf7194e4000001a85", _SGTIN),
        ("urn:epc:tag:sgtin-96:3.0614141.812345.6789", _SGTIN),
        ("urn:epc:tag:sgtin-198:3.0614141.812345.6789", _SGTIN),
        ("urn:epc:id:sgtin:0614141.812345.6789", _SGTIN),
        ("URN:EPC:id:sgtin:0614141.812345.6789", _SGTIN),
        ("3674257BF6B7A659B2C2BF1000000000000000000000000000", _TEXT_SGTIN),
        ("3674257BF6B7A659B2C2BF100000000000000000000000000000", _TEXT_SGTIN),
        ("urn:epc:tag:sgtin-198:3.0614141.712345.32a%2Fb", _TEXT_SGTIN),
        ("urn:epc:id:sgtin:0614141.712345.32a%2fb", _TEXT_SGTIN),
        ("3174257BF4499602D2000000", _SSCC),
        ("urn:epc:tag:sscc-96:3.0614141.1234567890", _SSCC),
        ("urn:epc:id:sscc:0614141.1234567890", _SSCC),
        ("3374257BF40C0E400000162E", _GRAI),
        ("urn:epc:tag:grai-96:3.0614141.12345.5678", _GRAI),
        ("urn:epc:id:grai:0614141.12345.5678", _GRAI),
        ("urn:epc:id:grai:061414112345..A1", Epc("grai", "0614141123452", "A1")),
    ],
)
def test_examples_of_the_standard_are_read(example: tuple[str, Epc]) -> None:
    assert decode(example[0]) == example[1]


@each_case(
    "text",
    [
        "", " ", "30", "3", "3074257BF7194E4000001A8", "3074257BF7194E4000001A8500",
        "3074257BF7194E4000001A85 ", "30 74 25 7B F7 19 4E 40 00 00 1A 85", "0x3074257BF7194E40",
        "2F74257BF7194E4000001A85",  # another header
        "307C257BF7194E4000001A85",  # partition 7
        f"{0x30 << 88 | 6 << 82 | 0xFFFFF << 62:024X}",  # a company prefix of 7 digits instead of 6
        "3174257BF4499602D2000001",  # bits after an SSCC
        "3674257BF6B7A659B2C2BF1000000000000000000000000001",  # bits after an SGTIN
        "3674257BF6B7A600000000000000000000000000000000000000",  # no serial
        "3674257BF6B7A600B2C2BF100000000000000000000000000000",  # a serial that begins with zero
        encoding.sgtin_198("0614141", "712345", "a b"),
        encoding.sgtin_198("0614141", "712345", "#"),
        "urn:epc:id:sgtin:0614141.812345", "urn:epc:id:sgtin:0614141.812345.",
        "urn:epc:id:sgtin:0614141.81234.6789", "urn:epc:id:sgtin:06141.41812345.6789",
        "urn:epc:id:sgtin:0614141812345..6789", "urn:epc:id:sgtin:061414x.812345.6789",
        "urn:epc:id:sgtin:\u0660614141.812345.6789", "urn:epc:id:sgtin:0614141.812345.a%20b",
        "urn:epc:id:sgtin:0614141.812345.a/b", "urn:epc:id:sgtin:0614141.812345." + "a" * 21,
        "urn:epc:tag:sgtin-96:8.0614141.812345.6789", "urn:epc:tag:sgtin-96:0614141.812345.6789",
        "urn:epc:tag:sgtin-96:3.0614141.812345.06789", "urn:epc:tag:sgtin-96:3.0614141.812345.a",
        "urn:epc:tag:sgtin-96:3.0614141.812345.274877906944",
        "urn:epc:tag:sgtin:3.0614141.812345.1",
        "urn:epc:id:sgtin-96:0614141.812345.6789", "urn:epc:id:sscc:0614141.1234567890.1",
        "urn:epc:id:sscc:0614141.123456789", "urn:epc:id:sgln:0614141.12345.400",
        "urn:epc:raw:96.x3074257BF7194E4000001A85", "urn:epc:", "urn:epc:id:sgtin:",
        "URN:EPC:ID:SGTIN:0614141.812345.6789",
    ],
)  # fmt: skip
def test_other_texts_are_unreadable(text: str) -> None:
    with pytest.raises(UnreadableEpcError):
        decode(text)


@given(
    st.integers(6, 12).flatmap(
        lambda count: st.tuples(
            st.text(string.digits, min_size=count, max_size=count),
            st.text(string.digits, min_size=17 - count, max_size=17 - count),
        )
    ),
    st.integers(0, 2**38 - 1),
    st.text(_CHARACTERS, min_size=1, max_size=20),
)
def test_every_form_names_the_same(numbers: tuple[str, str], serial: int, text: str) -> None:
    prefix, digits = numbers
    item, asset, filter_value = digits[: 13 - len(prefix)], digits[: 12 - len(prefix)], serial % 8
    body, written = f"{item[0]}{prefix}{item[1:]}", encoding.escaped(text)
    gtin = body + check_digit(body)
    sscc = f"{digits[0]}{prefix}{digits[1:]}"
    forms = {
        Epc("sgtin", gtin, str(serial)): [
            encoding.sgtin_96(prefix, item, serial, filter_value),
            encoding.sgtin_198(prefix, item, str(serial)),
            f"urn:epc:tag:sgtin-96:{filter_value}.{prefix}.{item}.{serial}",
        ],
        Epc("sgtin", gtin, text): [
            encoding.sgtin_198(prefix, item, text),
            encoding.sgtin_198(prefix, item, text, digits=50),
            f"urn:epc:tag:sgtin-198:{filter_value}.{prefix}.{item}.{written}",
            f"urn:epc:id:sgtin:{prefix}.{item}.{written}",
        ],
        Epc("sscc", sscc + check_digit(sscc)): [
            encoding.sscc_96(prefix, digits),
            f"urn:epc:tag:sscc-96:{filter_value}.{prefix}.{digits}",
            f"urn:epc:id:sscc:{prefix}.{digits}",
        ],
        Epc("grai", prefix + asset + check_digit(prefix + asset), str(serial)): [
            encoding.grai_96(prefix, asset, serial),
            f"urn:epc:tag:grai-96:{filter_value}.{prefix}.{asset}.{serial}",
            f"urn:epc:id:grai:{prefix}.{asset}.{serial}",
        ],
    }
    for epc, texts in forms.items():
        assert {decode(one) for one in texts} == {epc}


_NAMES = ("sgtin", "sgtin-96", "sgtin-198", "sscc", "sscc-96", "grai", "grai-96")


@given(
    st.text(max_size=80)
    | st.text(string.hexdigits, max_size=60)
    | st.builds(
        "{}{}".format, st.sampled_from(("30", "31", "33", "36")), st.text("0123456789abcdefABCDEF")
    )
    | st.builds(
        "{}{:0{}X}".format,
        st.sampled_from(("30", "31", "33", "36")),
        st.integers(0, 2**200 - 1),
        st.sampled_from((22, 48, 50)),
    )
    | st.builds(
        "urn:epc:{}:{}:{}".format,
        st.sampled_from(("id", "tag", "raw")),
        st.sampled_from(_NAMES),
        st.text("0123456789.%2Fa:", max_size=60),
    )
)
def test_a_text_is_an_epc_or_unreadable(text: str) -> None:
    try:
        epc = decode(text)
    except UnreadableEpcError:
        return
    assert epc.key.isdecimal()
