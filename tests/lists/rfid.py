"""The list of RFID validations."""

from decimal import Decimal

from shared.warehouse.rfid.models import StoredValidation
from shared.warehouse.rfid.repository import VALIDATIONS
from tests.lists.spec import Filter, Listed, Times, among, by, fields, unless

_RESULTS = ("passed", "failed")
_SUBJECTS = ("packing_order", "handling_unit", "picking", "receipt", "return")


def _subject(number: int) -> tuple[str, int]:
    """Return kind and id of the subject of row n; a few rows share one."""
    return _SUBJECTS[number // 3 % 5], 1 + number // 3


def _subject_text(number: int) -> str:
    kind, subject_id = _subject(number)
    return f"{kind}:{subject_id}"


def _validation(number: int, times: Times) -> StoredValidation:
    kind, subject_id = _subject(number)
    return StoredValidation.model_validate(
        {
            "id": number,
            "result": _RESULTS[number % 2],
            "subject_kind": kind,
            "subject_id": subject_id,
            "reader": unless(number, 3, "Gate 1"),
            "read": number + 1,
            "unique": number,
            "expected": Decimal(number) + Decimal("0.5"),
            "matched": number,
            "created_at": times.created(number),
        }
    )


RFID_VALIDATION_LIST = Listed(
    path="/rfid-validations",
    collection=VALIDATIONS,
    make=_validation,
    period=True,
    immutable=True,
    fields=fields("""
        object string
        id integer
        code string
        status string
        result string
        subject object
        subject.object string
        subject.id integer
        reader string?
        read integer
        unique integer
        expected number
        matched number
        created_at date-time
    """),
    filters={
        "subject": Filter(
            lambda count: (_subject_text(max(1, count // 2)), "receipt:999999"),
            lambda row, value: f"{row['subject']['object']}:{row['subject']['id']}" == value,
            ("", "wave:1", "picking:0", "picking", "picking:1:2"),
            selective=True,
        ),
        "result": among("result", _RESULTS, wrong=("", "Passed", "open"), narrow=True),
    },
    sorts={"created_at": by("created_at")},
    default_sort="-created_at",
)
