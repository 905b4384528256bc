"""Priority, due date and carrier of a picking, as they follow from its documents."""

from collections.abc import Sequence
from typing import Any

from shared.kernel.db.records import Record
from shared.warehouse.documents.models import Document
from shared.warehouse.work.ranks import rank_of


def priority_of(documents: Sequence[int | None]) -> int | None:
    """Return the most urgent of the priorities of documents; None when no document has one."""
    has_one = any(priority is not None for priority in documents)
    return min(map(rank_of, documents)) if has_one else None


def urgency_of(documents: Sequence[Document]) -> dict[str, Any]:
    """Return the priority and the due date of a picking that follow from its documents."""
    due = [one.due_date for one in documents if one.due_date is not None]
    priority = priority_of([one.priority for one in documents])
    return {"priority": priority, "due_date": min(due, default=None)}


def carrier_of(found: Sequence[Record[Document]]) -> str | None:
    """Return the carrier of the document of a picking; None for several documents."""
    return found[0].entity.carrier_code if len(found) == 1 else None
