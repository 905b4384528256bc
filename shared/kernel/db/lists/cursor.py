"""The cursor of a list: a text for the caller that says where the next page begins."""

import base64
import binascii
import json
import re
from dataclasses import asdict, dataclass
from typing import Self

from shared.kernel.errors import Problem, ValidationFailed

type Mark = str | int
"""Where the next page begins. Each list has its own kind of mark and checks it."""

NOT_OF_THIS_LIST = "is not a cursor of this list with these filters; start again without it"

MAX_PER_PAGE = 100
MAX_CURSOR = 2000
"""Longest text of a cursor, in characters."""
_MAX_PAGE = 10**9
_SORT_KEY = re.compile("[^\x00-\x1f\ud800-\udfff]{0,800}\x1f([0-9]+)")
_SORT_KEY_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Cursor:
    """The list, page number and page size to continue with, and the mark."""

    listing: str
    """Digest of the list, its filters and its sort."""
    page: int
    per_page: int
    mark: Mark

    def text(self) -> str:
        """Return the text for the caller."""
        text = json.dumps(list(asdict(self).values()), ensure_ascii=False)
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of a caller, who may have invented it.

        Raises:
            ValueError: The text is not that of a cursor.
        """
        if len(text) > MAX_CURSOR:
            raise ValueError(text)
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            listing, page, per_page, mark = json.loads(raw)
        except (ValueError, binascii.Error, TypeError, RecursionError):
            raise ValueError(text) from None
        known = (
            isinstance(listing, str)
            and _is_between(page, 2, _MAX_PAGE)
            and _is_between(per_page, 1, MAX_PER_PAGE)
            and (isinstance(mark, str) or type(mark) is int)
        )
        if not known:
            raise ValueError(text)
        return cls(listing, page, per_page, mark)


def _is_between(value: object, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def sort_key_of(mark: Mark, id_digits: int) -> str:
    """Return a mark that is a sort key of an index.

    Raises:
        InvalidCursor: The mark is something else, which the caller may have invented.
    """
    key = _SORT_KEY.fullmatch(mark) if isinstance(mark, str) else None
    if not key or len(key[1]) != id_digits or len(key[0].encode()) > _SORT_KEY_BYTES:
        raise InvalidCursor
    return key[0]


class InvalidCursor(ValidationFailed):
    """422: the cursor is not that of this list or page."""

    def __init__(self, message: str = NOT_OF_THIS_LIST) -> None:
        super().__init__([Problem("cursor", message)])
