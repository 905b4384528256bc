"""Resources of every list whose texts try to be HTML, made through the interface."""

from collections.abc import Mapping
from typing import Any

import httpx

from tests.e2e.responses import key

IMAGE = "<img src=x onerror=alert(1)>"


def written(run: str, size: int) -> str:
    """Return a text of `size` characters: an element, the run, right-to-left words, a long word."""
    return f"{IMAGE}{run} שלום مرحبا {'W' * size}"[:size]


class HostileResources:
    """Makes the resources; `ids` has one id of each subject."""

    def __init__(self, client: httpx.Client, run: str) -> None:
        self._client = client
        self._run = run
        self.code = written(run, 50)
        self.note = written(run, 2000)
        self.line = written(run, 255)
        self.ids: dict[str, int | str] = {}

    def make(self) -> Mapping[str, int | str]:
        """Make everything, and return `ids`."""
        self._set_up()
        self._receive()
        self._ship()
        self._move()
        self._import()
        return self.ids

    def _post(self, path: str, **body: Any) -> Any:
        answer = self._client.post(path, json=body, headers=key())
        assert answer.is_success, f"{path}: {answer.text}"
        data = answer.json()["data"]
        if path.count("/") == 1 and "id" in data:
            self.ids[path.removeprefix("/")] = data["id"]
        return data

    def _set_up(self) -> None:
        code, name, note = self.code, written(self._run, 200), self.note
        number = int(self._run, 16)
        self._post("/product-categories", name=name, description=note)
        self._post(
            "/products", item_code=code, sku=code, name=name, barcode=written(self._run, 64),
            type=written(self._run, 32), image_url=f"https://example.com/{'w' * 1900}",
            man_btch_num=True, sales_unit=written(self._run, 32),
        )  # fmt: skip
        phone = written(self._run, 50)
        self._post("/clients", name=name, document_id=number, description=note, phone=phone)
        self._post("/providers", name=name, description=note, phone=phone, paymentinfo=note)
        place = dict.fromkeys(("street", "block", "city", "state", "zip_code"), self.line)
        for end in ("", "2"):
            self._post("/warehouses", whs_code=code[:40] + end, name=name, **place)
        for bin_code in (f"2{code[:40]}", code):
            self._post(
                "/warehouse-positions", whs_code=code[:40], bin_code=bin_code,
                description=self.line, type=written(self._run, 32),
            )  # fmt: skip
        self._post("/pick-faces", item_code=code, warehouse_code=code[:40], bin_code=code)
        role = self._post("/roles", name=name[:100], description=note, permissions=["imports.run"])
        user = {"username": f"h{self._run.lower()}", "roles": [role["id"]]}
        self._post("/users", name=written(self._run, 100), **user)
        self._post("/api-clients", name=written(self._run, 100), scopes=["stocks:read"])
        self._post(
            "/webhooks",
            url=f"http://localhost:9/{self._run}/{'w' * 1900}",
            events=["stock.updated"],
        )
        self._client.patch(f"/webhooks/{self.ids['webhooks']}", json={"is_active": False})

    def _document(self, kind: str) -> Any:
        return self._post(
            f"/{kind}-documents", external_ref=written(self._run, 100) + "",
            type={"entry": "purchase_order", "exit": "sale_order"}[kind], doc_date="2026-03-01",
            partner_code=self.code, partner_name=written(self._run, 200),
            warehouse_code=self.code[:40], comments=self.note,
            lines=[{"item_code": self.code, "qty": 4}],
        )  # fmt: skip

    def _receive(self) -> None:
        order = self._document("entry")
        receipt = self._post(
            "/receipts", document_id=order["id"], concept=self.line, comments=self.note
        )
        path = f"/receipts/{receipt['id']}"
        self._post(f"{path}/start")
        goods = {"item_code": self.code, "bin_code": self.code, "batch": self.code}
        self._post(f"{path}/lines", qty=4, **goods)
        refused = self._client.post(f"{path}/lines", json=goods | {"qty": 100}, headers=key())
        self.ids["approvals"] = refused.json()["error"]["approval_id"]
        self._post(f"{path}/finalize")
        self._post(
            "/stock-adjustments", item_code=self.code, warehouse=self.code[:40],
            bin_code=self.code, batch=self.code, increase=10, reason=self.line,
        )  # fmt: skip

    def _ship(self) -> None:
        order = self._document("exit")
        notes = {"concept": self.line, "comments": self.note, "carrier_code": self.code}
        picking = self._post("/pickings", document_id=order["id"], **notes)
        self._post(
            "/waves", warehouse_code=self.code[:40], strategy="discrete", carrier_code=self.code,
            picking_ids=[picking["id"]],
        )  # fmt: skip
        path = f"/waves/{self.ids['waves']}"
        self._post(f"{path}/cancel")
        path = f"/pickings/{picking['id']}"
        self._post(f"{path}/start")
        goods = {"item_code": self.code, "qty": 4, "batch": self.code}
        self._post(f"{path}/picks", bin_code=self.code, **goods)
        self._post(f"{path}/finalize")
        packing = self._post("/packing-orders", exit_document_id=order["id"], station=self.line)
        path = f"/packing-orders/{packing['id']}"
        unit = self._post(f"{path}/handling-units", type="carton")
        self.ids["handling-units"] = unit["id"]
        self._post(f"/handling-units/{unit['id']}/contents", **goods)
        self._post(
            f"/handling-units/{unit['id']}/close", weight_kg=1, tracking_number=self.code[:40],
            carrier_code=self.code,
        )  # fmt: skip
        read = f"{IMAGE}{self._run}{'W' * 92}"
        self._post(
            "/rfid-validations", packing_order_id=packing["id"], reader=self.line, epcs=[read]
        )
        self._post(f"{path}/complete")
        self._post(f"/exit-documents/{order['id']}/dispatch")
        self._post(
            "/returns", exit_document_id=order["id"], external_ref=written(self._run, 100),
            reason=self.note, lines=[goods | {"qty": 1}],
        )  # fmt: skip

    def _move(self) -> None:
        places = {"from_warehouse": self.code[:40], "to_warehouse": self.code[:40]}
        line = {"item_code": self.code, "qty": 1, "batch": self.code}
        bins = {"from_bin": self.code, "to_bin": f"2{self.code[:40]}"}
        texts = {"reason": self.line, "comments": self.note}
        self._post("/transfers", **places, **texts, lines=[line | bins])
        self._post(
            "/transfer-orders", from_warehouse=self.code[:40], to_warehouse=f"{self.code[:40]}2",
            reason=self.note, external_ref=written(self._run, 100),
            lines=[{"item_code": self.code, "qty": 1}],
        )  # fmt: skip

    def _import(self) -> None:
        rows = f'Item code,Name,Type\n,"{self.note}","{self.note}"\n'
        file = {"file": (written(self._run, 190) + ".csv", rows.encode())}
        made = self._client.post("/imports", data={"kind": "products"}, files=file, headers=key())
        assert made.is_success, made.text
        self.ids["imports"] = made.json()["data"]["id"]
