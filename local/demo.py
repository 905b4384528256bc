"""Run the demo of a warehouse against the local stack, and print its steps as a table."""

import argparse
import json
import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from examples.stowage_client import Stowage
from local.demo_access import run_access_demo
from local.demo_imports import Bucket, run_imports_demo
from local.demo_session import Demo
from local.demo_warehouse import run_warehouse_demo
from local.demo_webhooks import run_webhooks_demo
from local.settings import aws_environment

STACK = Path(".local/stack.json")
CONCURRENCY = 20


def _codes(body: Any) -> str:
    return ", ".join(item["item_code"] for item in body["data"])


def run_demo(demo: Demo, bucket: Bucket) -> None:
    """Run the steps of the demo; every run creates a few more products and documents."""
    run = uuid.uuid4().hex[:8]
    warehouses = demo.step(
        "List the warehouses", demo.send("GET", "/warehouses"), 200,
        lambda body: ", ".join(
            f"{each['whs_code']} ({each['positions_count']} positions)" for each in body["data"]
        ),
    )["data"]  # fmt: skip
    products = demo.step(
        "Search the catalog for cable",
        demo.send("GET", "/products", params={"search": "cable", "per_page": 3}), 200,
        lambda body: f"{_codes(body)} … of {body['meta']['total']} products",
    )["data"]  # fmt: skip
    demo.step(
        "Create a product",
        demo.send(
            "POST", "/products", json={"item_code": f"DEMO-{run}", "name": "Cable drum, demo"}
        ),
        201,
        lambda body: f"product {body['data']['id']}",
    )
    _idempotent_order(demo, run, warehouses[0]["whs_code"], products)
    _concurrent_orders(demo, run, warehouses[0]["whs_code"], products)
    _invalid_order(demo, run)
    run_imports_demo(demo, run, bucket)
    run_webhooks_demo(demo, run)
    run_warehouse_demo(demo, run)
    demo.step(
        "List the newest open sales orders",
        demo.send("GET", "/exit-documents", params={"status": "open", "per_page": 3}), 200,
        lambda body: ", ".join(row["doc_num"] for row in body["data"])
        + f" … of {body['meta']['total']} orders",
    )  # fmt: skip


def _idempotent_order(demo: Demo, run: str, warehouse: str, products: list[dict[str, Any]]) -> None:
    order = {
        "external_ref": f"PO-{run}",
        "type": "Orden de compra",
        "doc_date": "01/03/2026",
        "partner_code": "V-100",
        "partner_name": "Harbour Cables Ltd",
        "warehouse_code": warehouse,
        "lines": [{"item_code": product["item_code"], "qty": 12} for product in products],
    }
    key = str(uuid.uuid4())
    first = demo.send("POST", "/entry-documents", json=order, key=key)
    demo.step("The ERP sends a purchase order", first, 201, lambda body: body["data"]["doc_num"])
    again = demo.send("POST", "/entry-documents", json=order, key=key)
    demo.step(
        "The response got lost: the ERP repeats the request with the same key", again, 201,
        lambda _: "the same response" if again.text == first.text else "ANOTHER RESPONSE",
    )  # fmt: skip
    other = demo.send("POST", "/entry-documents", json=order)
    demo.step(
        "The same order with another key is recognized by its external_ref", other, 200,
        lambda body: f"{body['data']['doc_num']}, created before",
    )  # fmt: skip
    changed = demo.send("POST", "/entry-documents", json=order | {"comments": "x"}, key=key)
    demo.step(
        "A different order with a used key is refused",
        changed, 422, lambda body: body["error"]["code"],
    )  # fmt: skip
    number = first.json()["data"]["id"]
    demo.step(
        "Close the order: nothing more is expected",
        demo.send("POST", f"/entry-documents/{number}/close"), 200,
        lambda body: f"{body['data']['doc_num']}, {body['data']['status']}",
    )  # fmt: skip


def _concurrent_orders(
    demo: Demo, run: str, warehouse: str, products: list[dict[str, Any]]
) -> None:
    order = {
        "external_ref": f"SO-{run}",
        "type": "sale_order",
        "doc_date": "2026-03-01",
        "partner_code": "C-200",
        "warehouse_code": warehouse,
        "priority": "Alta",
        "lines": [{"item_code": products[0]["item_code"], "qty": 10}],
    }

    def send(_: int) -> httpx.Response:
        return demo.send("POST", "/exit-documents", json=order)

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        answers = list(pool.map(send, range(CONCURRENCY)))
    created = sum(answer.status_code == httpx.codes.CREATED for answer in answers)
    found = sum(answer.status_code == httpx.codes.OK for answer in answers)
    numbers = {answer.json()["data"]["id"] for answer in answers if answer.is_success}
    demo.check(
        f"{CONCURRENCY} concurrent requests send the same sales order",
        f"{created} created it, {found} returned it: {len(numbers)} document",
        passed=created == 1 and found == CONCURRENCY - 1 and len(numbers) == 1,
    )


def _invalid_order(demo: Demo, run: str) -> None:
    order = {
        "external_ref": f"BAD-{run}",
        "type": "purchase order",
        "doc_date": "2026-02-30",
        "warehouse_code": "NOWHERE",
        "lines": [{"item_code": "NO-SUCH", "qty": "12"}, {"item_code": f"DEMO-{run}", "qty": -1}],
    }
    demo.step(
        "An order with several errors: all are reported together",
        demo.send("POST", "/entry-documents", json=order), 422,
        lambda body: "\n".join(f"{each['field']}: {each['message']}" for each in body["errors"]),
    )  # fmt: skip


def main() -> int:
    """Run the demo against the stack of .local/stack.json; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenant", default="acme", help="tenant to use (default: acme)")
    arguments = parser.parse_args()
    if not STACK.exists():
        print("There is no local stack. Start it with `make run` or `make run DETACH=1`.")
        return 1
    stack = json.loads(STACK.read_text())
    tenant = stack["tenants"][arguments.tenant]
    os.environ.update(aws_environment(stack["endpoint_url"]))
    with httpx.Client(timeout=60) as http:
        demo = Demo(Stowage(tenant["base_url"], tenant["client_id"], tenant["client_secret"], http))
        run_demo(demo, Bucket(stack["import_bucket"], arguments.tenant))
        run = uuid.uuid4().hex[:8]
        run_access_demo(demo, run, http, arguments.tenant, stack["tenants"]["mini"])
    Console(width=None if sys.stdout.isatty() else 140).print(demo.table())
    return 0 if demo.succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
