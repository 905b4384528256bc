"""Demo of warehouse operations, from receiving to dispatch, and a check of the stock ledger."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from local.demo_places import DESTINATION, ORIGIN, RECEIVING_BIN, SHELF_BINS
from local.demo_session import Demo
from local.pickers import picker_id
from shared.warehouse.gs1 import check_digit

_WAVE_ORDERS = 10


def run_warehouse_demo(demo: Demo, run: str, modules: Mapping[str, bool]) -> None:
    """Take three new products through two warehouses; `modules` are those of the tenant."""
    plain, batched, serialled = _create_products(demo, run)
    _receive(demo, run, plain, batched, serialled)
    _put_away(demo, plain, batched, serialled)
    order = _ship(demo, run, batched, serialled)
    _return(demo, run, order, batched)
    if modules["transfer_orders"]:
        _transfer_order(demo, run, plain)
    else:
        demo.skip("A transfer order from Birmingham to Dublin", "the module is disabled")
    if modules["waves"]:
        _wave(demo, run, plain)
    else:
        demo.skip(f"A wave of {_WAVE_ORDERS} orders", "the module is disabled")
    _check_stock(demo, (plain, batched, serialled))


def _create_products(demo: Demo, run: str) -> tuple[str, str, str]:
    codes = (f"DEMO-{run}-CLIP", f"DEMO-{run}-GLUE", f"DEMO-{run}-DRILL")
    tracking: Sequence[dict[str, bool]] = ({}, {"man_btch_num": True}, {"man_ser_num": True})
    for code, options in zip(codes, tracking, strict=True):
        name = code.rpartition("-")[2].title()
        demo.call("POST", "/products", {"item_code": code, "name": f"{name}, demo", **options})
    return codes


def _name_cases(demo: Demo, item_code: str, units: int) -> str:
    """Give the cases of a product a GTIN; return the GTIN."""
    [product] = demo.list_all("/products", item_code=item_code)
    digits = f"1952{product['id'] % 10**9:09d}"
    gtin = digits + check_digit(digits)
    demo.call(
        "PUT",
        f"/products/{product['id']}/packaging",
        {"weight_kg": 0.25, "gtins": [{"gtin": gtin, "units": units}]},
    )
    return gtin


def _receive(demo: Demo, run: str, plain: str, batched: str, serialled: str) -> None:
    order = {
        "external_ref": f"PO-F-{run}",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-100",
        "warehouse_code": ORIGIN,
        "lines": [
            {"item_code": plain, "qty": 100},
            {"item_code": batched, "qty": 40},
            {"item_code": serialled, "qty": 3},
        ],
    }
    document = demo.call("POST", "/entry-documents", order)
    receipt = demo.step(
        "Goods arrive: create a receipt for the purchase order",
        demo.send("POST", "/receipts", json={"document_id": document["id"]}), 201,
        lambda body: f"receipt {body['data']['id']}, {body['data']['status']}",
    )["data"]  # fmt: skip
    path = f"/receipts/{receipt['id']}"
    demo.call("POST", f"{path}/start")
    goods: Sequence[dict[str, Any]] = (
        {"item_code": batched, "qty": 25, "batch": "LATE", "expiry_date": "2030-06-30"},
        {"item_code": serialled, "qty": 3, "serials": [f"{run}-{n}" for n in range(3)]},
    )
    for line in goods:
        demo.call("POST", f"{path}/lines", {**line, "bin_code": RECEIVING_BIN})
    cases = {"gtin": _name_cases(demo, batched, 5), "qty": 3, "bin_code": RECEIVING_BIN}
    demo.step(
        "Receive 3 cases of 5 glues by the GTIN of the case",
        demo.send(
            "POST", f"{path}/lines",
            json={**cases, "batch": "SOON", "expiry_date": "2029-01-31"},
        ), 200, lambda body: f"{body['data']['lines'][-1]['qty']} glues received",
    )  # fmt: skip
    demo.step(
        "Receive 95 of 100 ordered clips",
        demo.send(
            "POST", f"{path}/lines",
            json={"item_code": plain, "qty": 95, "bin_code": RECEIVING_BIN},
        ), 200, lambda body: f"{len(body['data']['lines'])} lines received",
    )  # fmt: skip
    excess = {"item_code": plain, "qty": 1_000_000, "bin_code": RECEIVING_BIN}
    refusal = demo.step(
        "A million more are refused: only five are open",
        demo.send("POST", f"{path}/lines", json=excess), 409,
        lambda body: f"{body['error']['code']}: {body['message']}",
    )  # fmt: skip
    approval = f"/approvals/{refusal['error']['approval_id']}"
    demo.step(
        "The refusal waits for a supervisor, as an approval",
        demo.send("GET", approval), 200,
        lambda body: f"{body['data']['status']} until {body['data']['expires_at']}",
    )  # fmt: skip
    demo.step(
        "The ERP cannot grant its own request",
        demo.send("POST", f"{approval}/grant", json={}), 403,
        lambda body: f"{body['error']['code']}: {body['message']}",
    )  # fmt: skip
    duplicate = {
        "item_code": serialled,
        "qty": 1,
        "serials": [f"{run}-0"],
        "bin_code": RECEIVING_BIN,
    }
    demo.step(
        "A serial number that is already in stock is refused",
        demo.send("POST", f"{path}/lines", json=duplicate), 422,
        lambda body: body["message"],
    )  # fmt: skip
    demo.call("POST", f"{path}/finalize")
    demo.step(
        "The purchase order shows the open quantities",
        demo.send("GET", f"/entry-documents/{document['id']}"), 200,
        lambda body: body["data"]["status"] + ", open quantities: "
        + ", ".join(str(line["open_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip


def _put_away(demo: Demo, plain: str, batched: str, serialled: str) -> None:
    def moved(item_code: str, qty: int, to_bin: str, **more: Any) -> dict[str, Any]:
        return {
            "item_code": item_code, "qty": qty,
            "from_bin": RECEIVING_BIN, "to_bin": to_bin, **more,
        }  # fmt: skip

    serials = [
        row["serial_number"] for row in demo.list_all("/stocks", item_code=serialled, status="in")
    ]
    lines = [
        moved(plain, 95, SHELF_BINS[0]),
        moved(batched, 25, SHELF_BINS[0], batch="LATE"),
        moved(batched, 15, SHELF_BINS[1], batch="SOON"),
        moved(serialled, 3, SHELF_BINS[0], serials=serials),
    ]
    body = {"from_warehouse": ORIGIN, "to_warehouse": ORIGIN, "reason": "Put away", "lines": lines}
    demo.step(
        "Put the goods away from the dock to the shelves",
        demo.send("POST", "/transfers", json=body), 201,
        lambda answer: f"{answer['data']['status']}, {len(lines)} lines in one transaction",
    )  # fmt: skip


def _ship(demo: Demo, run: str, batched: str, serialled: str) -> int:
    """Pick and dispatch a sales order; return its id."""
    order = {
        "external_ref": f"SO-F-{run}",
        "type": "sale_order",
        "doc_date": "2026-03-02",
        "partner_code": "C-200",
        "warehouse_code": ORIGIN,
        "lines": [{"item_code": batched, "qty": 20}, {"item_code": serialled, "qty": 1}],
    }
    document = demo.call("POST", "/exit-documents", order)
    picking = demo.step(
        "Allocate a sales order: the batch that expires first is taken first",
        demo.send("POST", "/pickings", json={"document_id": document["id"]}), 201,
        lambda body: ", ".join(
            f"{line['qty']} of {line['batch_num'] or line['serials'][0]} at {line['bin_code']}"
            for line in body["data"]["lines"]
        ),
    )["data"]  # fmt: skip
    path = f"/pickings/{picking['id']}"
    demo.call("POST", f"{path}/start")
    for line in picking["lines"]:
        # Two units of the batch LATE are missing on the shelf.
        missing = 2 if line["batch_num"] == "LATE" else 0
        taken = {
            "item_code": line["item_code"], "qty": line["qty"] - missing,
            "bin_code": line["bin_code"], "batch": line["batch_num"],
            "serials": line["serials"] or None,
        }  # fmt: skip
        demo.call("POST", f"{path}/picks", taken)
    demo.step(
        "Two units are missing: the picking needs a shortage reason",
        demo.send("POST", f"{path}/finalize"), 422,
        lambda body: body["message"],
    )  # fmt: skip
    demo.step(
        "Finalize the picking with the reason could_not_locate",
        demo.send("POST", f"{path}/finalize", json={"shortage_reason": "could_not_locate"}), 200,
        lambda body: f"{body['data']['status']}, shortage: {body['data']['has_shortage']}",
    )  # fmt: skip
    _pack(demo, document["id"])
    demo.step(
        "Dispatch the order", demo.send("POST", f"/exit-documents/{document['id']}/dispatch"), 200,
        lambda body: body["data"]["status"] + ", picked quantities: "
        + ", ".join(str(line["picked_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip
    number: int = document["id"]
    return number


def _return(demo: Demo, run: str, order: int, batched: str) -> None:
    """The customer sends some glue back; it is received, and partly sent to its provider."""
    line = {"item_code": batched, "qty": 4, "reason": "not_wanted"}
    body = {"exit_document_id": order, "external_ref": f"RMA-{run}", "lines": [line]}
    made = demo.step(
        "The customer announces a return of 4 units",
        demo.send("POST", "/returns", json=body), 201,
        lambda answer: "{code}, {status}, for {exit_doc_num}".format(**answer["data"]),
    )["data"]  # fmt: skip
    demo.step(
        "More than was dispatched is refused",
        demo.send("POST", "/returns", json={
            "exit_document_id": order, "lines": [{**line, "qty": 1000}],
        }), 422, lambda answer: answer["message"],
    )  # fmt: skip
    path = f"/returns/{made['id']}"
    goods = {"item_code": batched, "batch": "SOON"}
    demo.call("POST", f"{path}/lines", {
        "lines": [{**goods, "qty": 3, "bin_code": RECEIVING_BIN}],
    })  # fmt: skip
    demo.call("POST", f"{path}/finish")
    decisions = [
        {**goods, "qty": 1, "action": "restock", "bin_code": SHELF_BINS[1]},
        {**goods, "qty": 1, "action": "scrap"},
        {**goods, "qty": 1, "action": "return_to_provider"},
    ]
    demo.step(
        "Three came back: one is restocked, one scrapped, and one goes back to its provider",
        demo.send("POST", f"{path}/dispositions", json={
            "lines": decisions, "partner_code": "V-100",
        }), 200, lambda answer: answer["data"]["status"],
    )  # fmt: skip
    [document] = demo.list_all("/exit-documents", external_ref=f"{made['code']}/1")
    picking = demo.list_all("/pickings", document_id=document["id"])[0]
    demo.call("POST", f"/pickings/{picking['id']}/start")
    taken = {**goods, "qty": 1, "bin_code": RECEIVING_BIN}
    demo.call("POST", f"/pickings/{picking['id']}/picks", taken)
    demo.call("POST", f"/pickings/{picking['id']}/finalize")
    demo.step(
        "Its exit document is dispatched",
        demo.send("POST", f"/exit-documents/{document['id']}/dispatch"), 200,
        lambda answer: "{type}, {status}".format(**answer["data"]),
    )  # fmt: skip


def _pack(demo: Demo, document: int) -> None:
    """Pack the goods of an exit document into a carton, which must be closed before it leaves."""
    order = demo.step(
        "Pack the picked goods: create a packing order",
        demo.send("POST", "/packing-orders", json={"exit_document_id": document}), 201,
        lambda body: "{code}: {qty[to_pack]} units to pack".format(**body["data"]),
    )["data"]  # fmt: skip
    path = f"/packing-orders/{order['id']}"
    unit = demo.call("POST", f"{path}/handling-units", {"type": "carton", "tare_kg": 0.4})
    for line in order["lines"]:
        goods = {
            "item_code": line["item_code"], "qty": line["qty"], "batch": line["batch_num"],
            "serials": line["serial_numbers"] or None,
        }  # fmt: skip
        demo.call("POST", f"/handling-units/{unit['id']}/contents", goods)
    more = {"item_code": goods["item_code"], "qty": 1, "serials": goods["serials"]}
    demo.step(
        "Goods that are packed already are refused",
        demo.send("POST", f"/handling-units/{unit['id']}/contents", json=more), 422,
        lambda body: f"{body['error']['code']}: {body['message']}",
    )  # fmt: skip
    demo.step(
        "Dispatch waits until everything is in closed units",
        demo.send("POST", f"/exit-documents/{document}/dispatch"), 409,
        lambda body: body["error"]["message"],
    )  # fmt: skip
    demo.call("POST", f"/handling-units/{unit['id']}/close", {"weight_kg": 7.5})
    demo.step(
        "Close the carton and complete the packing order",
        demo.send("POST", f"{path}/complete"), 200,
        lambda body: "{status}: {units_count} unit, {weight_kg} kg".format(**body["data"]),
    )  # fmt: skip
    _print(demo, "Print the packing slip", f"{path}/packing-slip.pdf")
    if unit["sscc"]:
        _print(demo, "Print the label of the carton", f"/handling-units/{unit['id']}/label")
    else:
        demo.skip("The label of the carton", "the setting gs1_company_prefix is not set")


def _print(demo: Demo, title: str, path: str) -> None:
    demo.step(
        title,
        demo.send("GET", path), 200,
        lambda content: f"a PDF of {len(content)} bytes",
        read=lambda answer: answer.content,
    )  # fmt: skip


def _transfer_order(demo: Demo, run: str, plain: str) -> None:
    picker = picker_id(demo.call("GET", "/users"), lambda body: demo.call("POST", "/users", body))
    body = {
        "from_warehouse": ORIGIN,
        "to_warehouse": DESTINATION,
        "external_ref": f"TO-F-{run}",
        "release": True,
        "picker_id": picker,
        "lines": [{"item_code": plain, "qty": 30}],
    }
    order = demo.call("POST", "/transfer-orders", body)
    path = f"/transfer-orders/{order['id']}"
    demo.call("POST", f"{path}/picks", {"item_code": plain, "qty": 30, "bin_code": SHELF_BINS[0]})
    demo.call("POST", f"{path}/dispatch", {"seal_number": "S-10442", "vehicle_plate": "DEMO 1"})
    demo.step(
        "A transfer order is in transit from Birmingham to Dublin",
        demo.send("GET", "/stock-levels", params={"item_code": plain, "warehouse": DESTINATION}),
        200,
        lambda answer: "on hand {on_hand}, in transit {in_transit}".format(**answer["data"][0]),
    )
    arrived = [{"item_code": plain, "qty": 28, "bin_code": RECEIVING_BIN}]
    demo.step(
        "Receive 28 of 30 units in Dublin",
        demo.send("POST", f"{path}/receive", json={"lines": arrived, "final": True}), 200,
        lambda answer: f"{answer['data']['status']}, "
        f"discrepancy: {answer['data']['has_discrepancy']}",
    )  # fmt: skip
    demo.step(
        "Close the transfer order with a reason for the two missing units",
        demo.send("POST", f"{path}/close", json={"reason": "Damaged in transit"}), 200,
        lambda answer: "{status}, {units[dispatched]} sent, {units[received]} received".format(
            **answer["data"]
        ),
    )  # fmt: skip


def _wave(demo: Demo, run: str, plain: str) -> None:
    pickings = []
    for number in range(_WAVE_ORDERS):
        order = {
            "external_ref": f"SO-W{number}-{run}",
            "type": "sale_order",
            "doc_date": "2026-03-02",
            "partner_code": "C-200",
            "warehouse_code": ORIGIN,
            "lines": [{"item_code": plain, "qty": 4}],
        }
        document = demo.call("POST", "/exit-documents", order)
        wanted = {"document_id": document["id"], "allocate": False}
        pickings.append(demo.call("POST", "/pickings", wanted)["id"])
    wave = demo.call(
        "POST",
        "/waves",
        {"warehouse_code": ORIGIN, "strategy": "batch", "picking_ids": pickings},
    )
    path = f"/waves/{wave['id']}"
    demo.call("POST", f"{path}/plan")
    demo.step(
        f"Release a wave of {_WAVE_ORDERS} orders, which allocates all of them",
        demo.send("POST", f"{path}/release"), 200,
        lambda body: "{status}: {metrics[orders]} orders, {metrics[units]} units,"
        " {metrics[standard_minutes]} standard minutes".format(**body["data"]),
    )  # fmt: skip
    for picking in pickings:
        demo.call("POST", f"/pickings/{picking}/start")
        taken = {"item_code": plain, "qty": 4, "bin_code": SHELF_BINS[0]}
        demo.call("POST", f"/pickings/{picking}/picks", taken)
        demo.call("POST", f"/pickings/{picking}/finalize")
    demo.step(
        "Complete the wave after all pickings are finalized",
        demo.send("POST", f"{path}/complete"), 200, lambda body: body["data"]["status"],
    )  # fmt: skip


def _check_stock(demo: Demo, codes: Sequence[str]) -> None:
    """Compare the sums of the movements, the stock rows and the stock levels of each product."""
    for code in codes:
        moved = Decimal(0)
        for movement in demo.list_all("/stock-movements", item_code=code):
            qty = Decimal(str(movement["qty"]))
            moved += qty * ((movement["to"] is not None) - (movement["from"] is not None))
        rows = sum(
            (Decimal(str(row["qty"])) for row in demo.list_all("/stocks", item_code=code)),
            Decimal(0),
        )
        [total] = demo.list_all("/stock-levels", item_code=code, totals="true")
        level = Decimal(str(total["on_hand"])) + Decimal(str(total["in_transit"]))
        demo.check(
            f"Ledger check for {code.rpartition('-')[2]}: movements, stock rows and levels agree",
            f"movements {moved} = rows {rows} = levels {level}",
            passed=moved == rows == level,
        )
