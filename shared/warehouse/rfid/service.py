"""Use cases of RFID validations: compare tags with goods, read and list the results."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse.catalog.gtins import products_by_gtin
from shared.warehouse.packing import service as packing
from shared.warehouse.rfid import rules
from shared.warehouse.rfid.models import (
    SUBJECT_KINDS,
    RfidSubjectKind,
    RfidValidationDraft,
    StoredValidation,
    TagDifferences,
)
from shared.warehouse.rfid.repository import DIFFERENCES, VALIDATIONS
from shared.warehouse.rfid.subjects import Subject, read_subject
from shared.warehouse.rfid.views import VALIDATION_EVENTS


@dataclass(frozen=True, slots=True)
class Validation:
    """A validation with its lists of differences."""

    record: Record[StoredValidation]
    differences: TagDifferences


def create_validation(tx: Transaction, checked: Checked[RfidValidationDraft]) -> Validation:
    """Compare the tags of a reader with a subject and raise rfid_validation.completed.

    A packing order that passes can be completed, as long as it does not change.
    """
    is_valid = not isinstance(checked, InvalidBody)
    named = list(_named(checked))
    subject, _ = run_all(
        # None when the draft names several, none, or one that does not exist.
        lambda: read_subject(tx.store, *named[0]) if len(named) == 1 else None,
        lambda: tx.reserve_ids(VALIDATIONS.kind, 1) if is_valid else None,
    )
    problems = [*rules.subject_problems(checked), *_problems(named, subject)]
    draft = ensure_valid(checked, of_valid_fields(checked, problems))
    assert subject is not None  # noqa: S101 - a valid draft has one that exists
    tags = rules.read_tags(draft.epcs)
    expected = {goods.product_id for goods in subject.goods}
    products = products_by_gtin(tx.store, tags.gtins, sorted(expected))
    compared = rules.compare(subject.goods, subject.own_units, tags, products)
    has_passed = compared.differences.is_empty
    number = tx.next_id(VALIDATIONS.kind)
    validation = StoredValidation(
        id=number,
        result="passed" if has_passed else "failed",
        subject_kind=subject.kind,
        subject_id=subject.id,
        reader=draft.reader,
        read=len(draft.epcs),
        unique=tags.unique,
        expected=compared.expected,
        matched=compared.matched,
        created_at=tx.now,
    )
    record = VALIDATIONS.insert(tx, number, validation)
    if not has_passed:
        DIFFERENCES.insert(tx, number, compared.differences)
    elif subject.packing_order is not None:
        packing.record_passed_validation(tx, subject.packing_order)
    raise_record_event(tx, "rfid_validation.completed", VALIDATION_EVENTS, record)
    return Validation(record, compared.differences)


def _named(draft: Checked[RfidValidationDraft]) -> Iterator[tuple[RfidSubjectKind, int]]:
    """Yield kind and id of each subject that a draft names."""
    for kind in SUBJECT_KINDS:
        number = getattr(draft, f"{kind}_id")
        if number is not None:
            yield kind, number


def _problems(
    named: Sequence[tuple[RfidSubjectKind, int]], subject: Subject | None
) -> Iterator[Problem]:
    if len(named) == 1 and subject is None:
        kind, number = named[0]
        noun = kind.replace("_", " ")
        yield Problem(f"{kind}_id", f"no {noun} has the id {number}")


def get_validation(store: Store, number: int) -> Validation:
    """Read a validation; NotFound when there is none."""
    record = VALIDATIONS.get(store, number)
    found = DIFFERENCES.get_many(store, [number]) if record.entity.result == "failed" else []
    return Validation(record, found[0].entity if found else TagDifferences())


list_validations = list_of(VALIDATIONS)
