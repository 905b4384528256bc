"""Use cases that start or end a picking, and record it in its wave in the same transaction."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.warehouse.picking import service as pickings
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.repository import WAVES

type _UseCase[**P] = Callable[Concatenate[Transaction, P], Record[StoredPicking]]


def _recorded[**P](use_case: _UseCase[P]) -> _UseCase[P]:
    """Return a use case that also records in its wave that the picking has started or ended."""

    @wraps(use_case)
    def run(tx: Transaction, /, *args: P.args, **kwargs: P.kwargs) -> Record[StoredPicking]:
        picking = use_case(tx, *args, **kwargs)
        _record(tx, picking)
        return picking

    return run


def _record(tx: Transaction, picking: Record[StoredPicking]) -> None:
    number = picking.entity.wave_id
    if number is None:
        return
    found = repository.find_waves(tx.store, [number])
    if number in found.pending:
        repository.touch_pending(tx, number)
    elif wave := found.waves.get(number):
        after = rules.with_picking_status(wave.entity, picking.id, picking.entity.status)
        if after != wave.entity:
            WAVES.save(tx, wave, after)


start_picking = _recorded(pickings.start_picking)
finalize_picking = _recorded(pickings.finalize_picking)
cancel_picking = _recorded(pickings.cancel_picking)
