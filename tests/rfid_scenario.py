"""A scenario of RFID validations in the warehouse YARD, driven through the API."""

from collections.abc import Mapping
from typing import Any

from tests.epc_encoding import tag_of
from tests.gateway import Erp, Response
from tests.packing_scenario import PackingScenario
from tests.stack import prepare_once
from tests.warehouse_scenario import WarehouseScenario

PATH = "/rfid-validations"
BRICK, BRICK_CASE, DRILL = "4006381333931", "14006381333938", "614141999996"


class RfidScenario:
    """BRICK has a GTIN for the piece and one for a case of 12; DRILL has its barcode."""

    def __init__(self, erp: Erp, yard: WarehouseScenario | None = None) -> None:
        self.erp = erp
        if yard is None:
            prepare_once(erp, "goods with tags", self._prepare)
        else:
            self._name_gtins()
        self.yard = yard or WarehouseScenario(erp)
        self.packing = PackingScenario(erp, self.yard)

    def _prepare(self) -> None:
        WarehouseScenario.with_master_data(self.erp, "YARD", "SHOP")
        self._name_gtins()

    def _name_gtins(self) -> None:
        gtins = [{"gtin": BRICK}, {"gtin": BRICK_CASE, "units": 12}]
        assert self.erp.put("/products/1/packaging", {"gtins": gtins}).status == 200
        assert self.erp.patch("/products/3", {"barcode": DRILL}).status == 200

    def validate(self, subject: Mapping[str, int], *epcs: str, **more: object) -> Response:
        """POST a validation; `subject` is a field with its id."""
        return self.erp.post(PATH, {**subject, "reader": "Gate 1", "epcs": list(epcs), **more})

    def result(self, subject: Mapping[str, int], *epcs: str) -> dict[str, Any]:
        """Create a validation; return its result, quantities and differences."""
        answer = self.validate(subject, *epcs)
        assert answer.status == 201, answer.text
        return {name: answer.data[name] for name in RESULT}


RESULT = (
    "result", "expected", "matched", "missing", "unexpected", "unknown", "unreadable",
)  # fmt: skip


def passed(qty: float) -> dict[str, Any]:
    """Return what `result` returns when a quantity was expected and nothing differs."""
    lists: dict[str, Any] = {name: [] for name in RESULT[3:]}
    return {"result": "passed", "expected": qty, "matched": qty, **lists}


def bricks(*serials: int) -> list[str]:
    """Return tags of pieces of BRICK."""
    return [tag_of(BRICK, serial) for serial in serials]


def cases(*serials: int) -> list[str]:
    """Return tags of cases of 12 BRICK."""
    return [tag_of(BRICK_CASE, serial) for serial in serials]


def drills(*serials: str) -> list[str]:
    """Return tags of DRILL."""
    return [tag_of(DRILL, serial) for serial in serials]
