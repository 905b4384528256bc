"""Responses that show RFID validations."""

from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.rfid.models import (
    RfidSubject,
    RfidValidation,
    RfidValidationDetail,
    StoredValidation,
    TagDifferences,
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
        **dict(differences),
    )


def _others(validation: StoredValidation) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    return {
        "code": validation_code(validation.id),
        "status": "completed",
        "subject": RfidSubject(object=validation.subject_kind, id=validation.subject_id),
    }
