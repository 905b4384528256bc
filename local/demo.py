"""Run the demo of a warehouse against the local stack, and print its steps as a table."""

import argparse
import sys
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError
from rich.console import Console
from stowage_client import Stowage

from local.demo_access import run_access_demo
from local.demo_approvals import run_approvals_demo
from local.demo_imports import TenantBucket, run_imports_demo
from local.demo_places import ORIGIN, ensure_places
from local.demo_session import Demo, DemoFailed
from local.demo_stock import run_stock_demo
from local.demo_warehouse import run_warehouse_demo
from local.demo_webhooks import run_webhooks_demo
from local.server import LocalRunFailed
from local.settings import STACK_FILE
from local.tenant_access import LocalTenant, RunningStack, find_stack, tenant_access
from operations.scenarios import order_of
from shared.identity.tenancy.tenant import WEBHOOKS

CONCURRENCY = 20


def _codes(body: Any) -> str:
    return ", ".join(item["item_code"] for item in body["data"])


def run_demo(demo: Demo, bucket: TenantBucket) -> None:
    """Run the steps of the demo in any tenant, with warehouses and products of its own.

    Every run creates a few more products and documents. Parts that the plan or the modules of the
    tenant exclude are skipped.
    """
    run = uuid.uuid4().hex[:8]
    settings = demo.call("/settings", method="GET")
    ensure_places(demo)
    demo.step(
        "List the warehouses", demo.send("GET", "/warehouses", params={"per_page": 5}), 200,
        lambda body: ", ".join(
            f"{each['whs_code']} ({each['positions_count']} positions)" for each in body["data"]
        ),
    )  # fmt: skip
    drum = {"item_code": f"DEMO-{run}", "name": "Cable drum, demo"}
    demo.post("Create a product", "/products", drum, "product {data[id]}", expected=201)
    demo.call("/products", {"item_code": f"DEMO-{run}-DUCT", "name": "Cable duct, demo"})
    products = demo.step(
        "Search the catalog for it",
        demo.send("GET", "/products", params={"search": f"demo-{run}", "per_page": 3}), 200,
        lambda body: f"{_codes(body)}: {body['meta']['total']} products",
    )["data"]  # fmt: skip
    _idempotent_order(demo, run, products)
    _concurrent_orders(demo, run, products)
    _invalid_order(demo, run)
    if settings["modules"]["bulk_import"]:
        run_imports_demo(demo, run, bucket)
    else:
        demo.skip("Import files", "the module is disabled")
    if WEBHOOKS in settings["features"]:
        run_webhooks_demo(demo, run)
    else:
        demo.skip("Receive webhooks", f"the plan {settings['plan']} has none")
    run_warehouse_demo(demo, run, settings["modules"])
    run_stock_demo(demo, run)
    demo.step(
        "List the newest open sales orders",
        demo.send("GET", "/exit-documents", params={"status": "open", "per_page": 3}), 200,
        lambda body: ", ".join(row["doc_num"] for row in body["data"])
        + f" … of {body['meta']['total']} orders",
    )  # fmt: skip


def _idempotent_order(demo: Demo, run: str, products: list[dict[str, Any]]) -> None:
    lines = [{"item_code": product["item_code"], "qty": 12} for product in products]
    order = order_of(
        "purchase_order", f"PO-{run}", ORIGIN, lines, type="Orden de compra",
        doc_date="01/03/2026", partner_name="Harbour Cables Ltd",
    )  # fmt: skip
    key = str(uuid.uuid4())
    first = demo.send("POST", "/entry-documents", json=order, key=key)
    demo.step("The ERP sends a purchase order", first, 201, "{data[doc_num]}")
    again = demo.send("POST", "/entry-documents", json=order, key=key)
    demo.step(
        "The response got lost: the ERP repeats the request with the same key", again, 201,
        lambda _: "the same response" if again.text == first.text else "ANOTHER RESPONSE",
    )  # fmt: skip
    other = demo.send("POST", "/entry-documents", json=order)
    title = "The same order with another key is recognized by its external_ref"
    demo.step(title, other, 200, "{data[doc_num]}, created before")
    changed = demo.send("POST", "/entry-documents", json=order | {"comments": "x"}, key=key)
    demo.step("A different order with a used key is refused", changed, 422, "{error[code]}")
    demo.post(
        "Close the order: nothing more is expected",
        f"/entry-documents/{first.json()['data']['id']}/close", None,
        "{data[doc_num]}, {data[status]}",
    )  # fmt: skip


def _concurrent_orders(demo: Demo, run: str, products: list[dict[str, Any]]) -> None:
    lines = [{"item_code": products[0]["item_code"], "qty": 10}]
    order = order_of("sale_order", f"SO-{run}", ORIGIN, lines, priority="Alta")

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
    demo.post(
        "An order with several errors: all are reported together", "/entry-documents", order,
        lambda body: "\n".join(f"{each['field']}: {each['message']}" for each in body["errors"]),
        expected=422,
    )  # fmt: skip


def _run(tenant: LocalTenant, stack: RunningStack) -> bool:
    """Run the demo in a tenant, print its steps and return whether all succeeded."""
    tenant.request_token()
    with httpx.Client(timeout=60) as http:
        demo = Demo(Stowage(tenant.base_url, tenant.client_id, tenant.client_secret, http))
        try:
            run_demo(demo, TenantBucket(stack.import_bucket, tenant.slug))
            run_approvals_demo(demo, uuid.uuid4().hex[:8], http, tenant.slug)
            essentials = stack.tenants.get("mini")
            run_access_demo(demo, uuid.uuid4().hex[:8], http, tenant.slug, essentials)
        except DemoFailed as failure:
            demo.check("The demo cannot continue", str(failure), passed=False)
        except (httpx.TransportError, BotoCoreError) as error:
            raise LocalRunFailed(
                "The local stack stopped responding during the demo: run `make run` first."
            ) from error
    Console(width=None if sys.stdout.isatty() else 140).print(demo.table())
    return demo.succeeded


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo against the local stack; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m local.demo", description=__doc__)
    parser.add_argument("--tenant", default="acme", help="tenant to use (default: acme)")
    parser.add_argument("--stack", type=Path, default=STACK_FILE, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    try:
        stack = find_stack(chosen.stack)
        with tenant_access(stack, chosen.tenant) as tenant:
            return 0 if _run(tenant, stack) else 1
    except LocalRunFailed as problem:
        print(problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
