"""Rules of waves, as pure functions: which pickings, sizes, and progress."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from shared.kernel.calendar_days import first_instant
from shared.kernel.db.records import Record
from shared.kernel.errors import Problem, StaleState
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, invalid_fields, valid_entries
from shared.warehouse.picking.models import (
    ENDED_STATUSES,
    PendingPicking,
    StoredPicking,
    picking_code,
)
from shared.warehouse.settings.values import Settings
from shared.warehouse.waves.models import (
    StoredWave,
    Strategy,
    WaveDraft,
    WaveMetrics,
    WaveRule,
    WaveStatus,
)
from shared.warehouse.work.models import WorkStatus
from shared.warehouse.work.ranks import rank_of

RELEASED_STATUSES: frozenset[WaveStatus] = frozenset({"released", "in_progress"})
"""Statuses of a wave whose status follows from its pickings."""
_PICKINGS_PER_TRIP: Mapping[Strategy, int] = {
    "discrete": 1, "cluster": 8, "pick_and_pass": 8, "batch": 20, "zone": 20,
}  # fmt: skip


def wave_code(number: int) -> str:
    """Return the code of a wave that people see."""
    return f"WV-{number}"


# Which pickings


def draft_problems(draft: Checked[WaveDraft]) -> Iterator[Problem]:
    """Yield a problem unless the draft has either picking_ids or a rule."""
    if invalid_fields(draft) & {"picking_ids", "rule"}:
        return
    if (draft.picking_ids is None) == (draft.rule is None):
        yield Problem("picking_ids", "give either picking_ids or rule")


def picking_problems(
    numbers: Sequence[int | None] | None, found: Mapping[int, StoredPicking], whs_code: str | None
) -> Iterator[Problem]:
    """Yield a problem for each id that cannot be in the wave; `whs_code` is None if invalid."""
    for at, number in valid_entries(numbers):
        picking = found.get(number)
        field = f"picking_ids.{at}"
        if picking is None:
            yield Problem(field, f"no picking has the id {number}")
        elif whs_code is not None and picking.whs_code != whs_code:
            yield Problem(
                field, f"{picking_code(number)} is in warehouse {picking.whs_code}, not {whs_code}"
            )
        elif picking.is_of_transfer_order:
            message = f"{picking_code(number)} is picked through {picking.documents[0].doc_num}"
            yield Problem(field, message)


def ensure_none_ended(records: Collection[Record[StoredPicking]]) -> None:
    """Raise StaleState when a picking has ended."""
    ended = [one for one in records if one.entity.status in ENDED_STATUSES]
    if ended:
        states = ", ".join(f"{picking_code(one.id)} is {one.entity.status}" for one in ended)
        raise StaleState(f"{states}; a new wave takes only pickings that are pending or started.")


def matches(rule: WaveRule, one: PendingPicking, timezone: str) -> bool:
    """Return whether a picking matches a rule; a carrier or due date that it lacks matches."""
    if rule.priority is not None and rank_of(one.priority) > rule.priority:
        return False
    if rule.carrier is not None and one.carrier_code not in {None, rule.carrier}:
        return False
    due = one.due_date
    return not (rule.cutoff and due) or first_instant(due, timezone) <= rule.cutoff


def by_priority[P: (PendingPicking, StoredPicking)](found: Iterable[P]) -> list[P]:
    """Sort pickings: the most urgent first, then the oldest."""
    return sorted(found, key=lambda one: (rank_of(one.priority), one.id))


# Size


def metrics_of(
    strategy: Strategy, pickings: Sequence[StoredPicking], settings: Settings
) -> WaveMetrics:
    """Return the metrics of a new wave."""
    ended = Decimal(sum(picking.status in ENDED_STATUSES for picking in pickings))
    metrics = with_size(WaveMetrics(ended_orders=ended), strategy, pickings)
    return _with_minutes(metrics, settings)


def with_size(
    metrics: WaveMetrics, strategy: Strategy, pickings: Sequence[StoredPicking]
) -> WaveMetrics:
    """Return the metrics with the size of a wave: that of its pickings that are not cancelled."""
    counted = [picking for picking in pickings if picking.status != "cancelled"]
    return metrics.model_copy(
        update={
            "orders": Decimal(len(counted)),
            "lines": Decimal(sum(len(picking.lines) for picking in counted)),
            "units": sum((picking.units for picking in counted), ZERO),
            "trips": Decimal(_trips(strategy, counted)),
        }
    )


def _with_minutes(metrics: WaveMetrics, settings: Settings) -> WaveMetrics:
    minutes = metrics.units * settings.minutes_per_unit + metrics.trips * settings.minutes_per_trip
    return metrics.model_copy(update={"standard_minutes": minutes})


def _trips(strategy: Strategy, pickings: Sequence[StoredPicking]) -> int:
    if strategy == "by_customer":
        return len({_customer(picking) for picking in pickings})
    return -(-len(pickings) // _PICKINGS_PER_TRIP[strategy])


def shown_metrics(wave: StoredWave) -> WaveMetrics:
    """Return the metrics as they are shown: without cancelled pickings in `ended_orders`, too."""
    cancelled = len(wave.picking_ids) - wave.metrics.orders
    ended_orders = wave.metrics.ended_orders - cancelled
    return wave.metrics.model_copy(update={"ended_orders": ended_orders})


def _customer(picking: StoredPicking) -> tuple[str | None, int]:
    """Return the customer of a picking; a unique value when it is for several customers."""
    customers = {document.card_code for document in picking.documents}
    return (customers.pop(), 0) if len(customers) == 1 else (None, picking.id)


def with_allocation(metrics: WaveMetrics, pickings: Sequence[StoredPicking]) -> WaveMetrics:
    """Return the metrics with the units that have stock, and the open units that have none."""
    units = sum((picking.units for picking in pickings), ZERO)
    without = sum((picking.units_short for picking in pickings), ZERO)
    still_open = (one for one in pickings if one.status not in ENDED_STATUSES)
    short = sum((picking.units_short for picking in still_open), ZERO)
    return metrics.model_copy(update={"allocated_units": units - without, "short_units": short})


# Progress


def status_from_pickings(wave: StoredWave) -> WaveStatus:
    """Return the status of a released wave that follows from its pickings."""
    if not wave.open_ids:
        return "picked"
    return "in_progress" if wave.begun else "released"


def with_picking_status(wave: StoredWave, number: int, status: WorkStatus) -> StoredWave:
    """Return the wave after its picking `number` has got the status `status`."""
    if wave.status == "cancelled":
        return wave
    ended = status in ENDED_STATUSES and number in wave.open_ids
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
        }
    )
    status_now = status_from_pickings(after) if after.status in RELEASED_STATUSES else after.status
    return after.model_copy(update={"status": status_now})


def after_cancellation(
    wave: StoredWave, pickings: Sequence[StoredPicking], settings: Settings
) -> StoredWave:
    """Return the wave without its cancelled pickings in the metrics; `pickings` are all of it."""
    metrics = _with_minutes(with_size(wave.metrics, wave.strategy, pickings), settings)
    return wave.model_copy(update={"metrics": metrics})


def is_consistent(wave: StoredWave, pickings: Sequence[StoredPicking]) -> bool:
    """Return whether a wave and its pickings, read one after the other, are consistent."""
    if wave.status == "cancelled":
        return True
    ended = Decimal(sum(picking.status in ENDED_STATUSES for picking in pickings))
    begun = any(picking.started_at is not None for picking in pickings)
    return (ended, begun) == (wave.metrics.ended_orders, wave.begun)
