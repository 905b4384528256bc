"""The story of a warehouse, played against the running stack and told as a table."""

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
from local.demo_warehouse import run_warehouse_demo
from local.demo_imports import Bucket, play_imports
from local.demo_webhooks import play_webhooks
from local.settings import aws_environment
from local.demo_session import Story

STACK = Path(".local/stack.json")
CONCURRENCY = 20


def _codes(body: Any) -> str:
    return ", ".join(item["item_code"] for item in body["data"])


def run_demo(story: Story, bucket: Bucket) -> None:
    """Play the story; every run leaves a few more documents behind."""
    run = uuid.uuid4().hex[:8]
    warehouses = story.tell(
        "Which warehouses are there?", story.send("GET", "/warehouses"), 200,
        lambda body: ", ".join(f"{w['whs_code']} ({w['positions_count']})" for w in body["data"]),
    )["data"]  # fmt: skip
    products = story.tell(
        "Look for cable in the catalog",
        story.send("GET", "/products", params={"search": "cable", "per_page": 3}), 200,
        lambda body: f"{_codes(body)} … of {body['meta']['total']}",
    )["data"]  # fmt: skip
    story.tell(
        "A new product",
        story.send(
            "POST", "/products", json={"item_code": f"DEMO-{run}", "name": "Cable drum, demo"}
        ),
        201,
        lambda body: f"id {body['data']['id']}",
    )
    _idempotent_order(story, run, warehouses[0]["whs_code"], products)
    _concurrent_orders(story, run, warehouses[0]["whs_code"], products)
    _invalid_order(story, run)
    play_imports(story, run, bucket)
    play_webhooks(story, run)
    run_warehouse_demo(story, run)
    story.tell(
        "The newest open sales orders",
        story.send("GET", "/exit-documents", params={"status": "open", "per_page": 3}), 200,
        lambda body: ", ".join(row["doc_num"] for row in body["data"])
        + f" … of {body['meta']['total']}",
    )  # fmt: skip


def _idempotent_order(story: Story, run: str, warehouse: str, products: list[dict[str, Any]]) -> None:
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
    first = story.send("POST", "/entry-documents", json=order, key=key)
    story.tell("The ERP sends a purchase order", first, 201, lambda body: body["data"]["doc_num"])
    again = story.send("POST", "/entry-documents", json=order, key=key)
    story.tell(
        "The answer got lost; it sends it again", again, 201,
        lambda _: "the same answer" if again.text == first.text else "ANOTHER ANSWER",
    )  # fmt: skip
    other = story.send("POST", "/entry-documents", json=order)
    story.tell(
        "And once more, under another key", other, 200,
        lambda body: f"{body['data']['doc_num']}, the first one",
    )  # fmt: skip
    changed = story.send("POST", "/entry-documents", json=order | {"comments": "x"}, key=key)
    story.tell(
        "Another order under a used key", changed, 422, lambda body: body["error"]["code"]
    )  # fmt: skip
    number = first.json()["data"]["id"]
    story.tell(
        "Give up what is still to come",
        story.send("POST", f"/entry-documents/{number}/close"), 200,
        lambda body: body["data"]["status"],
    )  # fmt: skip


def _concurrent_orders(story: Story, run: str, warehouse: str, products: list[dict[str, Any]]) -> None:
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
        return story.send("POST", "/exit-documents", json=order)

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        answers = list(pool.map(send, range(CONCURRENCY)))
    created = sum(answer.status_code == httpx.codes.CREATED for answer in answers)
    found = sum(answer.status_code == httpx.codes.OK for answer in answers)
    numbers = {answer.json()["data"]["id"] for answer in answers if answer.is_success}
    story.fact(
        f"{CONCURRENCY} senders of one sales order, at the same instant",
        f"{created} created it, {found} were given it: {len(numbers)} document",
        fine=created == 1 and found == CONCURRENCY - 1 and len(numbers) == 1,
    )


def _invalid_order(story: Story, run: str) -> None:
    order = {
        "external_ref": f"BAD-{run}",
        "type": "purchase order",
        "doc_date": "2026-02-30",
        "warehouse_code": "NOWHERE",
        "lines": [{"item_code": "NO-SUCH", "qty": "12"}, {"item_code": f"DEMO-{run}", "qty": -1}],
    }
    story.tell(
        "An order with everything wrong",
        story.send("POST", "/entry-documents", json=order), 422,
        lambda body: "\n".join(f"{one['field']} {one['message']}" for one in body["errors"]),
    )  # fmt: skip


def main() -> int:
    """Play the story against the stack of .local/stack.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenant", default="acme", help="tenant to play with (default: acme)")
    arguments = parser.parse_args()
    if not STACK.exists():
        print("No stack is running: start it with `make run` (or `make run DETACH=1`).")
        return 1
    stack = json.loads(STACK.read_text())
    tenant = stack["tenants"][arguments.tenant]
    os.environ.update(aws_environment(stack["endpoint_url"]))
    with httpx.Client(timeout=60) as http:
        story = Story(
            Stowage(tenant["base_url"], tenant["client_id"], tenant["client_secret"], http)
        )
        run_demo(story, Bucket(stack["import_bucket"], arguments.tenant))
        run = uuid.uuid4().hex[:8]
        run_access_demo(story, run, http, arguments.tenant, stack["tenants"]["mini"])
    Console(width=None if sys.stdout.isatty() else 140).print(story.table())
    return 0 if story.went_well else 1


if __name__ == "__main__":
    sys.exit(main())
