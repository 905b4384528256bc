"""Demo of RFID: a gate reads the tags of packed goods."""

from typing import Any

from local.demo_session import Demo
from local.tags import tag_of
from shared.warehouse.gs1.numbers import check_digit

type Body = dict[str, Any]


def run_rfid_demo(demo: Demo, order: Body) -> None:
    """Read the tags of a packing order twice: one is missing at first."""
    tags = [tag for line in order["lines"] for tag in _tags(demo, line)]
    body = {"packing_order_id": order["id"], "reader": "Gate 1"}
    demo.step(
        "A gate reads the tags of the packed goods, all but one",
        demo.send("POST", "/rfid-validations", json={**body, "epcs": tags[:-1]}), 201,
        lambda answer: "{result}: {matched} of {expected} units, missing: ".format(**answer["data"])
        + ", ".join("{qty} of {item_code}".format(**one) for one in answer["data"]["missing"]),
    )  # fmt: skip
    demo.step(
        "The gate reads them again",
        demo.send("POST", "/rfid-validations", json={**body, "epcs": tags}), 201,
        lambda answer: "{result}: {matched} of {expected} units".format(**answer["data"]),
    )  # fmt: skip


def _tags(demo: Demo, line: Body) -> list[str]:
    """Return the tags of the goods of a line of a packing order."""
    gtin = _gtin_of_piece(demo, line["item_code"])
    serials = line["serial_numbers"] or [f"{line['batch_num']}-{n}" for n in range(line["qty"])]
    return [tag_of(gtin, serial) for serial in serials]


def _gtin_of_piece(demo: Demo, item_code: str) -> str:
    """Give the pieces of a product a GTIN, beside that of its cases; return the GTIN."""
    [product] = demo.list_all("/products", item_code=item_code)
    path = f"/products/{product['id']}/packaging"
    digits = f"952{product['id'] % 10**9:09d}"
    gtin = digits + check_digit(digits)
    others = [one for one in demo.call(path, method="GET")["gtins"] if one["gtin"] != gtin]
    demo.call(path, {"gtins": [*others, {"gtin": gtin}]}, method="PUT")
    return gtin
