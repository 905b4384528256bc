"""Priority, due date and carrier of a picking, as they follow from its documents."""

from collections.abc import Sequence
from typing import Any

from shared.warehouse.documents.models import Document
from shared.warehouse.work.ranks import rank_of


def priority_of(documents: Sequence[int | None]) -> int | None:
    """Return the most urgent of the priorities of documents; None when no document has one."""
    has_one = any(priority is not None for priority in documents)
    return min(map(rank_of, documents)) if has_one else None


def following(documents: Sequence[Document]) -> dict[str, Any]:
    """Return the fields that a picking takes from its documents, unless its own body names them.

    It takes the carrier only from a single document.
    """
    due = [one.due_date for one in documents if one.due_date is not None]
    return {
        "priority": priority_of([one.priority for one in documents]),
        "due_date": min(due, default=None),
        "carrier_code": documents[0].carrier_code if len(documents) == 1 else None,
    }
