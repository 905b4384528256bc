"""Responses that show RFID validations."""

from collections.abc import Iterable
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.rfid.models import (
    RfidSubject,
    RfidValidation,
    RfidValidationDetail,
    StoredTagGoods,
    StoredValidation,
    TagDifferences,
    TagGoods,
    validation_code,
)


def validation_in_list(record: Record[StoredValidation]) -> RfidValidation:
    """Return the response for a validation in a list, without its lists of differences."""
    return RfidValidation.from_stored(record.entity, **_others(record.entity))


VALIDATION_EVENTS = EventResource(
    "rfid_validation", "/rfid-validations/{record.id}", validation_in_list
)


def validation_in_detail(
    record: Record[StoredValidation], differences: TagDifferences
) -> RfidValidationDetail:
    """Return the response for one validation, with its differences."""
    return RfidValidationDetail.from_stored(
        record.entity,
        **_others(record.entity),
        missing=_goods(differences.missing),
        unexpected=_goods(differences.unexpected),
        unknown=differences.unknown,
        unreadable=differences.unreadable,
    )


def _goods(goods: Iterable[StoredTagGoods]) -> list[TagGoods]:
    return [TagGoods(item_code=one.item_code, qty=one.qty, serials=one.serials) for one in goods]


def _others(validation: StoredValidation) -> dict[str, Any]:
    """Return what a response shows besides the stored fields."""
    return {
        "code": validation_code(validation.id),
        "status": "completed",
        "subject": RfidSubject(object=validation.subject_kind, id=validation.subject_id),
    }
