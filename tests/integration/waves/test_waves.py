"""The details of a wave."""

from tests.gateway import Erp
from tests.integration.entity_factories import picking, wave
from tests.stack import Stack

PATH = "/waves"
AT = "2026-03-01T09:30:00.000Z"


def test_wave_is_shown_with_its_pickings(stack: Stack, erp: Erp) -> None:
    started = picking(stack.store(), status="started", started_at=AT)
    pending = picking(stack.store())
    ended = picking(stack.store(), status="cancelled")
    facts = {
        "warehouse_code": "CEN",
        "strategy": "pick_and_pass",
        "status": "in_progress",
        "carrier_code": "DHL",
        "cutoff_at": "2026-03-01T15:00:00.000Z",
        "released_at": "2026-03-01T09:45:00.000Z",
        "metrics": {
            "orders": 3,
            "lines": 7,
            "units": 31.5,
            "trips": 1,
            "standard_minutes": 18.25,
            "ended_orders": 1,
            "allocated_units": 30,
            "short_units": 1.5,
        },
        "created_at": AT,
        "updated_at": "2026-03-01T09:50:00.000Z",
    }
    number = wave(
        stack.store(),
        **facts,
        picking_ids=[pending, ended, started],
        open_ids=[pending, started],
        begun=True,
    )

    shown = erp.get(f"{PATH}/{number}")
    head = {"id": number, "code": f"WV-{number}", **facts}
    assert shown.data == {
        **head,
        "orders": [
            {"picking_id": pending, "status": "pending"},
            {"picking_id": ended, "status": "cancelled"},
            {"picking_id": started, "status": "started"},
        ],
    }
    assert erp.get(PATH).data == [head]
    again = erp.get(f"{PATH}/{number}", headers={"If-None-Match": shown.headers["ETag"]})
    assert (again.status, again.text) == (304, "")
