"""Lists of given ids: the entities are read by their keys, filtered and sorted for each page."""

from collections.abc import Iterable

from shared.kernel.db.facets import sort_text
from shared.kernel.db.lists.cursor import sort_key_of
from shared.kernel.db.lists.list_request import ListRequest
from shared.kernel.db.lists.page import Page
from shared.kernel.fields import Stored


def page_of_ids[E: Stored](request: ListRequest[E], ids: Iterable[int]) -> Page[E]:
    """Read the page of those of the entities that exist and match the filters.

    Raises:
        InvalidCursor: The mark of the query is not a sort key.
    """
    query, collection = request.query, request.collection
    after = None if query.after is None else sort_key_of(query.after, collection.id_digits)
    found = {
        sort_text(facets[query.sort], record.id): record
        for record in request.records(ids)
        if query.matches(facets := collection.stored_facets(record.entity), covered=frozenset())
    }
    keys = sorted(found, reverse=query.descending)
    first = query.offset
    if after is not None:
        first = sum(key >= after if query.descending else key <= after for key in keys)
    shown = keys[first : first + query.per_page]
    more = first + len(shown) < len(keys)
    return request.page([found[key] for key in shown], len(keys), shown[-1] if more else None)
