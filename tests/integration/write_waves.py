"""Examples of the write routes of waves."""

from collections.abc import Mapping

from tests.gateway import Erp
from tests.integration.route_example import Example, Prepare, Values, creation, prepared_once, step

_SECOND_SALE = {
    "external_ref": "SO-10",
    "type": "sale_order",
    "doc_date": "2026-03-02",
    "partner_code": "C-8",
    "warehouse_code": "NORTH",
    "lines": [{"item_code": "BOLT-M8", "qty": 7}],
}
_WAVE = {"warehouse_code": "NORTH", "strategy": "batch", "picking_ids": [1, 2]}


def wave_examples(one_sale: Prepare) -> Mapping[str, Example]:
    """Return `METHOD /path` → example; `one_sale` creates an order of bolts and their stock."""

    @prepared_once
    def pickings(erp: Erp) -> Values:
        one_sale(erp)
        assert erp.post("/exit-documents", _SECOND_SALE, key="second").status == 201
        for number in (1, 2):
            body = {"document_id": number, "allocate": False}
            assert erp.post("/pickings", body).status == 201
        return {}

    draft = creation("/waves", _WAVE, after=pickings)
    planned = prepared_once(step("/waves/{id}/plan", after=draft))
    released = step("/waves/{id}/release", after=planned)
    first_cancelled = step("/pickings/1/cancel", after=released)
    picked = prepared_once(step("/pickings/2/cancel", after=first_cancelled))
    completed = step("/waves/{id}/complete", after=picked)
    return {
        "POST /waves": Example(201, body=_WAVE, prepare=pickings, grows={"wave": 1}),
        "POST /waves/{id}/plan": Example(200, prepare=draft, events=["wave.planned"]),
        "POST /waves/{id}/release": Example(
            # Each picking is allocated in a separate step.
            200,
            prepare=planned,
            events=["stock.updated", "wave.released"],
        ),
        "POST /waves/{id}/cancel": Example(200, prepare=planned, events=["wave.cancelled"]),
        "POST /waves/{id}/complete": Example(200, prepare=picked, events=["wave.completed"]),
        "POST /waves/{id}/close": Example(200, prepare=completed),
    }
