"""Demo of counts, of replenishment, of what can be sold, and of goods that expire too soon."""

from datetime import UTC, datetime, timedelta
from typing import Any

from local.demo_places import ORIGIN, SHELF_BINS
from local.demo_session import Demo
from operations.scenarios import create_order, order_of

_DAYS_LEFT = 20


def run_stock_demo(demo: Demo, run: str) -> None:
    """Count products, fill a pick face, sell, and try to pick goods that expire too soon."""
    sold, old, picked = f"DEMO-{run}-LAMP", f"DEMO-{run}-PAINT", f"DEMO-{run}-FUSE"
    demo.call("/products", {"item_code": sold, "name": "Lamp, demo"})
    demo.call("/products", {"item_code": picked, "name": "Fuse, demo"})
    paint = {"item_code": old, "name": "Paint, demo", "man_btch_num": True}
    demo.call("/products", {**paint, "min_remaining_days": 90})
    _load(demo, sold, old)
    _count(demo, picked)
    _replenish(demo, picked)
    _sell(demo, run, sold)
    _pick_old(demo, run, old)


def _load(demo: Demo, sold: str, old: str) -> None:
    place = {"warehouse": ORIGIN, "bin_code": SHELF_BINS[0]}
    expires = datetime.now(UTC).date() + timedelta(days=_DAYS_LEFT)
    batch = {"batch": "B-1", "expiry_date": expires.isoformat()}
    lines = [
        {"item_code": sold, **place, "counted_qty": 50, "expected_qty": 0},
        {"item_code": old, **place, **batch, "increase": 5},
    ]
    counts = {"reason": "Opening stock", "lines": lines}
    demo.post(
        "Load opening stock in one request; counts with the quantity that is expected",
        "/stock-adjustments", counts, lambda body: f"{len(body['data']['lines'])} lines",
        expected=201,
    )  # fmt: skip
    demo.post(
        "The same request with a new key is refused: the stock is not as expected any more",
        "/stock-adjustments", counts, _problems, expected=409,
    )  # fmt: skip


def _count(demo: Demo, item_code: str) -> None:
    goods = {"item_code": item_code, "bin_code": SHELF_BINS[1]}
    found = {**goods, "warehouse": ORIGIN, "increase": 60, "reason": "Opening stock"}
    demo.call("/stock-adjustments", found)
    count = demo.post(
        "Count the fuses: people who count do not see what is expected",
        "/counts", {"warehouse_code": ORIGIN, "item_codes": [item_code]},
        "{data[code]}, {data[progress][lines]} line", expected=201,
    )  # fmt: skip
    path = f"/counts/{count['id']}"
    demo.call(f"{path}/lines", {**goods, "qty": 58})
    demo.call(f"{path}/finish")
    demo.post("Two of 60 are missing: post the difference", f"{path}/post")


def _replenish(demo: Demo, item_code: str) -> None:
    place = {"warehouse_code": ORIGIN, "bin_code": SHELF_BINS[0]}
    face = demo.call("/pick-faces", {"item_code": item_code, **place, "minimum": 5, "maximum": 20})
    wanted = {"warehouse_code": ORIGIN, "pick_face_ids": [face["id"]]}
    created = demo.post(
        "The pick face of the fuses is empty: replenish it",
        "/replenishments", wanted, "transfer {data[created][0][transfer_id]} of 20", expected=201,
    )  # fmt: skip
    demo.post(
        "Another request creates no second transfer",
        "/replenishments", wanted, lambda body: f"{len(body['data']['created'])} created",
    )  # fmt: skip
    [transfer] = created["created"]
    demo.post("Execute the transfer", f"/transfers/{transfer['transfer_id']}/execute")
    demo.call(f"/pick-faces/{face['id']}", method="DELETE")


def _problems(body: Any) -> str:
    return "; ".join(f"{one['field']}: {one['message']}" for one in body["errors"])


def _sell(demo: Demo, run: str, sold: str) -> None:
    order = order_of("sale_order", f"SO-S-{run}", ORIGIN, [{"item_code": sold, "qty": 12}])
    create_order(demo.call, order)
    _show_level(demo, "An order of 12 of 50 lamps: nobody picks it yet", sold, sellable=38)
    cart = {"warehouse_code": ORIGIN, "ttl_seconds": 900}
    lines = [{"item_code": sold, "qty": 38}]
    hold = demo.post(
        "A cart holds the other 38 for 15 minutes",
        "/holds", {**cart, "external_ref": f"CART-{run}", "lines": lines},
        "{data[code]}, {data[status]}", expected=201,
    )  # fmt: skip
    demo.post(
        "Another cart wants one more",
        "/holds", {**cart, "lines": [{"item_code": sold, "qty": 1}]}, _problems, expected=422,
    )  # fmt: skip
    paid = order_of("sale_order", f"SO-C-{run}", ORIGIN, lines, hold_id=hold["id"])
    demo.post(
        "The first cart is paid: its order takes what the cart holds",
        "/exit-documents", paid, "{data[doc_num]}, {data[status]}", expected=201,
    )  # fmt: skip
    _show_level(demo, "All lamps are sold", sold, sellable=0)


def _show_level(demo: Demo, title: str, item_code: str, *, sellable: int) -> None:
    [level] = demo.list_all("/stock-levels", item_code=item_code, warehouse=ORIGIN)
    demo.check(
        title,
        f"{level['available']} available, {level['committed']} committed, {level['held']} held:"
        f" {level['sellable']} can be sold",
        passed=level["sellable"] == sellable,
    )


def _pick_old(demo: Demo, run: str, old: str) -> None:
    order = order_of("sale_order", f"SO-E-{run}", ORIGIN, [{"item_code": old, "qty": 1}])
    picking = demo.call("/pickings", {"document_id": create_order(demo.call, order)["id"]})
    demo.call(f"/pickings/{picking['id']}/start")
    demo.post(
        f"Paint with {_DAYS_LEFT} of 90 days left is not allocated, and cannot be picked",
        f"/pickings/{picking['id']}/picks",
        {"item_code": old, "qty": 1, "bin_code": SHELF_BINS[0], "batch": "B-1"},
        _problems, expected=422,
    )  # fmt: skip
