"""The list of holds."""

from typing import Any

from shared.kernel.clock import instant, milliseconds_of
from shared.warehouse.holds.models import StoredHold
from shared.warehouse.holds.repository import HOLDS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_STAGES = ("active", "used", "released")
_STATUSES = ("used", "expired", "released", "active")
_HOUR_MS = 3_600_000


def _reference(number: int) -> str:
    return f"CART-{number:07d}"


def _item_code(number: int) -> str:
    return f"ITEM-{number % 50}"


def _line(number: int, **more: Any) -> dict[str, Any]:
    return {"product_id": number, "item_code": _item_code(number), "qty": 2.5, **more}


def _hold(number: int, times: spec.Times) -> StoredHold:
    stage = _STAGES[number % 3]
    return StoredHold.model_validate(
        {
            **times.of(number),
            "stage": stage,
            "external_ref": spec.unless(number, 4, _reference(number)),
            "warehouse_id": warehouse_of(number),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "partner_code": spec.unless(number, 3, "C-7"),
            "lines": [_line(number), _line(number + 1, external_ref=spec.unless(number, 2, "1"))],
            "expires_at": instant(milliseconds_of(times.created(number)) + number % 7 * _HOUR_MS),
            "exit_document_id": number if stage == "used" else None,
        }
    )


HOLD_LIST = spec.Listed(
    path="/holds",
    collection=HOLDS,
    make=_hold,
    aliases=lambda one: [(f"hold_ref#{one.external_ref}", "ALIAS")] if one.external_ref else [],
    period=True,
    fields=spec.fields("""
        integer: id exit_document_id?
        string: object code status external_ref? warehouse_code partner_code?
        string: lines.item_code lines.external_ref?
        number: lines.qty
        array: lines
        date-time: expires_at created_at updated_at
    """),
    # The rows are years old, so those that are active have expired.
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "open", "Used")),
        "external_ref": spec.equal("external_ref", _reference),
        "warehouse": by_warehouse("warehouse_code"),
        "item_code": spec.Filter(
            lambda count: (_item_code(count), _item_code(1), "ITEM-none"),
            lambda row, value: value in {line["item_code"] for line in row["lines"]},
            spec.INVALID_TEXTS,
        ),
    },
    sorts=spec.sorted_by("created_at updated_at expires_at"),
)
