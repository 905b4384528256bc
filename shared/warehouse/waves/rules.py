"""Decisions about waves, on plain data."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal

from shared.identity.tenancy.tenant import Settings
from shared.kernel.calendar_days import first_instant
from shared.kernel.db.collection import Record
from shared.kernel.errors import Conflict, Problem
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.picking import wave_pickings
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.wave_pickings import ENDED, Waiting
from shared.warehouse.waves.models import (
    MAX_PICKINGS,
    StoredWave,
    Strategy,
    WaveDraft,
    WaveMetrics,
    WaveRule,
    WaveStatus,
)
from shared.warehouse.work_records import WorkStatus

ON_THE_FLOOR: frozenset[WaveStatus] = frozenset({"released", "in_progress"})
"""States in which the state of a wave follows from its pickings."""
_NORMAL = 2
"""Priority of a picking that has none, as of an exit document."""
_PICKINGS_PER_TRIP: Mapping[Strategy, int] = {
    "discrete": 1, "cluster": 8, "pick_and_pass": 8, "batch": 20, "zone": 20,
}  # fmt: skip


def code_of(number: int) -> str:
    """The code that people see."""
    return f"WV-{number}"


def ensure_status(wave: StoredWave, *allowed: WaveStatus) -> None:
    """Refuse what the state of the wave does not allow."""
    if wave.status not in allowed:
        wanted = " or ".join(allowed)
        message = f"The wave is {wave.status}; this needs it to be {wanted}."
        raise Conflict(message)


# Which pickings


def draft_problems(draft: Checked[WaveDraft]) -> Iterator[Problem]:
    """Yield a problem unless the draft has either picking_ids or a rule."""
    if invalid_fields(draft) & {"picking_ids", "rule"}:
        return
    if (draft.picking_ids is None) == (draft.rule is None):
        yield Problem("picking_ids", "give either picking_ids or a rule")


def picking_problems(
    numbers: Sequence[int], found: Mapping[int, StoredPicking], whs_code: str | None
) -> Iterator[Problem]:
    """Find ids that cannot be of the wave; `whs_code` is None when it is not known itself."""
    for at, number in enumerate(numbers):
        picking = found.get(number)
        field = f"picking_ids.{at}"
        if picking is None:
            yield Problem(field, f"no picking has the id {number}")
        elif whs_code is not None and picking.whs_code != whs_code:
            yield Problem(field, f"PKG-{number} is in warehouse {picking.whs_code}")
        elif any(document.type == "transfer_order" for document in picking.documents):
            message = f"PKG-{number} is picked through {picking.documents[0].doc_num}"
            yield Problem(field, message)


def ensure_none_ended(records: Collection[Record[StoredPicking]]) -> None:
    """Refuse pickings of which nothing is left to do."""
    ended = [one for one in records if one.entity.status in ENDED]
    if ended:
        states = ", ".join(f"PKG-{one.id} is {one.entity.status}" for one in ended)
        message = f"{states}; a wave is made of pickings that are pending or started."
        raise Conflict(message)


def most_of(rule: WaveRule) -> int:
    """How many pickings a rule takes at most."""
    return MAX_PICKINGS if rule.max_orders is None else rule.max_orders


def matches(rule: WaveRule, one: Waiting, timezone: str) -> bool:
    """Tell whether a rule takes a picking; what is not known of it does not stand against it."""
    if rule.priority is not None and _priority(one) > rule.priority:
        return False
    if rule.carrier is not None and one.carrier_code not in {None, rule.carrier}:
        return False
    due = one.due_date
    return not (rule.cutoff and due) or first_instant(due, timezone) <= rule.cutoff


def in_turn(found: Collection[Waiting]) -> list[Waiting]:
    """Put pickings in the order in which a rule takes them: by priority, then the oldest."""
    return sorted(found, key=_turn)


def by_urgency(pickings: Collection[StoredPicking]) -> list[int]:
    """Ids of pickings in the order in which they get stock: by priority, then the oldest."""
    return [picking.id for picking in sorted(pickings, key=_turn)]


def _turn(one: Waiting | StoredPicking) -> tuple[int, int]:
    return _priority(one), one.id


def _priority(one: Waiting | StoredPicking) -> int:
    return _NORMAL if one.priority is None else one.priority


# Size


def metrics_of(
    strategy: Strategy, pickings: Sequence[StoredPicking], settings: Settings
) -> WaveMetrics:
    """Add up the work of a wave."""
    units = sum(map(wave_pickings.units_of, pickings), Decimal(0))
    trips = Decimal(_trips(strategy, pickings))
    return WaveMetrics(
        orders=Decimal(len(pickings)),
        lines=Decimal(sum(len(picking.lines) for picking in pickings)),
        units=units,
        trips=trips,
        standard_minutes=units * settings.minutes_per_unit + trips * settings.minutes_per_trip,
        ended_orders=Decimal(sum(picking.status in ENDED for picking in pickings)),
    )


def _trips(strategy: Strategy, pickings: Sequence[StoredPicking]) -> int:
    if strategy == "by_customer":
        return len({_customer(picking) for picking in pickings})
    return -(-len(pickings) // _PICKINGS_PER_TRIP[strategy])


def _customer(picking: StoredPicking) -> tuple[str | None, int]:
    """Name whom a picking is for; one for several customers is a trip of its own."""
    customers = {document.card_code for document in picking.documents}
    return (customers.pop(), 0) if len(customers) == 1 else (None, picking.id)


def with_allocation(metrics: WaveMetrics, pickings: Sequence[StoredPicking]) -> WaveMetrics:
    """Tell how many units have stock, and how many of those still to be picked have none."""
    units = sum(map(wave_pickings.units_of, pickings), Decimal(0))
    without = sum(map(wave_pickings.units_short, pickings), Decimal(0))
    short = sum(
        (wave_pickings.units_short(picking) for picking in pickings if picking.status not in ENDED),
        Decimal(0),
    )
    return metrics.model_copy(update={"allocated_units": units - without, "short_units": short})


# Progress


def progress_of(wave: StoredWave) -> WaveStatus:
    """State that follows from the pickings of a wave on the floor."""
    if not wave.open_ids:
        return "picked"
    return "in_progress" if wave.begun else "released"


def with_picking_status(wave: StoredWave, number: int, status: WorkStatus, now: str) -> StoredWave:
    """Return the wave after one of its pickings has got into a state."""
    if wave.status == "cancelled":
        return wave
    ended = status in ENDED and number in wave.open_ids
    begun = wave.begun or status == "started"
    if not ended and begun == wave.begun:
        return wave
    open_ids = [one for one in wave.open_ids if one != number] if ended else wave.open_ids
    ended_orders = Decimal(len(wave.picking_ids) - len(open_ids))
    after = wave.model_copy(
        update={
            "open_ids": open_ids,
            "begun": begun,
            "metrics": wave.metrics.model_copy(update={"ended_orders": ended_orders}),
            "updated_at": now,
        }
    )
    status_now = progress_of(after) if after.status in ON_THE_FLOOR else after.status
    return after.model_copy(update={"status": status_now})


def agree(wave: StoredWave, pickings: Sequence[StoredPicking]) -> bool:
    """Tell whether a wave and its pickings, read one after the other, were so at one time."""
    if wave.status == "cancelled":
        return True
    ended = Decimal(sum(picking.status in ENDED for picking in pickings))
    begun = any(picking.started_at is not None for picking in pickings)
    return (ended, begun) == (wave.metrics.ended_orders, wave.begun)
