"""Let the sample warehouses work: receive, count, move, pick and dispatch, over the interface.

What `sample/acme/operations.json` names is done once: what has been begun is left as it is.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.progress import Progress

from local.sample import (
    ACME,
    Body,
    Loaded,
    SampleRefused,
    bar_of_progress,
    client_of,
    problem,
    read_one,
    rows,
    write,
)

_AT_ONCE = 4
_SERIALS_A_CALL = 25
_SHELVES = {"CEN": "A-01-1-03", "DUB": "A-01-1-02"}
"""Where goods go whose document names no position."""
_EXPIRY = "2028-12-31"
_RECEIPT_ACTS: Mapping[str, Sequence[str]] = {
    "pending": (),
    "started": ("start", "lines"),
    "finalized": ("start", "lines", "finalize"),
    "synchronized": ("start", "lines", "finalize", "synchronize"),
    "reverted": ("start", "lines", "finalize", "revert"),
    "cancelled": ("start", "lines", "cancel"),
}
_PICKING_ACTS: Mapping[str, Sequence[str]] = {
    "pending": (),
    "started": ("start",),
    "finalized": ("start", "picks", "finalize"),
    "dispatched": ("start", "picks", "finalize", "synchronize", "dispatch"),
    "synchronized": ("start", "picks", "finalize", "synchronize"),
    "reverted": ("start", "picks", "finalize", "revert"),
    "cancelled": ("start", "picks", "cancel"),
}
_ORDER_ACTS: Mapping[str, Sequence[str]] = {
    "draft": (),
    "in_transit": ("release", "picks", "dispatch"),
    "closed": ("release", "picks", "dispatch", "receive", "close"),
}


def work(base_url: str, token: str) -> list[Loaded]:
    """Do the work of the sample warehouses in a tenant that has the sample data.

    Raises SampleRefused when something is refused that should go well.
    """
    with client_of(base_url, token) as client, bar_of_progress() as bar:
        return FloorSample(client).play(bar)


@dataclass(frozen=True, slots=True)
class FloorSample:
    """The floor of one tenant, and what is to be done there."""

    client: httpx.Client
    folder: Path = ACME

    def play(self, progress: Progress) -> list[Loaded]:
        """Do all of it, in the order in which one thing needs another."""
        plan = json.loads((self.folder / "operations.json").read_text(encoding="utf-8"))
        steps: list[tuple[str, str, Callable[[Body], bool], int]] = [
            ("receipts", "receipts", self._receive, _AT_ONCE),
            ("stock corrections", "adjustments", self._adjust, 1),
            ("transfers", "transfers", self._move, 1),
            ("transfer orders", "transfer_orders", self._supply, 1),
            ("pickings", "pickings", self._pick, _AT_ONCE),
            ("waves", "waves", self._wave, 1),
        ]
        loaded: list[Loaded] = []
        for title, name, do, at_once in steps:
            tasks = plan[name]
            with ThreadPoolExecutor(at_once) as pool:
                done = list(
                    progress.track(pool.map(do, tasks), total=len(tasks), description=title)
                )
            loaded.append(Loaded(title, sum(done), len(done) - sum(done)))
        return loaded

    # Receipts

    def _receive(self, task: Body) -> bool:
        reference = task["external_ref"]
        if self._known("/receipts", external_ref=reference):
            return False
        document = self._document("entry", reference)
        receipt = self._act("/receipts", {"document_id": self._id_of("entry", reference)})
        for act in _RECEIPT_ACTS[task["state"]]:
            if act == "lines":
                for line in self._goods(document):
                    self._act(f"/receipts/{receipt['id']}/lines", line)
            else:
                self._act(f"/receipts/{receipt['id']}/{act}")
        return True

    def _goods(self, document: Body) -> Iterator[Body]:
        """What arrives for a document: all of it, a few serials at a time."""
        products = self._products()
        for number, line in enumerate(document["lines"]):
            product = products[line["item_code"]]
            goods = {
                "item_code": line["item_code"],
                "bin_code": line.get("destination_bin") or _SHELVES[document["warehouse_code"]],
            }
            if product["man_btch_num"] == "true":
                goods["batch"] = line.get("batch") or f"L-{document['external_ref'][-5:]}"
                goods["expiry_date"] = line.get("expiry_date") or _EXPIRY
            if product["man_ser_num"] == "true":
                made = [f"{document['external_ref'][-5:]}-{number}-{n}" for n in range(line["qty"])]
                serials = line.get("serials") or made
                for at in range(0, len(serials), _SERIALS_A_CALL):
                    some = serials[at : at + _SERIALS_A_CALL]
                    yield goods | {"qty": len(some), "serials": some}
            else:
                yield goods | {"qty": line["qty"]}

    # Stock

    def _adjust(self, body: Body) -> bool:
        if self._known("/stock-movements", type=_movement(body), item_code=body["item_code"]):
            return False
        self._act("/stock-adjustments", body)
        return True

    def _move(self, body: Body) -> bool:
        status = "pending" if body.get("execute") is False else "transferred"
        if self._known("/transfers", status=status):
            return False
        self._act("/transfers", body)
        return True

    # Transfer orders

    def _supply(self, task: Body) -> bool:
        order = task["order"]
        if self._known("/transfer-orders", external_ref=order["external_ref"]):
            return False
        made = self._act("/transfer-orders", order)
        path = f"/transfer-orders/{made['id']}"
        for act in _ORDER_ACTS[task["state"]]:
            match act:
                case "picks":
                    shown = self._get(f"/pickings/{self._get(path)['picking_id']}")
                    self._take(path, shown)
                case "release":
                    self._act(f"{path}/release", {"picker_id": 7})
                case "receive":
                    for line in order["lines"]:
                        goods = {
                            "item_code": line["item_code"],
                            "qty": line["qty"] - task["short"],
                            "bin_code": _SHELVES[order["to_warehouse"]],
                        }
                        self._act(f"{path}/receive", {"lines": [goods], "final": True})
                case "close":
                    self._act(f"{path}/close", {"reason": "Lost on the way"})
                case _:
                    self._act(f"{path}/{act}", {"seal_number": "S-10442"})
        return True

    # Pickings

    def _pick(self, task: Body) -> bool:
        reference = task["external_ref"]
        if self._known("/pickings", external_ref=reference):
            return False
        number = self._id_of("exit", reference)
        picking = self._act("/pickings", {"document_id": number})
        path = f"/pickings/{picking['id']}"
        for act in _PICKING_ACTS[task["state"]]:
            match act:
                case "picks":
                    self._take(path, picking)
                case "finalize":
                    shown = self._get(path)
                    short = any(line["picked_qty"] < line["qty"] for line in shown["lines"])
                    self._act(
                        f"{path}/finalize", {"shortage_reason": "could_not_locate"} if short else {}
                    )
                case "dispatch":
                    self._act(f"/exit-documents/{number}/dispatch")
                case _:
                    self._act(f"{path}/{act}")
        return True

    def _take(self, path: str, picking: Body) -> None:
        for line in picking["lines"]:
            if line["bin_code"]:
                taken = {
                    "item_code": line["item_code"],
                    "qty": line["qty"],
                    "bin_code": line["bin_code"],
                    "batch": line["batch_num"],
                    "serials": line["serials"] or None,
                }
                self._act(f"{path}/picks", taken)

    # Waves

    def _wave(self, task: Body) -> bool:
        if self._known("/waves"):
            return False
        pickings = [
            found["id"]
            for reference in task["external_refs"]
            for found in self._rows("/pickings", external_ref=reference)
        ]
        wave = self._act("/waves", task["wave"] | {"picking_ids": pickings})
        for act in ("plan", "release"):
            self._act(f"/waves/{wave['id']}/{act}")
        return True

    # The interface

    def _act(self, path: str, body: Body | None = None) -> Body:
        answer = write(self.client, "POST", path, body or {})
        if not answer.is_success:
            raise SampleRefused(f"{path} {body}: {problem(answer)}")
        shown: Body = answer.json()["data"]
        return shown

    def _get(self, path: str) -> Body:
        answer = read_one(self.client, path)
        if not answer.is_success:
            raise SampleRefused(f"{path}: {problem(answer)}")
        shown: Body = answer.json()["data"]
        return shown

    def _rows(self, path: str, **query: Any) -> list[Body]:
        return list(rows(self.client, path, **query))

    def _known(self, path: str, **query: Any) -> bool:
        return bool(self._rows(path, **query))

    def _id_of(self, kind: str, reference: str) -> int:
        number: int = self._rows(f"/{kind}-documents", external_ref=reference)[0]["id"]
        return number

    def _document(self, kind: str, reference: str) -> Body:
        text = (self.folder / f"{kind}_documents.json").read_text(encoding="utf-8")
        documents: list[Body] = json.loads(text)
        return next(one for one in documents if one["external_ref"] == reference)

    def _products(self) -> dict[str, dict[str, str]]:
        text = (self.folder / "products.csv").read_text(encoding="utf-8")
        return {row["item_code"]: row for row in csv.DictReader(text.splitlines())}


def _movement(body: Body) -> str:
    return "status_change" if "to_status" in body else "adjustment"
