"""Examples of the write routes of returns."""

from collections.abc import Mapping
from typing import Any

from tests.gateway import Erp
from tests.integration.route_example import Example, Prepare, Values, prepared_once

_RETURN = {
    "external_ref": "RMA-1",
    "reason": "Wrong address",
    "lines": [{"item_code": "BOLT-M8", "qty": 4, "reason": "not_wanted"}],
}
_ARRIVAL = {"lines": [{"item_code": "BOLT-M8", "qty": 3, "bin_code": "A-01-1"}]}
_DECISIONS = {
    "lines": [
        {"item_code": "BOLT-M8", "qty": 1, "action": "restock"},
        {"item_code": "BOLT-M8", "qty": 1, "action": "scrap"},
        {"item_code": "BOLT-M8", "qty": 1, "action": "return_to_provider"},
    ]
}
_STOCK = "stock.updated"


def return_examples(ready_for_dispatch: Prepare) -> Mapping[str, Example]:
    """Return `METHOD /path` → example.

    `ready_for_dispatch` picks 5 bolts for an exit document, and returns its id.
    """

    @prepared_once
    def dispatched(erp: Erp) -> Values:
        values = ready_for_dispatch(erp)
        assert erp.post(f"/exit-documents/{values['id']}/dispatch").status == 200
        return values

    @prepared_once
    def expected(erp: Erp) -> Values:
        body = {**_RETURN, "exit_document_id": dispatched(erp)["id"]}
        return {"id": erp.post("/returns", body).data["id"]}

    @prepared_once
    def receiving(erp: Erp) -> Values:
        return _act(erp, expected(erp)["id"], "lines", _ARRIVAL)

    def received(erp: Erp) -> Values:
        return _act(erp, receiving(erp)["id"], "finish", None)

    returns = "POST /returns"
    return {
        returns: Example(
            201,
            body=_RETURN,
            prepare=dispatched,
            grows={"return": 1, "returned": 1},
            dynamic_fields=lambda values: {"exit_document_id": values["id"]},
        ),
        f"{returns}/{{id}}/lines": Example(
            200,
            body=_ARRIVAL,
            prepare=expected,
            grows={"stock": 1, "movement": 1},
            events=[_STOCK],
        ),
        f"{returns}/{{id}}/finish": Example(200, prepare=receiving, events=["return.received"]),
        f"{returns}/{{id}}/dispositions": Example(
            200,
            body=_DECISIONS,
            prepare=received,
            grows={"movement": 3, "exit": 1, "picking": 1},
            events=["return.dispositioned", "picking.created", _STOCK],
        ),
        f"{returns}/{{id}}/cancel": Example(200, prepare=expected),
    }


def _act(erp: Erp, number: object, what: str, body: Mapping[str, Any] | None) -> Values:
    erp.post(f"/returns/{number}/{what}", body).ok()
    return {"id": number}
