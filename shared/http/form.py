"""Read `multipart/form-data`: the fields and the file of an upload."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from shared.http.request import body_bytes, headers_of
from shared.kernel.errors import BadRequest
from shared.kernel.uploaded_file import UploadedFile

_QUOTED = re.compile(r'"[^"]*"')
_EXTENDED_NAME = re.compile(r";\s*filename\*\s*=\s*([^;\s]*)", re.IGNORECASE)
"""A percent-encoded file name with its character set (RFC 8187): `utf-8'en'a%20b.csv`."""
_NAME_CHARSETS = {"utf-8", "iso-8859-1"}
"""Character sets of file names that are decoded. Other codecs of Python fail in their own ways, or
return text that cannot be stored."""
_MOST_PARTS = 20
_MOST_TEXT = 10_000
"""Bytes of a field that is not a file."""


def is_form(headers: Mapping[str, str]) -> bool:
    """Return whether a body is said to be a form."""
    return headers.get("content-type", "").lower().startswith("multipart/form-data")


def read_form(event: Mapping[str, Any]) -> dict[str, Any]:
    """Read the body of a gateway event as a form; the field `a[b]` is entry b of the object a.

    A value is a text or an UploadedFile, or a list when the field was sent more than once.

    Raises:
        BadRequest: Another content type, or a malformed form.
    """
    # Imported here, because only uploads need it.
    from multipart import MultipartParser, parse_options_header  # noqa: PLC0415

    media, options = parse_options_header(headers_of(event).get("content-type", ""))
    if media.lower() != "multipart/form-data" or not options.get("boundary"):
        raise BadRequest("The body must be sent as multipart/form-data with a boundary.")
    body = body_bytes(event)
    form: dict[str, Any] = {}
    try:
        parts = MultipartParser(
            BytesIO(body),
            options["boundary"],
            content_length=len(body),
            strict=True,
            part_limit=_MOST_PARTS,
            spool_limit=len(body) + 1,
            memory_limit=len(body) + 1,
        )
        for part in parts:
            _put(form, part.name, _value(part))
    except ValueError as error:  # MultipartError is one, and so are the errors of codecs
        message = f"The form cannot be read: {error}"
        raise BadRequest(message[:300]) from None
    return form


def _value(part: Any) -> str | UploadedFile:
    name = _file_name(part)
    if name is not None:
        return UploadedFile(name, part.raw)
    if part.size > _MOST_TEXT:
        raise BadRequest(f"The field {part.name[:50]!r} has more than {_MOST_TEXT} bytes.")
    text: str = part.raw.decode("utf-8")
    return text


def _file_name(part: Any) -> str | None:
    """Return the name of a file, empty if it cannot be decoded; None when the field is no file.

    An extended name that cannot be decoded is ignored if there is a plain one.
    """
    plain: str | None = part.filename
    header = _QUOTED.sub("", part.headers.get("content-disposition", ""))
    extended = _EXTENDED_NAME.search(header)
    return (_decoded_name(extended[1]) or plain or "") if extended else plain


def _decoded_name(extended: str) -> str:
    """Return an extended file name, empty if it cannot be decoded."""
    charset, _, rest = extended.partition("'")
    encoded = rest.partition("'")[2]
    if charset.lower() not in _NAME_CHARSETS or not encoded.isascii():
        return ""
    try:
        return unquote_to_bytes(encoded).decode(charset)
    except UnicodeDecodeError:
        return ""


def _put(form: dict[str, Any], name: str, value: str | UploadedFile) -> None:
    """Add a field; a field that is sent more than once becomes a list, which no model accepts."""
    outer, bracket, rest = name.partition("[")
    target = form
    if outer and bracket and rest.endswith("]"):
        inner = form.setdefault(outer, {})
        if isinstance(inner, dict):
            target, name = inner, rest[:-1]
    if name not in target:
        target[name] = value
    elif isinstance(target[name], list):
        target[name].append(value)
    else:
        target[name] = [target[name], value]
