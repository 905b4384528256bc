"""What the state of a work record allows."""

from typing import Protocol

from shared.errors import Conflict
from shared.work.models import WorkStatus


class _Work(Protocol):
    status: WorkStatus


def ensure_status(noun: str, work: _Work, *allowed: WorkStatus) -> None:
    """Refuse what a work record does not allow in its state; `noun` is what it is called."""
    if work.status not in allowed:
        wanted = " or ".join(allowed)
        message = f"The {noun} is {work.status}; this needs it to be {wanted}."
        raise Conflict(message)
