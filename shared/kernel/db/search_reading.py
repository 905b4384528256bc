"""Reading the entries that a search examines: of the word that has the fewest, and not too many."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from shared.kernel.db.items import AttributeMap, Item
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.plan import AccessPath
from shared.kernel.db.search import INDEXED_LENGTH, SEARCH
from shared.kernel.db.store import QueryPage
from shared.kernel.errors import Problem, ValidationFailed

MAX_SEARCH_PAGES = 100
"""Pages of Queries that a search reads at most: some 350 000 entries, which takes 10 to 20 s."""
_FIRST_ENTRIES = 400
"""Entries that the first Queries of a search with several words examine together."""
_GROWTH = 4
_TOO_MANY = (
    "matches too much in a list of this size; search for more characters, at least one word of"
    f" {INDEXED_LENGTH}"
)

type Read = Callable[[AccessPath, AttributeMap | None, int | None], QueryPage]
"""Reads a page of a path from a start key on, with at most so many entries."""


@dataclass(slots=True)
class _Reading:
    path: AccessPath
    items: list[Item] = field(default_factory=list)
    start: AttributeMap | None = None
    is_complete: bool = False

    def add(self, page: QueryPage) -> None:
        self.items += page.items
        self.start, self.is_complete = page.last_key, page.last_key is None


def read_rarest_word(
    words: Sequence[Sequence[AccessPath]], read: Read
) -> Mapping[AccessPath, Sequence[Item]]:
    """Return all entries of the paths of one word, of the one with the fewest entries.

    Nobody knows which word that is, so all are read concurrently, in growing portions, until the
    entries of one are complete. A single word is read in whole pages.

    Raises:
        ValidationFailed: No word is complete after MAX_SEARCH_PAGES.
    """
    readings = [[_Reading(path) for path in paths] for paths in words]
    first = _FIRST_ENTRIES // sum(map(len, words))
    pages = 0
    for turn in count():
        waiting = [one for word in readings for one in word if not one.is_complete]
        pages += len(waiting)
        if pages > MAX_SEARCH_PAGES:
            raise ValidationFailed([Problem(SEARCH, _TOO_MANY)])
        limit = first * _GROWTH**turn if len(words) > 1 else None

        def read_next(one: _Reading, limit: int | None = limit) -> None:
            one.add(read(one.path, one.start, limit))

        map_concurrently(read_next, waiting)
        for word in readings:
            if all(one.is_complete for one in word):
                return {one.path: one.items for one in word}
    raise AssertionError
