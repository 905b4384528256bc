"""Examples of the routes of imports."""

from collections.abc import Mapping

from tests.gateway import Erp, Form
from tests.integration.route_example import Example, Values

_FILE = b"item_code,name,barcode\nBOLT-M8,Bolt M8,4006381333931\nNUT-M8,,\nNUT-M6,Nut M6,\n"
CATALOGUE = Form({"kind": "products"}, ("catalogue.csv", _FILE))


def _uploaded(erp: Erp) -> Values:
    answer = erp.post("/imports", CATALOGUE)
    assert answer.data["status"] == "validated", answer.text
    return {"id": answer.data["id"]}


def import_examples() -> Mapping[str, Example]:
    """`METHOD /path` → its example."""
    announced = {"kind": "products", "filename": "catalogue.xlsx"}
    return {
        "POST /imports": Example(202, body=CATALOGUE, grows={"import": 1}),
        "POST /imports/uploads": Example(201, body=announced, grows={"import": 1}),
        "POST /imports/{id}/commit": Example(
            202, prepare=_uploaded, grows={"product": 2}, events=["product.created"] * 2
        ),
        "POST /imports/{id}/cancel": Example(200, prepare=_uploaded),
    }
