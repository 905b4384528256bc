"""Read `multipart/form-data`: the fields and the file of an upload."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from shared.http.request import body_bytes, headers_of
from shared.kernel.errors import BadRequest
from shared.kernel.uploaded_file import UploadedFile

_EXTENDED_NAME = re.compile(r"filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)", re.IGNORECASE)
"""A file name in another character set (RFC 5987)."""
_MOST_PARTS = 20
_MOST_TEXT = 10_000
"""Bytes of a field that is not a file."""


def read_form(event: Mapping[str, Any]) -> dict[str, Any]:
    """Read the body of a gateway event as a form; the field `a[b]` is entry b of the object a.

    Returns:
        Field name → text or UploadedFile, or a list when the field was sent more than once.

    Raises:
        BadRequest: Another content type, or the form is malformed.
    """
    # Imported here, because only uploads need it.
    from multipart import MultipartError, MultipartParser, parse_options_header  # noqa: PLC0415

    media, options = parse_options_header(headers_of(event).get("content-type", ""))
    if media.lower() != "multipart/form-data" or not options.get("boundary"):
        message = "The body must be sent as multipart/form-data with a boundary."
        raise BadRequest(message)
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
    except (MultipartError, UnicodeDecodeError, LookupError) as error:
        message = f"The form cannot be read: {error}"
        raise BadRequest(message[:300]) from None
    return form


def _value(part: Any) -> str | UploadedFile:
    name = _file_name(part)
    if name is not None:
        return UploadedFile(name, part.raw)
    if part.size > _MOST_TEXT:
        message = f"The field {part.name[:50]!r} has more than {_MOST_TEXT} bytes."
        raise BadRequest(message)
    text: str = part.raw.decode("utf-8")
    return text


def _file_name(part: Any) -> str | None:
    """Return the name of a file; None when the field is not a file."""
    extended = _EXTENDED_NAME.search(part.headers.get("content-disposition", ""))
    if extended:
        return unquote(extended[2], encoding=extended[1], errors="replace")
    name: str | None = part.filename
    return name


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
