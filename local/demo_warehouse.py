"""Demo of warehouse operations, from receiving to dispatch, and a check of the stock ledger."""

from collections.abc import Mapping, Sequence
from typing import Any

from local.demo_places import DESTINATION, ORIGIN, RECEIVING_BIN, SHELF_BINS
from local.demo_rfid import run_rfid_demo
from local.demo_session import Demo
from local.pickers import picker_id
from operations.scenarios import (
    contents_of,
    create_order,
    order_of,
    pick,
    picks_of,
    stock_sums,
)
from shared.warehouse.gs1.numbers import check_digit

_WAVE_ORDERS = 10


def run_warehouse_demo(demo: Demo, run: str, modules: Mapping[str, bool]) -> None:
    """Take three new products through two warehouses; `modules` are those of the tenant."""
    plain, batched, serialled = _create_products(demo, run)
    _receive(demo, run, plain, batched, serialled)
    _receive_boxes(demo, run)
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
        demo.call("/products", {"item_code": code, "name": f"{name}, demo", **options})
    return codes


def _name_cases(demo: Demo, item_code: str, units: int) -> str:
    """Give the cases of a product a GTIN; return the GTIN."""
    [product] = demo.list_all("/products", item_code=item_code)
    digits = f"1952{product['id'] % 10**9:09d}"
    gtin = digits + check_digit(digits)
    demo.call(
        f"/products/{product['id']}/packaging",
        {"weight_kg": 0.25, "gtins": [{"gtin": gtin, "units": units}]},
        method="PUT",
    )
    return gtin


def _receive(demo: Demo, run: str, plain: str, batched: str, serialled: str) -> None:
    ordered = [
        {"item_code": plain, "qty": 100},
        {"item_code": batched, "qty": 40},
        {"item_code": serialled, "qty": 3},
    ]
    order = order_of("purchase_order", f"PO-F-{run}", ORIGIN, ordered)
    document = create_order(demo.call, order)["id"]
    receipt = demo.post(
        "Goods arrive: create a receipt for the purchase order",
        "/receipts", {"document_id": document}, "receipt {data[id]}, {data[status]}", expected=201,
    )  # fmt: skip
    path = f"/receipts/{receipt['id']}"
    demo.call(f"{path}/start")
    goods: Sequence[dict[str, Any]] = (
        {"item_code": batched, "qty": 25, "batch": "LATE", "expiry_date": "2030-06-30"},
        {"item_code": serialled, "qty": 3, "serials": [f"{run}-{n}" for n in range(3)]},
    )
    for line in goods:
        demo.call(f"{path}/lines", {**line, "bin_code": RECEIVING_BIN})
    cases = {"gtin": _name_cases(demo, batched, 5), "qty": 3, "bin_code": RECEIVING_BIN}
    demo.post(
        "Receive 3 cases of 5 glues by the GTIN of the case",
        f"{path}/lines", {**cases, "batch": "SOON", "expiry_date": "2029-01-31"},
        lambda body: f"{body['data']['lines'][-1]['qty']} glues received",
    )  # fmt: skip
    clips = {"item_code": plain, "qty": 95, "bin_code": RECEIVING_BIN}
    demo.post(
        "Receive 95 of 100 ordered clips",
        f"{path}/lines", clips, lambda body: f"{len(body['data']['lines'])} lines received",
    )  # fmt: skip
    refusal = demo.post(
        "A million more are refused: only five are open",
        f"{path}/lines", {**clips, "qty": 1_000_000}, "{error[code]}: {message}", expected=409,
    )  # fmt: skip
    approval = f"/approvals/{refusal['error']['approval_id']}"
    demo.step(
        "The refusal waits for a supervisor, as an approval",
        demo.send("GET", approval), 200, "{data[status]} until {data[expires_at]}",
    )  # fmt: skip
    demo.post(
        "The ERP cannot grant its own request",
        f"{approval}/grant", {}, "{error[code]}: {message}", expected=403,
    )  # fmt: skip
    duplicate = {"item_code": serialled, "qty": 1, "serials": [f"{run}-0"]}
    demo.post(
        "A serial number that is already in stock is refused",
        f"{path}/lines", {**duplicate, "bin_code": RECEIVING_BIN}, "{message}", expected=422,
    )  # fmt: skip
    demo.call(f"{path}/finalize")
    demo.step(
        "The purchase order shows the open quantities",
        demo.send("GET", f"/entry-documents/{document}"), 200,
        lambda body: body["data"]["status"] + ", open quantities: "
        + ", ".join(str(line["open_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip


def _receive_boxes(demo: Demo, run: str) -> None:
    """Receive an order in boxes; the line number of the ERP comes back with the receipt."""
    tape = {"item_code": f"DEMO-{run}-TAPE", "name": "Tape, demo"}
    product = demo.call("/products", tape)
    units = {"units": [{"unit": "BOX", "qty": 12}]}
    demo.call(f"/products/{product['id']}/packaging", units, method="PUT")
    boxes = {"item_code": product["item_code"], "qty": 2, "unit": "BOX"}
    order = order_of("purchase_order", f"PO-B-{run}", ORIGIN, [boxes | {"external_ref": "10"}])
    document = create_order(demo.call, order)["id"]
    receipt = demo.call("/receipts", {"document_id": document})["id"]
    demo.call(f"/receipts/{receipt}/start")
    demo.post(
        "Receive 2 boxes of 12: the line number of the ERP comes back",
        f"/receipts/{receipt}/lines", boxes | {"bin_code": RECEIVING_BIN},
        "{data[lines][0][fills][0][qty]} units for its line"
        " {data[lines][0][fills][0][external_ref]}",
    )  # fmt: skip
    demo.call(f"/receipts/{receipt}/finalize")


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
    outcome = f"{{data[status]}}, {len(lines)} lines in one transaction"
    title = "Put the goods away from the dock to the shelves"
    demo.post(title, "/transfers", body, outcome, expected=201)


def _ship(demo: Demo, run: str, batched: str, serialled: str) -> int:
    """Pick and dispatch a sales order; return its id."""
    ordered = [{"item_code": batched, "qty": 20}, {"item_code": serialled, "qty": 1}]
    order = order_of("sale_order", f"SO-F-{run}", ORIGIN, ordered)
    document: int = create_order(demo.call, order)["id"]
    picking = demo.post(
        "Allocate a sales order: the batch that expires first is taken first",
        "/pickings", {"document_id": document},
        lambda body: ", ".join(
            f"{line['qty']} of {line['batch_num'] or line['serials'][0]} at {line['bin_code']}"
            for line in body["data"]["lines"]
        ), expected=201,
    )  # fmt: skip
    path = f"/pickings/{picking['id']}"
    demo.call(f"{path}/start")
    for goods in picks_of(picking):
        # Two units of the batch LATE are missing on the shelf.
        missing = 2 if goods["batch"] == "LATE" else 0
        demo.call(f"{path}/picks", {**goods, "qty": goods["qty"] - missing})
    demo.post(
        "Two units are missing: the picking needs a shortage reason",
        f"{path}/finalize", None, "{message}", expected=422,
    )  # fmt: skip
    demo.post(
        "Finalize the picking with the reason could_not_locate",
        f"{path}/finalize", {"shortage_reason": "could_not_locate"},
        "{data[status]}, shortage: {data[has_shortage]}",
    )  # fmt: skip
    _pack(demo, document)
    demo.post(
        "Dispatch the order", f"/exit-documents/{document}/dispatch", None,
        lambda body: body["data"]["status"] + ", picked quantities: "
        + ", ".join(str(line["picked_qty"]) for line in body["data"]["lines"]),
    )  # fmt: skip
    return document


def _return(demo: Demo, run: str, order: int, batched: str) -> None:
    """The customer sends some glue back; it is received, and partly sent to its provider."""
    line = {"item_code": batched, "qty": 4, "reason": "not_wanted"}
    body = {"exit_document_id": order, "external_ref": f"RMA-{run}", "lines": [line]}
    made = demo.post(
        "The customer announces a return of 4 units",
        "/returns", body, "{data[code]}, {data[status]}, for {data[exit_doc_num]}", expected=201,
    )  # fmt: skip
    excess = {"exit_document_id": order, "lines": [{**line, "qty": 1000}]}
    demo.post("More than was dispatched is refused", "/returns", excess, "{message}", expected=422)
    path = f"/returns/{made['id']}"
    goods = {"item_code": batched, "batch": "SOON"}
    demo.call(f"{path}/lines", {"lines": [{**goods, "qty": 3, "bin_code": RECEIVING_BIN}]})
    demo.call(f"{path}/finish")
    decisions = [
        {**goods, "qty": 1, "action": "restock", "bin_code": SHELF_BINS[1]},
        {**goods, "qty": 1, "action": "scrap"},
        {**goods, "qty": 1, "action": "return_to_provider"},
    ]
    demo.post(
        "Three came back: one is restocked, one scrapped, and one goes back to its provider",
        f"{path}/dispositions", {"lines": decisions, "partner_code": "V-100"},
    )  # fmt: skip
    [document] = demo.list_all("/exit-documents", external_ref=f"{made['code']}/1")
    [picking] = demo.list_all("/pickings", document_id=document["id"])
    pick(demo.call, demo.call(f"/pickings/{picking['id']}", method="GET"))
    demo.post(
        "Its exit document is dispatched",
        f"/exit-documents/{document['id']}/dispatch", None, "{data[type]}, {data[status]}",
    )  # fmt: skip


def _pack(demo: Demo, document: int) -> None:
    """Pack the goods of an exit document into a carton, which must be closed before it leaves."""
    order = demo.post(
        "Pack the picked goods: create a packing order",
        "/packing-orders", {"exit_document_id": document},
        "{data[code]}: {data[qty][to_pack]} units to pack", expected=201,
    )  # fmt: skip
    path = f"/packing-orders/{order['id']}"
    carton = demo.call(f"{path}/handling-units", {"type": "carton", "tare_kg": 0.4})
    unit = f"/handling-units/{carton['id']}"
    for goods in contents_of(order):
        demo.call(f"{unit}/contents", goods)
    demo.post(
        "Goods that are packed already are refused",
        f"{unit}/contents", {**goods, "qty": 1}, "{error[code]}: {message}", expected=422,
    )  # fmt: skip
    demo.post(
        "Dispatch waits until everything is in closed units",
        f"/exit-documents/{document}/dispatch", None, "{error[message]}", expected=409,
    )  # fmt: skip
    demo.call(f"{unit}/close", {"weight_kg": 7.5})
    run_rfid_demo(demo, order)
    demo.post(
        "Close the carton and complete the packing order", f"{path}/complete", None,
        "{data[status]}: {data[units_count]} unit, {data[weight_kg]} kg",
    )  # fmt: skip
    _print(demo, "Print the packing slip", f"{path}/packing-slip.pdf")
    if carton["sscc"]:
        _print(demo, "Print the label of the carton", f"{unit}/label")
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
    picker = picker_id(demo.call("/users", method="GET"), lambda body: demo.call("/users", body))
    body = {
        "from_warehouse": ORIGIN,
        "to_warehouse": DESTINATION,
        "external_ref": f"TO-F-{run}",
        "release": True,
        "picker_id": picker,
        "lines": [{"item_code": plain, "qty": 30}],
    }
    path = f"/transfer-orders/{demo.call('/transfer-orders', body)['id']}"
    demo.call(f"{path}/picks", {"item_code": plain, "qty": 30, "bin_code": SHELF_BINS[0]})
    demo.call(f"{path}/dispatch", {"seal_number": "S-10442", "vehicle_plate": "DEMO 1"})
    demo.step(
        "A transfer order is in transit from Birmingham to Dublin",
        demo.send("GET", "/stock-levels", params={"item_code": plain, "warehouse": DESTINATION}),
        200,
        "on hand {data[0][on_hand]}, in transit {data[0][in_transit]}",
    )
    arrived = [{"item_code": plain, "qty": 28, "bin_code": RECEIVING_BIN}]
    demo.post(
        "Receive 28 of 30 units in Dublin", f"{path}/receive", {"lines": arrived, "final": True},
        "{data[status]}, discrepancy: {data[has_discrepancy]}",
    )  # fmt: skip
    demo.post(
        "Close the transfer order with a reason for the two missing units",
        f"{path}/close", {"reason": "Damaged in transit"},
        "{data[status]}, {data[units][dispatched]} sent, {data[units][received]} received",
    )  # fmt: skip


def _wave(demo: Demo, run: str, plain: str) -> None:
    pickings = []
    for number in range(_WAVE_ORDERS):
        lines = [{"item_code": plain, "qty": 4}]
        order = order_of("sale_order", f"SO-W{number}-{run}", ORIGIN, lines)
        wanted = {"document_id": create_order(demo.call, order)["id"], "allocate": False}
        pickings.append(demo.call("/pickings", wanted)["id"])
    body = {"warehouse_code": ORIGIN, "strategy": "batch", "picking_ids": pickings}
    path = f"/waves/{demo.call('/waves', body)['id']}"
    demo.call(f"{path}/plan")
    demo.post(
        f"Release a wave of {_WAVE_ORDERS} orders, which allocates all of them",
        f"{path}/release", None,
        "{data[status]}: {data[metrics][orders]} orders, {data[metrics][units]} units,"
        " {data[metrics][standard_minutes]} standard minutes",
    )  # fmt: skip
    for picking in pickings:
        pick(demo.call, demo.call(f"/pickings/{picking}", method="GET"))
    demo.post("Complete the wave after all pickings are finalized", f"{path}/complete")


def _check_stock(demo: Demo, codes: Sequence[str]) -> None:
    """Compare the sums of the movements, the stock rows and the stock levels of each product."""
    for code in codes:
        moved, rows, levels = stock_sums(demo.list_all, item_code=code)[code]
        demo.check(
            f"Ledger check for {code.rpartition('-')[2]}: movements, stock rows and levels agree",
            f"movements {moved} = rows {rows} = levels {levels}",
            passed=moved == rows == levels,
        )
