"""Do the operations of the sample data through the API: packaging, receipts, pickings and others.

Each operation of `sample/acme/operations.json` is done once; one that exists is left unchanged.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any

from rich.progress import Progress
from stowage_client import Stowage, StowageError

from local.pickers import picker_id
from local.sample import (
    ACME,
    Body,
    LoadResult,
    open_client,
    progress_bar,
    write,
)
from local.tags import tag_of
from operations.scenarios import contents_of, picks_of

_CONCURRENCY = 4
_SERIALS_PER_CALL = 25
_DEFAULT_BINS = {"CEN": "A-01-1-03", "DUB": "A-01-1-02"}
"""Warehouse → position of goods whose document names none."""
_EXPIRY = "2028-12-31"
_RECEIPT_ACTIONS: Mapping[str, Sequence[str]] = {
    "pending": (),
    "started": ("start", "lines"),
    "finalized": ("start", "lines", "finalize"),
    "synchronized": ("start", "lines", "finalize", "synchronize"),
    "reverted": ("start", "lines", "finalize", "revert"),
    "cancelled": ("start", "lines", "cancel"),
}
_PICKING_ACTIONS: Mapping[str, Sequence[str]] = {
    "pending": (),
    "started": ("start",),
    "finalized": ("start", "picks", "finalize"),
    "dispatched": ("start", "picks", "finalize", "synchronize", "dispatch"),
    "synchronized": ("start", "picks", "finalize", "synchronize"),
    "packing": ("start", "picks", "finalize", "synchronize", "pack", "miss a tag"),
    "shipped": (
        "start",
        "picks",
        "finalize",
        "synchronize",
        "pack",
        "read tags",
        "complete",
        "dispatch",
    ),
    "reverted": ("start", "picks", "finalize", "revert"),
    "cancelled": ("start", "picks", "cancel"),
}
_RETURN_ACTIONS: Mapping[str, Sequence[str]] = {
    "expected": (),
    "received": ("lines", "finish"),
    "dispositioned": ("lines", "finish", "dispositions"),
}
_ORDER_ACTIONS: Mapping[str, Sequence[str]] = {
    "draft": (),
    "in_transit": ("release", "picks", "dispatch"),
    "closed": ("release", "picks", "dispatch", "receive", "close"),
}


def run(base_url: str, token: str) -> list[LoadResult]:
    """Do the sample operations in a tenant that has the sample data, and perhaps other work.

    Raises:
        StowageError: An operation was refused; the note of the error names it.
    """
    with open_client(base_url, token) as api, progress_bar() as bar:
        return SampleOperations(api).run(bar)


@dataclass(frozen=True, slots=True)
class SampleOperations:
    """The sample operations of one tenant."""

    api: Stowage
    folder: Path = ACME

    def run(self, progress: Progress) -> list[LoadResult]:
        """Do all operations, in the order of their dependencies."""
        plan = json.loads((self.folder / "operations.json").read_text(encoding="utf-8"))
        steps: list[tuple[str, str, Callable[[Body], bool], int]] = [
            ("packaging of products", "packaging", self._package, _CONCURRENCY),
            ("receipts", "receipts", self._receive, _CONCURRENCY),
            ("approvals", "approvals", self._request_approval, 1),
            ("stock corrections", "adjustments", self._adjust, 1),
            ("transfers", "transfers", self._transfer, 1),
            ("transfer orders", "transfer_orders", self._transfer_order, 1),
            ("pickings", "pickings", self._pick, _CONCURRENCY),
            ("returns", "returns", self._return, 1),
            ("waves", "waves", self._wave, 1),
            ("pick faces", "pick_faces", self._pick_face, 1),
            ("counts", "counts", self._count, 1),
        ]
        loaded: list[LoadResult] = []
        for title, name, run_task, at_once in steps:
            tasks = plan[name]
            with ThreadPoolExecutor(at_once) as pool:
                done = list(
                    progress.track(pool.map(run_task, tasks), total=len(tasks), description=title)
                )
            loaded.append(LoadResult(title, sum(done), len(done) - sum(done)))
        return loaded

    # Packaging

    def _package(self, task: Body) -> bool:
        [product] = self._list("/products", item_code=task["item_code"])
        path = f"/products/{product['id']}/packaging"
        if self._get(path)["gtins"]:
            return False
        write(self.api, "PUT", path, task["packaging"])
        return True

    # Receipts

    def _receive(self, task: Body) -> bool:
        reference = task["external_ref"]
        if self._exists("/receipts", external_ref=reference):
            return False
        document = self._document("entry", reference)
        receipt = self._post("/receipts", {"document_id": self._document_id("entry", reference)})
        for action in _RECEIPT_ACTIONS[task["state"]]:
            if action == "lines":
                lines = list(self._receipt_lines(document))
                self._post(f"/receipts/{receipt['id']}/lines", {"lines": lines})
            else:
                self._post(f"/receipts/{receipt['id']}/{action}")
        return True

    def _request_approval(self, task: Body) -> bool:
        """Receive more than was ordered, which is refused until a supervisor grants it."""
        reference, qty = task["external_ref"], task["qty"]
        found = self._list("/receipts", external_ref=reference, status="started")
        paths = [f"/receipts/{receipt['id']}/lines" for receipt in found]
        requested = [row["request"] for row in self._list("/approvals")]
        if not paths or any(
            one["path"] in paths and one["body"]["qty"] == qty for one in requested
        ):
            return False
        [line, *_] = self._receipt_lines(self._document("entry", reference))
        try:
            self._post(paths[0], {**line, "qty": qty})
        except StowageError as refusal:
            if "approval_id" in refusal.answer.text:
                return True
            raise
        return False

    def _receipt_lines(self, document: Body) -> Iterator[Body]:
        """Yield the receipt lines for all goods of a document, with a limited number of serials."""
        products = self._products()
        for number, line in enumerate(document["lines"]):
            product = products[line["item_code"]]
            goods = {
                "item_code": line["item_code"],
                "bin_code": line.get("destination_bin")
                or _DEFAULT_BINS[document["warehouse_code"]],
            }
            if product["man_btch_num"] == "true":
                goods["batch"] = line.get("batch") or f"L-{document['external_ref'][-5:]}"
                goods["expiry_date"] = line.get("expiry_date") or _EXPIRY
            if product["man_ser_num"] == "true":
                created = [
                    f"{document['external_ref'][-5:]}-{number}-{n}" for n in range(line["qty"])
                ]
                serials = line.get("serials") or created
                for at in range(0, len(serials), _SERIALS_PER_CALL):
                    some = serials[at : at + _SERIALS_PER_CALL]
                    yield goods | {"qty": len(some), "serials": some}
            else:
                yield goods | {"qty": line["qty"]}

    # Stock

    def _adjust(self, body: Body) -> bool:
        movements = self._list(
            "/stock-movements", type=_movement_type(body), item_code=body["item_code"]
        )
        if any(movement["reason"] == body["reason"] for movement in movements):
            return False
        self._post("/stock-adjustments", body)
        return True

    def _transfer(self, body: Body) -> bool:
        if self._is_transferred(body) or self._is_waiting(body):
            return False
        self._post("/transfers", body)
        return True

    def _is_transferred(self, body: Body) -> bool:
        first = body["lines"][0]
        query = {name: first[name] for name in ("item_code", "from_bin", "to_bin")}
        movements = self._list("/stock-movements", type="transfer", **query)
        return any(movement["reason"] == body["reason"] for movement in movements)

    def _is_waiting(self, body: Body) -> bool:
        """Return whether a transfer with the first line of `body` was not executed so far."""
        first = body["lines"][0]
        return any(
            first.items() <= self._get(f"/transfers/{row['id']}")["lines"][0].items()
            for status in ("pending", "error")
            for row in self._list("/transfers", status=status)
        )

    # Transfer orders

    def _transfer_order(self, task: Body) -> bool:
        order = task["order"]
        if self._exists("/transfer-orders", external_ref=order["external_ref"]):
            return False
        created = self._post("/transfer-orders", order)
        path = f"/transfer-orders/{created['id']}"
        for action in _ORDER_ACTIONS[task["state"]]:
            match action:
                case "picks":
                    data = self._get(f"/pickings/{self._get(path)['picking_id']}")
                    self._confirm_picks(path, data)
                case "release":
                    picker = picker_id(
                        self._list("/users", sort="id"), lambda body: self._post("/users", body)
                    )
                    self._post(f"{path}/release", {"picker_id": picker})
                case "receive":
                    for line in order["lines"]:
                        goods = {
                            "item_code": line["item_code"],
                            "qty": line["qty"] - task["short"],
                            "bin_code": _DEFAULT_BINS[order["to_warehouse"]],
                        }
                        self._post(f"{path}/receive", {"lines": [goods], "final": True})
                case "close":
                    self._post(f"{path}/close", {"reason": "Lost on the way"})
                case _:
                    self._post(f"{path}/{action}", {"seal_number": "S-10442"})
        return True

    # Pickings

    def _pick(self, task: Body) -> bool:
        reference = task["external_ref"]
        if self._exists("/pickings", external_ref=reference):
            return False
        number = self._document_id("exit", reference)
        picking = self._post("/pickings", {"document_id": number})
        path = f"/pickings/{picking['id']}"
        for action in _PICKING_ACTIONS[task["state"]]:
            match action:
                case "picks":
                    self._confirm_picks(path, picking)
                case "finalize":
                    data = self._get(path)
                    short = any(line["picked_qty"] < line["qty"] for line in data["lines"])
                    self._post(
                        f"{path}/finalize", {"shortage_reason": "could_not_locate"} if short else {}
                    )
                case "pack":
                    self._pack(number)
                case "miss a tag" | "read tags":
                    self._validate(number, missed=action == "miss a tag")
                case "complete":
                    self._complete(number)
                case "dispatch":
                    self._post(f"/exit-documents/{number}/dispatch")
                case _:
                    self._post(f"{path}/{action}")
        return True

    def _confirm_picks(self, path: str, picking: Body) -> None:
        if picks_of(picking):
            self._post(f"{path}/picks", {"as_allocated": True})

    # Returns

    def _return(self, task: Body) -> bool:
        """Return some of the goods of which most were picked for an exit document."""
        if self._exists("/returns", external_ref=task["external_ref"]):
            return False
        [picking] = self._list("/pickings", external_ref=task["order"])
        lines = self._get(f"/pickings/{picking['id']}")["lines"]
        picked = max(lines, key=lambda line: line["picked_qty"])
        qty = min(task["qty"], picked["picked_qty"])
        goods = {
            "item_code": picked["item_code"],
            "qty": qty,
            "batch": picked["batch_num"],
            "serials": picked["serials"][:qty] or None,
        }
        body = {
            "exit_document_id": self._document_id("exit", task["order"]),
            "external_ref": task["external_ref"],
            "lines": [{**goods, "reason": task["reason"]}],
        }
        created = self._post("/returns", body)
        path = f"/returns/{created['id']}"
        arrival = {**goods, "bin_code": picked["bin_code"]}
        for action in _RETURN_ACTIONS[task["state"]]:
            match action:
                case "lines":
                    self._post(f"{path}/lines", {"lines": [arrival]})
                case "dispositions":
                    decided = {"lines": [{**goods, "action": task["action"]}]}
                    self._post(f"{path}/dispositions", decided)
                case _:
                    self._post(f"{path}/{action}")
        return True

    # Packing

    def _pack(self, document: int) -> None:
        """Pack the goods of an exit document into a carton on a pallet."""
        order = self._post("/packing-orders", {"exit_document_id": document, "station": "Table 1"})
        units = f"/packing-orders/{order['id']}/handling-units"
        pallet = self._post(units, {"type": "pallet", "tare_kg": 22})
        carton = self._post(units, {"type": "carton", "parent_id": pallet["id"]})
        for goods in contents_of(order):
            self._post(f"/handling-units/{carton['id']}/contents", goods)

    def _validate(self, document: int, *, missed: bool) -> None:
        """Read the tags of the packed goods of an exit document; the first may be `missed`."""
        [row] = self._list("/packing-orders", exit_document_id=document)
        lines = self._get(f"/packing-orders/{row['id']}")["lines"]
        tags = [tag for line in lines for tag in self._tags(line)]
        body = {"packing_order_id": row["id"], "reader": "Gate 1", "epcs": tags[missed:]}
        if tags:
            self._post("/rfid-validations", body)

    def _tags(self, line: Body) -> Iterator[str]:
        """Yield tags of the packed goods of a line: as few as the GTINs of the product allow."""
        [product] = self._list("/products", item_code=line["item_code"])
        units = {one["gtin"]: one["units"] for one in self._packaging(product)["gtins"]}
        if product["barcode"]:
            units[product["barcode"]] = 1
        left, serials = int(line["packed_qty"]), iter(line["serial_numbers"] or count(1))
        for gtin in sorted(units, key=units.__getitem__, reverse=True):
            while left >= units[gtin]:
                left -= units[gtin]
                yield tag_of(gtin, next(serials))

    def _packaging(self, product: Body) -> Body:
        return self._get(f"/products/{product['id']}/packaging")

    def _complete(self, document: int) -> None:
        """Close the carton and the pallet of an exit document, and complete its packing order."""
        [order] = self._list("/packing-orders", exit_document_id=document)
        for unit in reversed(self._get(f"/packing-orders/{order['id']}")["handling_units"]):
            closed = {"weight_kg": 12.5 if unit["parent_id"] else 34.5, "carrier_code": "DHL"}
            self._post(f"/handling-units/{unit['id']}/close", closed)
        self._post(f"/packing-orders/{order['id']}/complete")

    # Waves

    def _wave(self, task: Body) -> bool:
        pickings = [
            found["id"]
            for reference in task["external_refs"]
            for found in self._list("/pickings", external_ref=reference)
        ]
        body = task["wave"] | {"picking_ids": pickings}
        try:
            answer = write(self.api, "POST", "/waves", body)
        except StowageError as error:
            if error.status == HTTPStatus.CONFLICT:
                return False  # The pickings are in a wave, or have ended.
            raise
        wave = answer.json()["data"]
        for action in ("plan", "release"):
            self._post(f"/waves/{wave['id']}/{action}")
        return "Idempotent-Replayed" not in answer.headers

    # Pick faces and counts

    def _pick_face(self, task: Body) -> bool:
        face = task["pick_face"]
        if self._exists("/pick-faces", **{name: face[name] for name in ("item_code", "bin_code")}):
            return False
        made = self._post("/pick-faces", face)
        if task["replenish"]:
            wanted = {"warehouse_code": face["warehouse_code"], "pick_face_ids": [made["id"]]}
            self._post("/replenishments", wanted)
        return True

    def _count(self, task: Body) -> bool:
        """Create a count, and count some of its lines."""
        draft = task["count"]
        others = self._list("/counts", warehouse=draft["warehouse_code"])
        if any(one["comments"] == draft["comments"] for one in others):
            return False
        made = self._post("/counts", draft)
        for line in task["lines"]:
            self._post(f"/counts/{made['id']}/lines", line)
        return True

    # API

    def _post(self, path: str, body: Body | None = None) -> Body:
        data: Body = write(self.api, "POST", path, body or {}).json()["data"]
        return data

    def _get(self, path: str) -> Body:
        data: Body = self.api.get(path)
        return data

    def _list(self, path: str, **query: Any) -> list[Body]:
        return list(self.api.each(path, **query))

    def _exists(self, path: str, **query: Any) -> bool:
        return bool(self._list(path, **query))

    def _document_id(self, kind: str, reference: str) -> int:
        number: int = self._list(f"/{kind}-documents", external_ref=reference)[0]["id"]
        return number

    def _document(self, kind: str, reference: str) -> Body:
        text = (self.folder / f"{kind}_documents.json").read_text(encoding="utf-8")
        documents: list[Body] = json.loads(text)
        return next(one for one in documents if one["external_ref"] == reference)

    def _products(self) -> dict[str, dict[str, str]]:
        text = (self.folder / "products.csv").read_text(encoding="utf-8")
        return {row["item_code"]: row for row in csv.DictReader(text.splitlines())}


def _movement_type(body: Body) -> str:
    return "status_change" if "to_status" in body else "adjustment"
