"""A page of a list."""

from dataclasses import dataclass

from shared.kernel.db.lists.cursor import Mark
from shared.kernel.db.records import Record


@dataclass(frozen=True, slots=True)
class Page[E]:
    """One page: its records, the exact total, and where the next page begins."""

    records: list[Record[E]]
    total: int
    page: int
    per_page: int
    next_mark: Mark | None
    """None when there is no next page."""
    ids_digest: str = ""
    """Digest of the ids of the whole list, if `next_mark` is another one at each request."""
