"""Parsing of multipart/form-data from different clients."""

from base64 import b64encode
from typing import Any

import pytest

from shared.http.form import read_form
from shared.kernel.errors import BadRequest
from shared.kernel.uploaded_file import UploadedFile
from tests.cases import each_case

MEDIA = "multipart/form-data"


def event(*heads: str, value: bytes = b"x", media: str = MEDIA) -> dict[str, Any]:
    parts = [
        f"--B\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + value + b"\r\n"
        for head in heads
    ]
    body = b"".join(parts) + b"--B--\r\n"
    return {
        "headers": {"Content-Type": f"{media}; boundary=B"},
        "body": b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def test_fields_and_files_are_read() -> None:
    form = read_form(event('name="kind"', 'name="options[on_duplicate]"', 'name="options[x]"'))
    assert form == {"kind": "x", "options": {"on_duplicate": "x", "x": "x"}}


@pytest.mark.parametrize(
    "head",
    [
        'name="file"; filename="artículos.xlsx"',
        "name=\"file\"; filename*=UTF-8''art%C3%ADculos.xlsx",
        "name=\"file\"; filename*=iso-8859-1'es'art%EDculos.xlsx",
        'name="file"; filename="=?utf-8?B?YXI=?="; filename*=utf-8\'\'art%C3%ADculos.xlsx',
    ],
)
def test_non_ascii_file_name_is_decoded(head: str) -> None:
    assert read_form(event(head)) == {"file": UploadedFile("artículos.xlsx", b"x")}


UNREADABLE_NAMES = [
    *(
        f"{charset}''{name}.csv"
        for charset in ("idna", "undefined", "unicode_escape", "utf-7", "punycode", "nonsense", "")
        for name in ("a", "%5Cud800", "+2AA-", "%FF", "%00")
    ),
    "UTF-8''%FF.csv",
    "UTF-8''%ED%A0%80.csv",
    "UTF-8''é.csv",
    "UTF-8''",
    "UTF-8'a.csv",
    "a.csv",
    "\"UTF-8''a.csv\"",
    "",
]
"""Values of filename* that have no name in UTF-8 or ISO-8859-1."""


@each_case("name", UNREADABLE_NAMES)
def test_unreadable_extended_file_name_is_ignored(name: str) -> None:
    alone = event(f'name="file"; filename*={name}')
    assert read_form(alone) == {"file": UploadedFile("", b"x")}
    beside_a_plain_one = event(f'name="file"; filename="plain.csv"; filename*={name}')
    assert read_form(beside_a_plain_one) == {"file": UploadedFile("plain.csv", b"x")}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('name="file"; filename="x; filename*=utf-8\'\'y.csv"', "x; filename*=utf-8''y.csv"),
        ("name=\"a; filename*=utf-8''y.csv\"", None),
    ],
)
def test_quoted_text_is_no_extended_file_name(head: str, expected: str | None) -> None:
    (value,) = read_form(event(head)).values()
    assert value == (UploadedFile(expected, b"x") if expected else "x")


def test_repeated_field_is_a_list() -> None:
    form = read_form(event('name="kind"', 'name="kind"', 'name="options"', 'name="options[a]"'))
    assert form == {"kind": ["x", "x"], "options": "x", "options[a]": "x"}


@pytest.mark.parametrize(
    "broken",
    [
        event('name="kind"', media="text/plain"),
        event('name="kind"', value=b"\xff"),
        event('name="kind"', value=b"x" * 10_001),
        event("nothing"),
        event(*['name="kind"'] * 21),
        {**event('name="kind"'), "headers": {"content-type": MEDIA + "; boundary=\ud800"}},
        {**event('name="kind"'), "body": b64encode(b"--B\r\nContent-Disp").decode()},
        {"headers": {"content-type": "multipart/form-data"}, "body": ""},
    ],
)
def test_invalid_form_is_a_bad_request(broken: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        read_form(broken)
