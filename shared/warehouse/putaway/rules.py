"""Rules of putaway on plain data: which positions are suggested, and in which order."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.putaway.models import MAX_SUGGESTIONS, PutawayReason, PutawaySuggestion
from shared.warehouse.warehouses.models import KnownPosition, StoredPosition

TYPES = frozenset({"storage", "reserve"})
"""Types of the positions that are suggested when they are empty."""

_RANKS: dict[PutawayReason, int] = {"pick_face": 0, "same_goods": 1, "empty": 2}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A position, and how many units fit there; None if nothing limits it."""

    position: StoredPosition
    reason: PutawayReason
    room: Decimal | None


def may_store(position: KnownPosition) -> bool:
    """Return whether goods of any product can be put at an empty position."""
    is_open = not (position.disabled or position.blocked)
    return is_open and position.type in TYPES and not position.products


def lacking(face: PickFace, there: Decimal) -> Decimal | None:
    """Return what a pick face lacks to its maximum; without one, to its minimum if it lacks some.

    None of a pick face that takes any quantity.
    """
    if face.maximum is not None:
        return face.maximum - there
    return face.minimum - there if face.minimum is not None and there < face.minimum else None


def smaller(*rooms: Decimal | None) -> Decimal | None:
    """Return the smallest of several rooms; None for no limit."""
    return min((room for room in rooms if room is not None), default=None)


def suggestions(candidates: Iterable[Candidate], qty: Decimal) -> list[PutawaySuggestion]:
    """Return the best positions for a quantity.

    First pick faces, then the same goods, then empty positions. Of equal ones, positions where all
    of it fits come first, then those that come first in the pick sequence.
    """

    def order(one: Candidate) -> tuple[int, bool, bool, int, str]:
        is_short = one.room is not None and one.room < qty
        sequence = one.position.pick_sequence
        at = one.position.bin_code
        return _RANKS[one.reason], is_short, sequence is None, sequence or 0, at

    fitting = [one for one in candidates if one.room is None or one.room > 0]
    shown: dict[int, Candidate] = {}
    for one in sorted(fitting, key=order):
        shown.setdefault(one.position.id, one)
    return [_suggestion(one, qty) for one in [*shown.values()][:MAX_SUGGESTIONS]]


def _suggestion(one: Candidate, qty: Decimal) -> PutawaySuggestion:
    return PutawaySuggestion(
        bin_code=one.position.bin_code,
        type=one.position.type,
        pick_sequence=one.position.pick_sequence,
        reason=one.reason,
        qty=qty if one.room is None else min(qty, one.room),
        room=one.room,
    )
