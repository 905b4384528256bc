"""A scenario of waves, driven through the API."""

from collections.abc import Sequence
from typing import Any

from tests.gateway import Erp, Response
from tests.warehouse_scenario import WarehouseScenario


class WaveScenario:
    """Pickings of one brick each, and the waves that group them."""

    def __init__(self, yard: WarehouseScenario) -> None:
        self.yard = yard
        self.erp: Erp = yard.erp

    @classmethod
    def with_pickings(cls, yard: WarehouseScenario, count: int) -> "WaveScenario":
        """Create `count` pickings, and the bricks for them."""
        yard.stock("BRICK", count)
        waves = cls(yard)
        waves.pickings(count)
        return waves

    def pickings(self, count: int, **more: object) -> list[int]:
        """Create `count` orders of one brick and a picking of each, unallocated by default."""
        body = {"allocate": False, **more}
        return [
            self.yard.picking(self.yard.order(("BRICK", 1)), **body)["id"] for _ in range(count)
        ]

    def create(self, picking_ids: Sequence[int] | None = None, **more: object) -> Response:
        """POST a wave."""
        body: dict[str, object] = {"warehouse_code": "YARD", "strategy": "batch", **more}
        if picking_ids is not None:
            body["picking_ids"] = list(picking_ids)
        return self.erp.post("/waves", body)

    def wave(self, picking_ids: Sequence[int], *acts: str, **more: object) -> int:
        """Create a wave and perform the actions on it; return its id."""
        number: int = self.create(picking_ids, **more).id
        for act in acts:
            assert self.act(number, act).status == 200
        return number

    def act(self, number: int, action: str) -> Response:
        """POST an action on a wave."""
        return self.erp.post(f"/waves/{number}/{action}")

    def shown(self, number: int) -> dict[str, Any]:
        """Return a wave; assert that the list shows the same status."""
        shown: dict[str, Any] = self.erp.get(f"/waves/{number}").data
        listed = self.erp.get("/waves", query={"status": shown["status"], "per_page": 100}).data
        in_list = shown.keys() - {"orders", "actions"}
        assert {name: shown[name] for name in in_list} in listed
        return shown

    def status(self, number: int) -> str:
        status: str = self.shown(number)["status"]
        return status

    def work(self, picking: int) -> None:
        """Start a picking of one brick, pick it and finalize it."""
        for action, body in (
            ("start", {}),
            ("picks", {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}),
            ("finalize", {}),
        ):
            self.yard.act(picking, action, **body).ok()
