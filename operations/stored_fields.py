"""What single attributes of the items of a tenant's table may be, wherever they stand."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from shared.identity.users import passwords
from shared.kernel.clock import now_ms, parse_date_time
from shared.kernel.fields import MAX_ID

_MOST = 10**15
_LONGEST = 100 * 86_400
"""Seconds; longer than any item of a table has until it expires."""


def _expiry(seconds: int) -> int:
    if seconds > now_ms() // 1000 + _LONGEST:
        raise ValueError(f"must be at most {_LONGEST // 86_400} days from now")
    return seconds


def _past(seconds: int) -> int:
    if seconds > now_ms() // 1000 + 86_400:
        raise ValueError("must not be in the future")
    return seconds


def check_instant(text: str) -> str:
    """Return a stored Instant; raise ValueError for another text."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII):
        raise ValueError("must be an instant, such as 2026-03-01T09:30:00.000Z")
    parse_date_time(text)
    return text


def check_day(text: str) -> str:
    """Return a stored date; raise ValueError for another text."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        raise ValueError("must be a date, YYYY-MM-DD")
    parse_date_time(f"{text}T00:00:00Z")
    return text


def check_password(text: str) -> str:
    """Return a stored hash of a password; raise ValueError for another text."""
    if not passwords.is_hash(text):
        raise ValueError("must be a hash as this release makes it, with the same parameters")
    return text


type Count = Annotated[int, Field(ge=0, le=_MOST)]
type Difference = Annotated[int, Field(ge=-_MOST, le=_MOST)]
type Id = Annotated[int, Field(ge=1, le=MAX_ID)]
type Ids = Annotated[set[Id], Field(min_length=1)]
type Expiry = Annotated[int, Field(ge=0), AfterValidator(_expiry)]
type Past = Annotated[int, Field(ge=0), AfterValidator(_past)]
type Text = Annotated[str, StringConstraints(max_length=2048, pattern=r"^[^\x00-\x1f\x7f]*$")]
type Instant = Annotated[str, AfterValidator(check_instant)]
type Digest = Annotated[bytes, Field(min_length=32, max_length=32)]
type HexDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
type Version = Annotated[int, Field(ge=1, le=_MOST)]
type Facets = dict[str, str]
