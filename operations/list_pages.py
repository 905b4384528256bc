"""Lists of the service that operators read to the end."""

from collections.abc import Callable, Iterator

from pydantic import BaseModel

from shared.kernel.db.lists.page import Page


def read_all_pages[E: BaseModel](read: Callable[[int], Page[E]]) -> Iterator[E]:
    """Yield the entities of all pages of a list; a page is read when it is needed."""
    page = seen = 0
    while True:
        page += 1
        part = read(page)
        yield from (record.entity for record in part.records)
        seen += len(part.records)
        if not part.records or seen >= part.total:
            return
