"""Print the events of a tenant as they arrive: `make listen`.

The program subscribes this machine to all kinds of events, receives them with the example
receiver of `examples/webhooks`, and deletes the subscription when it stops.
"""

import argparse
import json
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
from rich.console import Console
from rich.text import Text
from stowage_client import Stowage, StowageError

from examples.webhooks.receiver import (
    Classification,
    DeliveryHandler,
    Inbox,
    ReceivedDelivery,
    Receiver,
    format_line,
    printable,
)
from local.request_checks import LocalRequestHandler
from local.server import LocalRunFailed
from local.settings import STACK_FILE
from local.tenant_access import LocalTenant, find_stack, pick_tenant
from shared.integration.webhooks.signatures import new_secret
from shared.kernel.events.kinds import EVENT_KINDS

_STYLES: dict[Classification, str] = {
    "new": "green",
    "late": "yellow",
    "duplicate": "dim",
    "rejected": "bold red",
}
_TIMEOUT_SECONDS = 30
"""Timeout of a request to the stack."""

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that stop the program and delete the subscription: Ctrl-C, kill, closed terminal."""
_POLL_SECONDS = 0.2
"""Interval at which a received signal is checked."""


class _Handler(LocalRequestHandler, DeliveryHandler):
    """Handles deliveries; refuses requests of web pages, which cannot sign them, unprinted."""


def find_tenant(stack: Path, slug: str) -> LocalTenant:
    """Read a tenant from the file that the local stack writes.

    Args:
        stack: Path of `stack.json`.
        slug: Of the tenant.

    Raises:
        LocalRunFailed: The stack does not run, or the tenant does not exist.
    """
    return pick_tenant(find_stack(stack).tenants, slug)


def listen(tenant: LocalTenant, port: int, console: Console) -> None:
    """Receive the tenant's events on a port and print them until Ctrl-C.

    Raises:
        LocalRunFailed: The port cannot be used, or the stack does not respond or returns an error.
    """
    secret = new_secret()
    try:
        receiver = Receiver(port, secret, _Handler)
    except (OSError, OverflowError) as problem:
        raise LocalRunFailed(
            f"Port {port} cannot be used ({problem}). Choose another port: make listen PORT=…"
        ) from problem
    try:
        with (
            suppress(KeyboardInterrupt),
            receiver.serving(),
            httpx.Client(timeout=_TIMEOUT_SECONDS) as http,
            _subscribed(tenant.client(http), receiver, console),
        ):
            _print_deliveries(receiver, console)
    except StowageError as error:
        raise LocalRunFailed(_explain(error, tenant)) from error
    except httpx.TransportError as error:
        raise LocalRunFailed(
            f"No stack responds at {tenant.base_url}. Start it with `make run`."
        ) from error


def _print_deliveries(receiver: Receiver, console: Console) -> None:
    """Print deliveries until a signal arrives; a line is never interrupted."""
    stopped = threading.Event()

    def stop(number: int, _frame: object) -> None:
        signal.signal(number, signal.default_int_handler)  # a second signal stops at once
        stopped.set()

    for each in _STOP_SIGNALS:
        signal.signal(each, stop)
    inbox = Inbox()
    while not stopped.is_set():
        with suppress(queue.Empty):
            delivery = receiver.deliveries.get(timeout=_POLL_SECONDS)
            console.print(_styled(inbox.classify(delivery), delivery), soft_wrap=True)


@contextmanager
def _subscribed(stowage: Stowage, receiver: Receiver, console: Console) -> Iterator[None]:
    """Subscribe to all kinds of events during the block."""
    url = f"http://localhost:{receiver.server_port}"
    for stale in [each for each in stowage.each("/webhooks") if each["url"] == url]:
        _unsubscribe(stowage, stale["id"])
        console.print(f"Deleted subscription {stale['id']} of an earlier run.")
    body = {"url": url, "events": EVENT_KINDS, "secret": receiver.secret}
    number = stowage.post("/webhooks", body)["id"]
    try:
        console.print(f"Subscription {number} sends every event to {url}. Press Ctrl-C to stop.")
        console.print("All signatures are verified; a wrong one is shown as rejected.\n")
        yield
    finally:
        _unsubscribe(stowage, number)
        console.print(f"Deleted subscription {number}.")


def _unsubscribe(stowage: Stowage, number: int) -> None:
    try:
        stowage.send("DELETE", f"/webhooks/{number}")
    except StowageError as error:
        if error.status not in {httpx.codes.NOT_FOUND, httpx.codes.GONE}:
            raise


def _styled(classification: Classification, delivery: ReceivedDelivery) -> Text:
    text = Text(format_line(classification, delivery), _STYLES[classification])
    if delivery.event and delivery.event.attributes and classification == "new":
        attributes = json.dumps(delivery.event.attributes, ensure_ascii=False)
        text.append(f"\n{'':10}{printable(attributes)}", "dim")
    return text


def _explain(error: StowageError, tenant: LocalTenant) -> str:
    if error.code == "feature_not_in_plan":
        return (
            f"The plan of tenant {tenant.slug} ({tenant.plan}) has no webhooks."
            " Choose another tenant: make listen TENANT=acme"
        )
    return f"The stack returned an error: {error}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m local.listen", description=__doc__)
    parser.add_argument(
        "--tenant", default="acme", help="tenant whose events are printed (default: acme)"
    )
    parser.add_argument("--port", type=int, default=8787, help="port on 127.0.0.1 (default: 8787)")
    parser.add_argument("--stack", type=Path, default=STACK_FILE, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    console = Console(highlight=False)
    for each in _STOP_SIGNALS:
        signal.signal(each, signal.default_int_handler)
    try:
        listen(find_tenant(chosen.stack, chosen.tenant), chosen.port, console)
    except LocalRunFailed as problem:
        console.print(str(problem), style="red", markup=False, soft_wrap=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
