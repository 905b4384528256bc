"""Responses that show returns."""

from collections.abc import Mapping
from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.kernel.fields import dict_of
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.returns import rules
from shared.warehouse.returns.actions import ACTIONS
from shared.warehouse.returns.models import (
    Return,
    ReturnDetail,
    ReturnDifference,
    ReturnLine,
    ReturnStatus,
    StoredReturn,
    StoredReturnLine,
    return_code,
)

_LABELS: Mapping[ReturnStatus, str] = {
    "expected": "Expected",
    "receiving": "Being received",
    "received": "Received",
    "dispositioned": "Dispositioned",
    "cancelled": "Cancelled",
}


def in_list(record: Record[StoredReturn]) -> Return:
    """Return the response for a return in a list, without its lines."""
    return Return.from_stored(record.entity, **_others(record.entity))


RETURN_EVENTS = EventResource("return", "/returns/{record.id}", in_list)


def in_detail(record: Record[StoredReturn]) -> ReturnDetail:
    """Return the response for one return, with its lines and differences."""
    one = record.entity
    lines = [_line(one, line) for line in one.lines]
    return ReturnDetail.from_stored(
        one,
        **_others(one),
        lines=lines,
        differences=_differences(one),
        actions=ACTIONS.admitted(one),
    )


def _others(one: StoredReturn) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    number = one.exit_document_id
    return {
        "code": return_code(one.id),
        "status_label": _LABELS[one.status],
        "exit_doc_num": None if number is None else doc_num("exit", number),
        "warehouse_code": one.whs_code,
    }


def _differences(one: StoredReturn) -> list[ReturnDifference]:
    """Return the lines of products that are not on the exit document."""
    return [
        ReturnDifference(
            line_num=line.line_num,
            item_code=line.item_code,
            kind="wrong_item",
            value=line.item_code,
        )
        for line in one.lines
        if line.wrong_item
    ]


def _line(one: StoredReturn, line: StoredReturnLine) -> ReturnLine:
    """Return a line; its batch and serials are the received ones once goods have arrived."""
    batches = {goods.batch_num for goods in line.goods}
    received = [serial for goods in line.goods for serial in goods.serials]
    return dict_of(
        ReturnLine,
        line,
        batch_num=batches.pop() if len(batches) == 1 else line.batch_num,
        serial_numbers=received or line.serials,
        status=rules.line_status(one, line),
    )
