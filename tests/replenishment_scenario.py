"""Pick faces of YARD with a minimum, and the stock that fills them."""

from typing import Any

from tests.gateway import Erp, Response
from tests.stack import prepare_once
from tests.warehouse_scenario import WarehouseScenario

_POSITIONS = {"R-01": "reserve", "F-02": "pick_face"}


class ReplenishmentScenario:
    """The reserve R-01, and F-01 as the pick face of bricks: at least 10, at most 50."""

    def __init__(self, erp: Erp) -> None:
        self.erp = erp
        self.yard = WarehouseScenario(erp)

    @classmethod
    def with_pick_faces(cls, erp: Erp) -> "ReplenishmentScenario":
        prepare_once(erp, "pick faces with a minimum", lambda: cls._create(erp))
        return cls(erp)

    @classmethod
    def _create(cls, erp: Erp) -> None:
        WarehouseScenario.with_master_data(erp, "YARD")
        for bin_code, kind in _POSITIONS.items():
            body = {"whs_code": "YARD", "bin_code": bin_code, "type": kind}
            erp.post("/warehouse-positions", body).ok(201)
        cls(erp).face("BRICK", "F-01", 10, 50)

    def face(
        self, item_code: str, bin_code: str, minimum: float | None, maximum: float | None = None
    ) -> int:
        body = {
            "item_code": item_code, "warehouse_code": "YARD", "bin_code": bin_code,
            "minimum": minimum, "maximum": maximum,
        }  # fmt: skip
        number: int = self.erp.post("/pick-faces", body).data["id"]
        return number

    def position(self, bin_code: str) -> int:
        """Return the id of a position of YARD."""
        query = {"warehouse": "YARD", "bin_code": bin_code}
        number: int = self.erp.get("/warehouse-positions", query=query).data[0]["id"]
        return number

    def needs(self, **parameters: Any) -> list[dict[str, Any]]:
        response = self.erp.get("/replenishments", query={"warehouse": "YARD", **parameters})
        assert response.status == 200
        rows: list[dict[str, Any]] = response.data
        return rows

    def proposals(self) -> list[tuple[str, str | None, float]]:
        """Return position, batch and quantity of what is proposed for the only pick face."""
        [need] = self.needs()
        return [(one["from_bin_code"], one["batch_num"], one["qty"]) for one in need["proposals"]]

    def post(self, key: str | None = None, **selection: Any) -> Response:
        body = {"warehouse_code": "YARD", **(selection or {"all": True})}
        return self.erp.post("/replenishments", body, key=key)

    def replenish(self, **selection: Any) -> list[dict[str, Any]]:
        """Replenish pick faces, by default all; return what was created."""
        response = self.post(**selection)
        assert response.status in {200, 201}, response.text
        created: list[dict[str, Any]] = response.data["created"]
        return created
