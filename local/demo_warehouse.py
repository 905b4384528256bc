"""The story of goods: received, put away, picked, dispatched, supplied; and the ledger's proof."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from local.demo_session import Story

_WAVE_ORDERS = 10
_RECEIVING_BIN, _SHELF_BINS = "REC-01", ("A-01-1-01", "A-01-2-01")
_DESTINATION_BIN = "REC-01"


def run_warehouse_demo(story: Story, run: str) -> None:
    """Play the whole way of three products through two warehouses."""
    plain, batched, serialled = _create_products(story, run)
    _receive(story, run, plain, batched, serialled)
    _put_away(story, plain, batched, serialled)
    _ship(story, run, batched, serialled)
    _transfer_order(story, run, plain)
    _wave(story, run, plain)
    _check_stock(story, (plain, batched, serialled))


def _create_products(story: Story, run: str) -> tuple[str, str, str]:
    codes = (f"DEMO-{run}-CLIP", f"DEMO-{run}-GLUE", f"DEMO-{run}-DRILL")
    ways: Sequence[dict[str, bool]] = ({}, {"man_btch_num": True}, {"man_ser_num": True})
    for code, way in zip(codes, ways, strict=True):
        name = code.rpartition("-")[2].title()
        story.do("POST", "/products", {"item_code": code, "name": f"{name}, demo", **way})
    return codes


def _receive(story: Story, run: str, plain: str, batched: str, serialled: str) -> None:
    order = {
        "external_ref": f"PO-F-{run}",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-100",
        "warehouse_code": "CEN",
        "lines": [
            {"item_code": plain, "qty": 100},
            {"item_code": batched, "qty": 40},
            {"item_code": serialled, "qty": 3},
        ],
    }
    document = story.do("POST", "/entry-documents", order)
    receipt = story.tell(
        "Goods arrive: a receipt for the purchase order",
        story.send("POST", "/receipts", json={"document_id": document["id"]}), 201,
        lambda body: f"receipt {body['data']['id']}, {body['data']['status']}",
    )["data"]  # fmt: skip
    path = f"/receipts/{receipt['id']}"
    story.do("POST", f"{path}/start")
    goods: Sequence[dict[str, Any]] = (
        {"item_code": batched, "qty": 25, "batch": "LATE", "expiry_date": "2030-06-30"},
        {"item_code": batched, "qty": 15, "batch": "SOON", "expiry_date": "2029-01-31"},
        {"item_code": serialled, "qty": 3, "serials": [f"{run}-{n}" for n in range(3)]},
    )
    for line in goods:
        story.do("POST", f"{path}/lines", {**line, "bin_code": _RECEIVING_BIN})
    story.tell(
        "Five clips are missing: 95 of 100 come in",
        story.send(
            "POST", f"{path}/lines", json={"item_code": plain, "qty": 95, "bin_code": _RECEIVING_BIN}
        ), 200, lambda body: f"{len(body['data']['lines'])} lines received",
    )  # fmt: skip
    wrong = {"item_code": plain, "qty": 6, "bin_code": _RECEIVING_BIN}
    story.tell(
        "Six more than are left is too many", story.send("POST", f"{path}/lines", json=wrong), 409,
        lambda body: body["error"]["code"],
    )  # fmt: skip
    twice = {"item_code": serialled, "qty": 1, "serials": [f"{run}-0"], "bin_code": _RECEIVING_BIN}
    story.tell(
        "A serial that is in stock already",
        story.send("POST", f"{path}/lines", json=twice), 422,
        lambda body: body["message"],
    )  # fmt: skip
    story.do("POST", f"{path}/finalize")
    story.tell(
        "What the purchase order says now",
        story.send("GET", f"/entry-documents/{document['id']}"), 200,
        lambda body: body["data"]["status"] + ", still to come: "
        + ", ".join(str(line["open_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip


def _put_away(story: Story, plain: str, batched: str, serialled: str) -> None:
    def moved(item_code: str, qty: int, to_bin: str, **more: Any) -> dict[str, Any]:
        return {
            "item_code": item_code, "qty": qty, "from_bin": _RECEIVING_BIN, "to_bin": to_bin, **more,
        }  # fmt: skip

    serials = [
        row["serial_number"] for row in story.listed("/stocks", item_code=serialled, status="in")
    ]
    lines = [
        moved(plain, 95, _SHELF_BINS[0]),
        moved(batched, 25, _SHELF_BINS[0], batch="LATE"),
        moved(batched, 15, _SHELF_BINS[1], batch="SOON"),
        moved(serialled, 3, _SHELF_BINS[0], serials=serials),
    ]
    body = {"from_warehouse": "CEN", "to_warehouse": "CEN", "reason": "Put away", "lines": lines}
    story.tell(
        "Put away, from the dock to the shelves", story.send("POST", "/transfers", json=body), 201,
        lambda answer: f"{answer['data']['status']}, {len(lines)} lines in one transaction",
    )  # fmt: skip


def _ship(story: Story, run: str, batched: str, serialled: str) -> None:
    order = {
        "external_ref": f"SO-F-{run}",
        "type": "sale_order",
        "doc_date": "2026-03-02",
        "partner_code": "C-200",
        "warehouse_code": "CEN",
        "lines": [{"item_code": batched, "qty": 20}, {"item_code": serialled, "qty": 1}],
    }
    document = story.do("POST", "/exit-documents", order)
    picking = story.tell(
        "Allocate a sales order: what expires first goes first",
        story.send("POST", "/pickings", json={"document_id": document["id"]}), 201,
        lambda body: ", ".join(
            f"{line['qty']} of {line['batch_num'] or line['serials'][0]} at {line['bin_code']}"
            for line in body["data"]["lines"]
        ),
    )["data"]  # fmt: skip
    path = f"/pickings/{picking['id']}"
    story.do("POST", f"{path}/start")
    for line in picking["lines"]:
        # Two tins of the late batch are nowhere to be found.
        missing = 2 if line["batch_num"] == "LATE" else 0
        taken = {
            "item_code": line["item_code"], "qty": line["qty"] - missing,
            "bin_code": line["bin_code"], "batch": line["batch_num"],
            "serials": line["serials"] or None,
        }  # fmt: skip
        story.do("POST", f"{path}/picks", taken)
    story.tell(
        "Two tins are not found: no end without a reason",
        story.send("POST", f"{path}/finalize"), 422,
        lambda body: body["message"],
    )  # fmt: skip
    story.tell(
        "Could not locate",
        story.send("POST", f"{path}/finalize", json={"shortage_reason": "could_not_locate"}), 200,
        lambda body: f"{body['data']['status']}, shortage: {body['data']['has_shortage']}",
    )  # fmt: skip
    story.tell(
        "The truck leaves", story.send("POST", f"/exit-documents/{document['id']}/dispatch"), 200,
        lambda body: body["data"]["status"] + ", picked: "
        + ", ".join(str(line["picked_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip


def _transfer_order(story: Story, run: str, plain: str) -> None:
    body = {
        "from_warehouse": "CEN",
        "to_warehouse": "DUB",
        "external_ref": f"TO-F-{run}",
        "release": True,
        "picker_id": 7,
        "lines": [{"item_code": plain, "qty": 30}],
    }
    order = story.do("POST", "/transfer-orders", body)
    path = f"/transfer-orders/{order['id']}"
    story.do("POST", f"{path}/picks", {"item_code": plain, "qty": 30, "bin_code": _SHELF_BINS[0]})
    story.do("POST", f"{path}/dispatch", {"seal_number": "S-10442", "vehicle_plate": "DEMO 1"})
    story.tell(
        "On the way from Birmingham to Dublin",
        story.send("GET", "/stock-levels", params={"item_code": plain, "warehouse": "DUB"}), 200,
        lambda answer: "on hand {on_hand}, in transit {in_transit}".format(**answer["data"][0]),
    )  # fmt: skip
    arrived = [{"item_code": plain, "qty": 28, "bin_code": _DESTINATION_BIN}]
    story.tell(
        "28 of 30 arrive",
        story.send("POST", f"{path}/receive", json={"lines": arrived, "final": True}), 200,
        lambda answer: f"{answer['data']['status']}, "
        f"discrepancy: {answer['data']['has_discrepancy']}",
    )  # fmt: skip
    story.tell(
        "Closed, with the reason for the two that are missing",
        story.send("POST", f"{path}/close", json={"reason": "Fell off the truck"}), 200,
        lambda answer: "{status}, {units[dispatched]} sent, {units[received]} received".format(
            **answer["data"]
        ),
    )  # fmt: skip


def _wave(story: Story, run: str, plain: str) -> None:
    pickings = []
    for number in range(_WAVE_ORDERS):
        order = {
            "external_ref": f"SO-W{number}-{run}",
            "type": "sale_order",
            "doc_date": "2026-03-02",
            "partner_code": "C-200",
            "warehouse_code": "CEN",
            "lines": [{"item_code": plain, "qty": 4}],
        }
        document = story.do("POST", "/exit-documents", order)
        wanted = {"document_id": document["id"], "allocate": False}
        pickings.append(story.do("POST", "/pickings", wanted)["id"])
    wave = story.do(
        "POST",
        "/waves",
        {"warehouse_code": "CEN", "strategy": "batch", "picking_ids": pickings},
    )
    path = f"/waves/{wave['id']}"
    story.do("POST", f"{path}/plan")
    story.tell(
        f"A wave of {_WAVE_ORDERS} orders is released, all allocated",
        story.send("POST", f"{path}/release"), 200,
        lambda body: "{status}: {metrics[orders]} orders, {metrics[units]} units,"
        " {metrics[standard_minutes]} standard minutes".format(**body["data"]),
    )  # fmt: skip
    for picking in pickings:
        story.do("POST", f"/pickings/{picking}/start")
        taken = {"item_code": plain, "qty": 4, "bin_code": _SHELF_BINS[0]}
        story.do("POST", f"/pickings/{picking}/picks", taken)
        story.do("POST", f"/pickings/{picking}/finalize")
    story.tell(
        "All of them picked", story.send("POST", f"{path}/complete"), 200,
        lambda body: body["data"]["status"],
    )  # fmt: skip


def _check_stock(story: Story, codes: Sequence[str]) -> None:
    """Add up the ledger, the rows and the levels of each product: three times the same."""
    for code in codes:
        moved = Decimal(0)
        for movement in story.listed("/stock-movements", item_code=code):
            qty = Decimal(str(movement["qty"]))
            moved += qty * ((movement["to"] is not None) - (movement["from"] is not None))
        rows = sum(
            (Decimal(str(row["qty"])) for row in story.listed("/stocks", item_code=code)),
            Decimal(0),
        )
        [total] = story.listed("/stock-levels", item_code=code, totals="true")
        level = Decimal(str(total["on_hand"])) + Decimal(str(total["in_transit"]))
        story.fact(
            f"The ledger's proof for {code.rpartition('-')[2]}",
            f"movements {moved} = rows {rows} = levels {level}",
            fine=moved == rows == level,
        )
