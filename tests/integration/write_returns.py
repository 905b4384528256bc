"""Examples of the write routes of returns."""

from collections.abc import Mapping

from tests.integration.route_example import Example, Prepare, creation, prepared_once, step

_RETURN = {
    "external_ref": "RMA-1",
    "exit_document_id": 1,
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


def return_examples(finalized: Prepare) -> Mapping[str, Example]:
    """Return `METHOD /path` → example.

    `finalized` picks 5 bolts for the exit document 1.
    """

    dispatched = prepared_once(step("/exit-documents/1/dispatch", after=finalized))
    expected = prepared_once(creation("/returns", _RETURN, after=dispatched))
    receiving = prepared_once(step("/returns/{id}/lines", _ARRIVAL, after=expected))
    received = step("/returns/{id}/finish", after=receiving)
    returns = "POST /returns"
    return {
        returns: Example(
            201,
            body=_RETURN,
            prepare=dispatched,
            grows={"return": 1, "returned": 1},
        ),
        f"{returns}/{{id}}/lines": Example(
            200,
            body=_ARRIVAL,
            prepare=expected,
            grows={"stock": 1, "movement": 1},
            events=[_STOCK],
        ),
        f"{returns}/{{id}}/lines/undo": Example(
            200, body=_ARRIVAL, prepare=receiving, grows={"movement": 1}, events=[_STOCK]
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
