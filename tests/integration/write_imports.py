"""Example requests of the routes of imports and exports."""

from collections.abc import Mapping

from tests.gateway import Erp, Form
from tests.integration.route_example import Example, Values

_CONTENT = b"item_code,name,barcode\nBOLT-M8,Bolt M8,4006381333931\nNUT-M8,,\nNUT-M6,Nut M6,\n"
QUANTITIES = Form({"complete": "true"}, ("stock.csv", b"item_code,qty\nBOLT-M8,3\n"))
EXPORT = {"objects": ["product"]}
CATALOG = Form({"kind": "products"}, ("catalog.csv", _CONTENT))


def _validated_import(erp: Erp) -> Values:
    answer = erp.post("/imports", CATALOG)
    assert answer.data["status"] == "validated", answer.text
    return {"id": answer.data["id"]}


def _export(erp: Erp) -> Values:
    return {"id": erp.post("/exports", EXPORT).ok(202)["id"]}


def import_examples() -> Mapping[str, Example]:
    """Return the examples by `METHOD /path`."""
    request = {"kind": "products", "filename": "catalog.xlsx"}
    return {
        "POST /imports": Example(202, body=CATALOG, grows={"import": 1}),
        "POST /imports/uploads": Example(201, body=request, grows={"import": 1}),
        "POST /imports/{id}/commit": Example(
            202, prepare=_validated_import, grows={"product": 2}, events=["product.created"] * 2
        ),
        "POST /imports/{id}/cancel": Example(200, prepare=_validated_import),
        "POST /reconciliations/files": Example(202, body=QUANTITIES),
        "POST /exports": Example(202, body=EXPORT, grows={"export": 1}),
        "POST /exports/{id}/cancel": Example(200, prepare=_export),
    }
