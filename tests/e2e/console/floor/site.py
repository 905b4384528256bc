"""A warehouse for people with handhelds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from shared.warehouse.gs1.numbers import check_digit
from tests.e2e.responses import key

POSITIONS = ("A-1", "A-2", "B-1", "R-1")


@dataclass
class Site:
    """A warehouse with positions, and products: plain, by batch, by serial."""

    client: httpx.Client
    run: str

    @classmethod
    def built(cls, client: httpx.Client, run: str) -> Self:
        """Create the warehouse `W-{run}`, and the products `{run}-BOLT`, `-GLUE` and `-SAW`."""
        site = cls(client, run)
        site.post("/warehouses", whs_code=site.warehouse, name=run)
        for place, code in enumerate(POSITIONS):
            bin_ = {"whs_code": site.warehouse, "bin_code": code, "pick_sequence": 10 * place}
            site.post("/warehouse-positions", **bin_)
        managed = {"BOLT": {}, "GLUE": {"man_btch_num": True}, "SAW": {"man_ser_num": True}}
        for name, more in managed.items():
            site.post("/products", item_code=site.item(name), name=f"{name} of {run}", **more)
        return site

    @property
    def warehouse(self) -> str:
        """Code of the warehouse."""
        return f"W-{self.run}"

    def item(self, name: str) -> str:
        """Return the code of a product."""
        return f"{self.run}-{name}"

    def post(self, path: str, **body: object) -> Any:
        """Return the data of a response that must be a success."""
        answer = self.client.post(path, json=body, headers=key())
        assert answer.is_success, answer.text
        return answer.json()["data"]

    def get(self, path: str, **query: str | int) -> Any:
        """Return the data of a response."""
        answer = self.client.get(path, params=query)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    def in_cases(self, name: str, units: int) -> str:
        """Return a new GTIN that counts so many units of a product."""
        digits = f"1{int(self.run, 16):012d}"
        gtin = digits + check_digit(digits)
        product = self.get("/products", item_code=self.item(name))[0]["id"]
        body = {"gtins": [{"gtin": gtin, "units": units}]}
        self.client.put(f"/products/{product}/packaging", json=body).raise_for_status()
        return gtin

    def stock(self, name: str, qty: int, position: str = "A-1", **more: object) -> None:
        """Put goods at a position."""
        goods = {"item_code": self.item(name), "bin_code": position, "counted_qty": qty}
        self.post("/stock-adjustments", warehouse=self.warehouse, reason="start", **goods, **more)

    def order(self, path: str, *lines: Mapping[str, object], **more: object) -> int:
        """Return the id of a new document."""
        draft = {"doc_date": "2026-03-01", "partner_code": "P-1", "warehouse_code": self.warehouse}
        kind = "purchase_order" if path == "/entry-documents" else "sale_order"
        named = {"external_ref": f"{self.run} {path}", "type": kind, **draft, **more}
        return int(self.post(path, lines=list(lines), **named)["id"])

    def line(self, name: str, qty: float) -> Mapping[str, object]:
        """Return a line of a document."""
        return {"item_code": self.item(name), "qty": qty}

    def quantities(self, **query: str) -> Mapping[tuple[str, str], float]:
        """Return what lies where: the item without the run, and the position → quantity."""
        rows = self.get("/stocks", warehouse=self.warehouse, status="in", per_page=100, **query)
        found: dict[tuple[str, str], float] = {}
        for row in rows:
            place = row["item_code"].removeprefix(f"{self.run}-"), row["position"]["bin_code"]
            found[place] = found.get(place, 0) + row["qty"]
        return found
