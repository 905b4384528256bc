"""Parsing of multipart/form-data from different clients."""

from base64 import b64encode
from typing import Any

import pytest

from shared.http.form import read_form
from shared.kernel.errors import BadRequest
from shared.kernel.uploaded_file import UploadedFile


def event(*heads: str, value: bytes = b"x", media: str = "multipart/form-data") -> dict[str, Any]:
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
        event("name=\"file\"; filename*=nonsense''%41.csv"),
        {**event('name="kind"'), "body": b64encode(b"--B\r\nContent-Disp").decode()},
        {"headers": {"content-type": "multipart/form-data"}, "body": ""},
    ],
)
def test_invalid_form_is_a_bad_request(broken: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        read_form(broken)
