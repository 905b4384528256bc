"""The list of RFID validations."""

from decimal import Decimal

from shared.warehouse.rfid.models import StoredValidation
from shared.warehouse.rfid.repository import VALIDATIONS
from tests.lists import spec

_RESULTS = ("passed", "failed")
_SUBJECTS = ("packing_order", "handling_unit", "picking", "receipt", "return")


def _subject(number: int) -> tuple[str, int]:
    """Return kind and id of the subject of row n; a few rows share one."""
    return _SUBJECTS[number // 3 % 5], 1 + number // 3


def _subject_text(number: int) -> str:
    kind, subject_id = _subject(number)
    return f"{kind}:{subject_id}"


def _validation(number: int, times: spec.Times) -> StoredValidation:
    kind, subject_id = _subject(number)
    return StoredValidation.model_validate(
        {
            "id": number,
            "result": _RESULTS[number % 2],
            "subject_kind": kind,
            "subject_id": subject_id,
            "reader": spec.unless(number, 3, "Gate 1"),
            "read": number + 1,
            "unique": number,
            "expected": Decimal(number) + Decimal("0.5"),
            "matched": number,
            "created_at": times.created(number),
        }
    )


RFID_VALIDATION_LIST = spec.Listed(
    path="/rfid-validations",
    collection=VALIDATIONS,
    make=_validation,
    period=True,
    immutable=True,
    fields=spec.fields("""
        integer: id subject.id read unique
        number: expected matched
        string: object code status result subject.object reader?
        object: subject
        date-time: created_at
    """),
    filters={
        "subject": spec.Filter(
            lambda count: (_subject_text(max(1, count // 2)), "receipt:999999"),
            lambda row, value: f"{row['subject']['object']}:{row['subject']['id']}" == value,
            ("", "wave:1", "picking:0", "picking", "picking:1:2"),
            selective=True,
        ),
        "result": spec.among("result", _RESULTS, wrong=("", "Passed", "open"), narrow=True),
    },
    sorts=spec.sorted_by("created_at"),
)
