"""Examples of the write routes of packing orders, handling units and RFID validations."""

from collections.abc import Mapping

from tests.epc_encoding import tag_of
from tests.gateway import Erp
from tests.integration.route_example import Example, Prepare, Values, creation, prepared_once, step

_ORDER = {"exit_document_id": 1, "station": "Table 3"}
_CARTON = {"type": "carton", "length_mm": 400, "width_mm": 300, "height_mm": 200}
_GOODS = {"item_code": "BOLT-M8", "qty": 5}
_SHORT = {"short": True, "reason": "Too long for a carton"}
_GTIN = "4006381333931"
_TRANSITION = "packing_order.transitioned"


def packing_examples(finalized: Prepare) -> Mapping[str, Example]:
    """Return `METHOD /path` → example.

    `finalized` creates the exit document 1 with a finalized picking, for which bolts are staged.
    """

    @prepared_once
    def order(erp: Erp) -> Values:
        finalized(erp)
        assert erp.patch("/settings", {"gs1_company_prefix": "4006381"}).status == 200
        return {"id": erp.post("/packing-orders", _ORDER).id}

    unit = prepared_once(creation("/packing-orders/{id}/handling-units", _CARTON, after=order))
    filled = prepared_once(step("/handling-units/{id}/contents", _GOODS, after=unit))
    closed = step("/handling-units/{id}/close", {"weight_kg": 2.5}, after=filled)

    def tagged(erp: Erp) -> Values:
        """Create a packing order of goods whose tags are known."""
        values = order(erp)
        [product] = erp.get("/products", query={"item_code": "BOLT-M8"}).data
        path = f"/products/{product['id']}/packaging"
        assert erp.put(path, {"gtins": [{"gtin": _GTIN}]}).status == 200
        return values

    one_unit = step("/packing-orders/{id}/handling-units", _CARTON, after=order, status=201)
    two_units = step("/packing-orders/{id}/handling-units", _CARTON, after=one_unit, status=201)
    to_end = prepared_once(step("/handling-units/1/contents", _GOODS, after=two_units))
    empty_closed = step("/handling-units/2/close", {"weight_kg": 1}, after=to_end)
    packed = step("/packing-orders/{id}/complete", _SHORT, after=empty_closed)
    units = "/handling-units/{id}"
    return {
        "POST /packing-orders": Example(
            201, body=_ORDER, prepare=finalized, grows={"packing_order": 1}
        ),
        "POST /packing-orders/{id}/handling-units": Example(
            201, body=_CARTON, prepare=order, grows={"handling_unit": 1}
        ),
        "POST /packing-orders/{id}/complete": Example(
            # The empty unit is deleted in a separate step.
            200,
            body=_SHORT,
            prepare=to_end,
            grows={"handling_unit": -1},
            events=[_TRANSITION],
        ),
        "POST /packing-orders/{id}/cancel": Example(
            # Each unit is deleted in a separate step.
            200,
            prepare=to_end,
            grows={"handling_unit": -2},
            events=[_TRANSITION],
        ),
        f"POST {units}/contents": Example(200, body=_GOODS, prepare=unit, events=[_TRANSITION]),
        f"POST {units}/contents/remove": Example(200, body=_GOODS, prepare=filled),
        f"POST {units}/close": Example(
            200, body={"weight_kg": 2.5, "tracking_number": "T-1"}, prepare=filled
        ),
        f"POST {units}/reopen": Example(200, prepare=closed),
        f"DELETE {units}": Example(
            200, prepare=unit, grows={"handling_unit": -1}, status_afterwards=410
        ),
        "POST /rfid-validations": Example(
            201,
            body={"packing_order_id": 1, "epcs": [tag_of(_GTIN, serial) for serial in range(5)]},
            prepare=tagged,
            grows={"rfid_validation": 1},
            events=["rfid_validation.completed"],
        ),
        "POST /exit-documents/{id}/dispatch": Example(
            # The pick, each unit and the packing order leave in separate steps. The last one gives
            # up what is committed.
            200,
            prepare=packed,
            grows={"movement": 1},
            events=["shipment.dispatched", "stock.updated", "stock.updated", _TRANSITION],
        ),
    }
