"""The traffic: what the clients of a company do, step by step."""

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operations.scenarios import order_of, picks_of
from shared.warehouse.gs1.numbers import check_digit
from tests.epc_encoding import tag_of
from tests.soak.caller import Caller
from tests.soak.journal import Journal, StartedImport

if TYPE_CHECKING:
    from collections.abc import Callable

WAREHOUSE = "SOAK"
POSITIONS = ("A-01", "A-02", "A-03")
_LISTS = (
    "/products", "/entry-documents", "/exit-documents", "/receipts", "/pickings", "/transfers",
    "/returns", "/packing-orders", "/handling-units", "/stocks", "/stock-levels",
    "/stock-movements", "/imports", "/webhooks", "/approvals", "/rfid-validations",
)  # fmt: skip
_TOGETHER_SHARE = 0.5
"""Share of the receipts and pickings whose lines are sent in one request."""
_PACKED_SHARE = 0.5
"""Share of the shipments that are packed."""
_RETURNED_SHARE = 0.5
_GTIN_SHARE = 0.5
"""Share of the own products that have a GTIN, and of their goods that are named by it."""
CASE_UNITS = 4
_EXCESS_SHARE = 0.3
"""Share of the receipts on which one unit more than ordered arrives."""
_SHORT_SHARE = 0.3
"""Share of the validations of several tags in which one is not read."""
_CONFLICT = 409
_UNPROCESSABLE = 422
_NOT_FOUND = 404


@dataclass(slots=True)
class Worker:
    """One client of a company; every name that it gives contains `name`, which is unique."""

    caller: Caller
    supervisor: Caller
    journal: Journal
    name: str
    shared_item: str
    """A product that all clients of the company receive and ship at once."""
    _items: list[tuple[str, str, int]] = field(default_factory=list)
    """Own product, its position, and its quantity."""
    _gtins: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Own product → GTINs of a case of CASE_UNITS, and of one unit."""
    _number: int = 0

    @property
    def _rng(self) -> random.Random:
        return self.caller.rng

    def play(self) -> None:
        """Play one random story to its end."""
        stories: list[Callable[[], None]] = [
            *[self._receive_own] * 3, *[self._ship] * 3, *[self._read] * 3, self._receive_shared,
            self._ship_shared, self._move, self._rename, self._import, self._send_bad_requests,
            self._abandon,
        ]  # fmt: skip
        self._rng.choice(stories)()

    def _next(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}-{self.name}-{self._number}"

    def create_product(self, code: str) -> Any:
        """Create a product."""
        data = self.caller.write("POST", "/products", {"item_code": code, "name": f"{code} new"})
        self.journal.add("/products", code, data)
        if data:
            self.journal.expect("product.created", data["id"])
        return data

    def _name_gtin(self, product: Any) -> None:
        """Give a product GTINs of its own, for a case and for one unit."""
        digits = f"{self._rng.randrange(10**11):011d}"
        case, piece = (one + check_digit(one) for one in (f"{digits}0", f"{digits}1"))
        packaging = {"gtins": [{"gtin": case, "units": CASE_UNITS}, {"gtin": piece}]}
        if self.caller.write("PUT", f"/products/{product['id']}/packaging", packaging):
            self._gtins[product["item_code"]] = case, piece

    def _goods(self, item: str, qty: float) -> dict[str, Any]:
        """Return the fields that name a quantity of a product, by code or by GTIN."""
        gtins = self._gtins.get(item)
        if gtins and self._rng.random() < _GTIN_SHARE:
            return {"gtin": gtins[0], "qty": qty / CASE_UNITS}
        return {"item_code": item, "qty": qty}

    def _create_document(self, path: str, item: str, qty: int) -> Any:
        body = self._document(path, item, qty)
        data = self.caller.write("POST", path, body)
        self.journal.add(path, body["external_ref"], data)
        return data

    def _document(self, path: str, item: str, qty: int) -> dict[str, Any]:
        incoming = path == "/entry-documents"
        reference = self._next("PO" if incoming else "SO")
        lines = [{"item_code": item, "qty": qty}]
        return order_of("purchase_order" if incoming else "sale_order", reference, WAREHOUSE, lines)

    def _create_work(self, path: str, document: Any) -> Any:
        data = self.caller.write(
            "POST", path, {"document_id": document["id"]}, allowed=(_CONFLICT, _UNPROCESSABLE)
        )
        if data:
            self.journal.add(path, document["id"], data)
            self.journal.expect(f"{path[1:-1]}.created", data["id"])
        return data

    # Receiving

    def _receive_own(self) -> None:
        code = self._next("P")
        product = self.create_product(code)
        if product:
            if self._rng.random() < _GTIN_SHARE:
                self._name_gtin(product)
            qty, position = self._rng.randint(2, 40), self._rng.choice(POSITIONS)
            self._receive(code, position, qty)
            self._items.append((code, position, qty))

    def _receive_shared(self) -> None:
        self._receive(self.shared_item, POSITIONS[0], self._rng.randint(1, 3))

    def _receive(self, item: str, position: str, qty: int) -> None:
        document = self._create_document("/entry-documents", item, qty)
        receipt = document and self._create_work("/receipts", document)
        if not receipt:
            return
        path = f"/receipts/{receipt['id']}"
        self.caller.write("POST", f"{path}/start")
        first = self._rng.randint(1, qty)
        parts = [part for part in (first, qty - first) if part]
        lines = [{**self._goods(item, part), "bin_code": position} for part in parts]
        if self._rng.random() < _TOGETHER_SHARE:
            if self.caller.write("POST", f"{path}/lines", {"lines": lines}):
                self.journal.change_stock(item, position, qty)
        else:
            for part, line in zip(parts, lines, strict=True):
                if self.caller.write("POST", f"{path}/lines", line):
                    self.journal.change_stock(item, position, part)
        self._validate("receipt", receipt["id"], item, qty)
        if self._rng.random() < _EXCESS_SHARE:
            self._receive_with_approval(f"{path}/lines", item, position)
        if self.caller.write("POST", f"{path}/finalize"):
            self.journal.expect("receipt.completed", receipt["id"])

    def _receive_with_approval(self, path: str, item: str, position: str) -> None:
        """Receive one unit more than ordered after a grant; another one like it is denied."""
        line = {"item_code": item, "qty": 1, "bin_code": position}
        key = self.caller.new_key()
        granted = self._decide(path, line, key, "grant")
        if not granted:
            return
        # A request that was given up may still arrive: under the same key, both are one.
        passed = self.caller.exchange("POST", path, {"json": line}, key)
        if passed.is_success:
            self.journal.change_stock(item, position, 1)
            self.journal.add("/approvals", f"{path} used", granted)
        else:
            self.journal.found(f"{path}: granted, but {passed.status_code} {passed.text[:300]}")
        denied = self._decide(path, line, self.caller.new_key(), "deny")
        self.journal.add("/approvals", f"{path} denied", denied)

    def _decide(self, path: str, body: dict[str, Any], key: str, decision: str) -> Any:
        """Send a request that needs an approval, and decide about it; return the approval."""
        refused = self.caller.exchange("POST", path, {"json": body}, key)
        number = refused.json().get("error", {}).get("approval_id")
        if refused.status_code != _CONFLICT or number is None:
            text = f"{path}: {refused.status_code} {refused.text[:300]}, approval_required expected"
            self.journal.found(text)
            return None
        return self.supervisor.write("POST", f"/approvals/{number}/{decision}")

    # Tags

    def _validate(self, subject: str, number: int, item: str, qty: int) -> None:
        """Compare the tags of goods, sometimes without one, with what a piece of work has."""
        if item not in self._gtins:
            return
        case, piece = self._gtins[item]
        cases = self._rng.randint(0, qty // CASE_UNITS)
        tags = [tag_of(case, serial) for serial in range(cases)]
        tags += [tag_of(piece, serial) for serial in range(qty - cases * CASE_UNITS)]
        is_short = (
            qty - cases * CASE_UNITS > 0 and len(tags) > 1 and self._rng.random() < _SHORT_SHARE
        )
        reader = self._next("GATE")
        body = {f"{subject}_id": number, "reader": reader, "epcs": tags[: -1 if is_short else None]}
        shown = self.caller.write("POST", "/rfid-validations", body)
        self.journal.add("/rfid-validations", reader, shown)
        if shown:
            self.journal.expect("rfid_validation.completed", shown["id"])
            found = (shown["result"], shown["expected"], shown["matched"])
            if found != ("failed" if is_short else "passed", qty, qty - is_short):
                text = f"RFID of {subject} {number}: {found}, {qty} expected"
                self.journal.found(f"{text}, {'one tag too few' if is_short else 'all tags'}")

    # Shipping

    def _ship(self) -> None:
        if not self._items:
            return
        at = self._rng.randrange(len(self._items))
        item, position, left = self._items[at]
        qty = self._rng.randint(1, left)
        self._items[at] = (item, position, left - qty)
        if left == qty:
            del self._items[at]
        self._pick_and_dispatch(item, qty)

    def _ship_shared(self) -> None:
        self._pick_and_dispatch(self.shared_item, 1)

    def _pick(self, path: str, item: str, allocated: list[dict[str, Any]]) -> None:
        if self._rng.random() < _TOGETHER_SHARE:
            if self.caller.write("POST", f"{path}/picks", {"as_allocated": True}):
                for line in allocated:
                    self.journal.change_stock(item, line["bin_code"], -int(line["qty"]))
            return
        for line in allocated:
            taken = {**self._goods(item, line["qty"]), "bin_code": line["bin_code"]}
            if self.caller.write("POST", f"{path}/picks", taken):
                self.journal.change_stock(item, line["bin_code"], -int(line["qty"]))

    def _pick_and_dispatch(self, item: str, qty: int) -> None:
        """Ship a quantity; a product that others ship too may be out of stock."""
        document = self._create_document("/exit-documents", item, qty)
        picking = document and self._create_work("/pickings", document)
        allocated = picks_of(picking) if picking else []
        if not allocated:
            return
        path = f"/pickings/{picking['id']}"
        self.caller.write("POST", f"{path}/start")
        self._pick(path, item, allocated)
        short = sum(line["qty"] for line in allocated) < qty
        reason = {"shortage_reason": "could_not_locate"} if short else None
        if self.caller.write("POST", f"{path}/finalize", reason):
            self.journal.expect("picking.completed", picking["id"])
            picked = sum(int(line["qty"]) for line in allocated)
            self._validate("picking", picking["id"], item, picked)
            if self._rng.random() < _PACKED_SHARE:
                self._pack(document["id"], item, [int(line["qty"]) for line in allocated])
            sent = f"/exit-documents/{document['id']}/dispatch"
            if self.caller.write("POST", sent):
                self.journal.expect("shipment.dispatched", document["id"])
                if self._rng.random() < _RETURNED_SHARE:
                    self._return(document["id"], item)

    def _return(self, document: int, item: str) -> None:
        """Return one unit of a dispatched document; it is restocked or scrapped."""
        reference = self._next("RMA")
        made = self.caller.write("POST", "/returns", {
            "exit_document_id": document, "external_ref": reference,
            "lines": [self._goods(item, 1)],
        })  # fmt: skip
        self.journal.add("/returns", reference, made)
        if not made:
            return
        path, position = f"/returns/{made['id']}", self._rng.choice(POSITIONS)
        come = {"lines": [{**self._goods(item, 1), "bin_code": position}]}
        self.caller.write("POST", f"{path}/lines", come)
        self._validate("return", made["id"], item, 1)
        if self.caller.write("POST", f"{path}/finish"):
            self.journal.expect("return.received", made["id"])
        action = self._rng.choice(("restock", "scrap"))
        decided = {"lines": [{**self._goods(item, 1), "action": action}]}
        if self.caller.write("POST", f"{path}/dispositions", decided):
            self.journal.expect("return.dispositioned", made["id"])
            if action == "restock":
                self.journal.change_stock(item, position, 1)

    def _pack(self, document: int, item: str, parts: list[int]) -> None:
        """Pack picked quantities into a unit, one after the other, and complete the order."""
        order = self.caller.write("POST", "/packing-orders", {"exit_document_id": document})
        self.journal.add("/packing-orders", document, order)
        if not order:
            return
        path = f"/packing-orders/{order['id']}"
        unit = self.caller.write("POST", f"{path}/handling-units", {"type": "carton"})
        self.journal.add("/handling-units", order["id"], unit)
        for qty in parts if unit else ():
            path_of_goods = f"/handling-units/{unit['id']}/contents"
            self.caller.write("POST", path_of_goods, self._goods(item, qty))
        if unit and self.caller.write("POST", f"/handling-units/{unit['id']}/close"):
            self._validate("handling_unit", unit["id"], item, sum(parts))
            self._validate("packing_order", order["id"], item, sum(parts))
            # Everything is packed exactly once, or this is refused.
            self.caller.write("POST", f"{path}/complete")

    # Other writes

    def _move(self) -> None:
        if not self._items:
            return
        at = self._rng.randrange(len(self._items))
        item, source, qty = self._items[at]
        target = self._rng.choice([one for one in POSITIONS if one != source])
        line = {"item_code": item, "qty": qty, "from_bin": source, "to_bin": target}
        moved = self.caller.write(
            "POST", "/transfers",
            {"from_warehouse": WAREHOUSE, "to_warehouse": WAREHOUSE, "lines": [line]},
        )  # fmt: skip
        if moved:
            self._items[at] = (item, target, qty)
            self.journal.change_stock(item, source, -qty)
            self.journal.change_stock(item, target, qty)
            self.journal.expect("transfer.completed", moved["id"])

    def _rename(self) -> None:
        made = self.create_product(self._next("P"))
        for number in range(3 if made else 0):
            name = f"{made['item_code']} name {number}"
            if self.caller.write("PATCH", f"/products/{made['id']}", {"name": name}):
                self.journal.names[made["id"]] = name

    def _import(self) -> None:
        name = self._next("I")
        codes = [f"{name}-{row}" for row in range(self._rng.randint(1, 60))]
        text = "Item code,Name\n" + "".join(f"{code},Imported {code}\n" for code in codes)
        form = {"data": {"kind": "products"}, "files": {"file": (f"{name}.csv", text.encode())}}
        made = self.caller.write("POST", "/imports", form=form)
        if made:
            self.journal.imports.append(StartedImport(made["id"], codes))
            if made["status"] == "validated":
                self.caller.write("POST", f"/imports/{made['id']}/commit", allowed=(_CONFLICT,))

    def _send_bad_requests(self) -> None:
        self.caller.write("POST", "/products", {"name": ""}, allowed=(_UNPROCESSABLE,))
        self.caller.write("POST", "/pickings/999999999/start", allowed=(_NOT_FOUND,))
        self.caller.read("/products", sort="nothing")

    def _abandon(self) -> None:
        """Give requests up for ever: they may have taken effect once, or not at all."""
        code = self._next("P")
        self.caller.abandon("/products", {"item_code": code, "name": code})
        self.journal.add("/products", code, None)
        code = self._next("P")
        if not self.create_product(code):
            return
        body = self._document("/exit-documents", code, 1)
        self.caller.abandon("/exit-documents", body)
        self.journal.add("/exit-documents", body["external_ref"], None)
        document = self._create_document("/entry-documents", code, 5)
        receipt = document and self._create_work("/receipts", document)
        if receipt:
            path = f"/receipts/{receipt['id']}"
            self.caller.write("POST", f"{path}/start")
            line = {"item_code": code, "qty": 5, "bin_code": POSITIONS[0]}
            self.caller.abandon(f"{path}/lines", line)
            self.journal.change_stock(code, POSITIONS[0], 5, certain=False)

    def _read(self) -> None:
        for path in self._rng.sample(_LISTS, 3):
            page = self.caller.read(path, per_page=self._rng.choice((1, 10, 100)))
            rows = page.json()["data"] if page.is_success else []
            if not page.is_success:
                self.journal.found(f"{path} was refused: {page.status_code} {page.text[:200]}")
            if rows and "id" in rows[0] and path not in {"/stock-levels", "/stock-movements"}:
                self.caller.read(f"{path}/{self._rng.choice(rows)['id']}")
