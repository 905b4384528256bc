"""Shows the events of a tenant as they arrive, as long as it runs; `make listen` calls it.

It subscribes this machine to every kind of event, receives as `examples/webhooks` shows, and
deletes the subscription when it ends.
"""

import argparse
import json
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path

import httpx
from rich.console import Console
from rich.text import Text

from examples.stowage_client import Stowage, StowageError
from examples.webhooks.receiver import (
    Classification,
    Inbox,
    ReceivedDelivery,
    Receiver,
    format_line,
    printable,
)
from local.server import LocalRunFailed
from local.settings import STACK_FILE
from shared.integration.webhooks.signatures import new_secret
from shared.kernel.events.kinds import EVENT_KINDS

_STYLES: dict[Classification, str] = {
    "new": "green",
    "late": "yellow",
    "repeated": "dim",
    "refused": "bold red",
}
_TIMEOUT_SECONDS = 30
"""That a call of the stack may take."""

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""`kill` and a closed terminal end it as Ctrl-C does: the subscription is deleted."""
_POLL_SECONDS = 0.2
"""Seconds after which one of them is noticed."""


@dataclass(frozen=True, slots=True)
class LocalTenant:
    """A tenant of the local stack, and the credentials of its client."""

    slug: str
    plan: str
    base_url: str
    client_id: str
    client_secret: str

    def client(self, http: httpx.Client) -> Stowage:
        """Make its client. A stack on this machine is there or is not: nothing to wait for."""
        return Stowage(
            self.base_url, self.client_id, self.client_secret, http, sleep=lambda _: None
        )


def find_tenant(stack: Path, slug: str) -> LocalTenant:
    """Read a tenant from the file that the local stack writes.

    Raises:
        LocalRunFailed: There is no such file, or no such tenant in it.
    """
    if not stack.exists():
        raise LocalRunFailed("No stack is running: start it with `make run`.")
    tenants = json.loads(stack.read_text())["tenants"]
    if slug not in tenants:
        raise LocalRunFailed(f"There is no tenant {slug}; there are {', '.join(tenants)}.")
    known = {field.name for field in fields(LocalTenant)}
    wanted = {name: value for name, value in tenants[slug].items() if name in known}
    return LocalTenant(slug, **wanted)


def listen(tenant: LocalTenant, port: int, console: Console) -> None:
    """Show the tenant's events as they arrive on this port, until Ctrl-C.

    Raises:
        LocalRunFailed: The port cannot be used, or the stack refuses or does not answer.
    """
    secret = new_secret()
    try:
        receiver = Receiver(port, secret)
    except (OSError, OverflowError) as problem:
        raise LocalRunFailed(
            f"Port {port} cannot be used ({problem}). Choose another: make listen PORT=…"
        ) from problem
    try:
        with (
            suppress(KeyboardInterrupt),
            receiver.serving(),
            httpx.Client(timeout=_TIMEOUT_SECONDS) as http,
            _subscribed(tenant.client(http), receiver, console),
        ):
            _print_deliveries(receiver, console)
    except StowageError as refusal:
        raise LocalRunFailed(_explain(refusal, tenant)) from refusal
    except httpx.TransportError as silence:
        raise LocalRunFailed(
            f"No stack answers at {tenant.base_url}: start it with `make run`."
        ) from silence


def _print_deliveries(receiver: Receiver, console: Console) -> None:
    """Show what arrives until a signal ends it: between two lines, not within one."""
    ended = threading.Event()

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.default_int_handler)  # a second one does not wait
        ended.set()

    for each in _STOP_SIGNALS:
        signal.signal(each, end)
    inbox = Inbox()
    while not ended.is_set():
        with suppress(queue.Empty):
            arrival = receiver.deliveries.get(timeout=_POLL_SECONDS)
            console.print(_styled(inbox.classify(arrival), arrival), soft_wrap=True)


@contextmanager
def _subscribed(stowage: Stowage, receiver: Receiver, console: Console) -> Iterator[None]:
    """Be subscribed to everything as long as the block lasts."""
    url = f"http://localhost:{receiver.server_port}"
    for left in [each for each in stowage.each("/webhooks") if each["url"] == url]:
        _unsubscribe(stowage, left["id"])
        console.print(f"Subscription {left['id']} of a run that did not end well is deleted.")
    wanted = {"url": url, "events": EVENT_KINDS, "secret": receiver.secret}
    number = stowage.post("/webhooks", wanted)["id"]
    try:
        console.print(f"Subscription {number} sends every event to {url}; Ctrl-C deletes it.")
        console.print("What is refused is not signed as it should be; all else is verified.\n")
        yield
    finally:
        _unsubscribe(stowage, number)
        console.print(f"Subscription {number} is deleted.")


def _unsubscribe(stowage: Stowage, number: int) -> None:
    try:
        stowage.send("DELETE", f"/webhooks/{number}")
    except StowageError as refusal:
        if refusal.status not in {httpx.codes.NOT_FOUND, httpx.codes.GONE}:
            raise


def _styled(verdict: Classification, arrival: ReceivedDelivery) -> Text:
    text = Text(format_line(verdict, arrival), _STYLES[verdict])
    if arrival.event and arrival.event.attributes and verdict == "new":
        attributes = json.dumps(arrival.event.attributes, ensure_ascii=False)
        text.append(f"\n{'':10}{printable(attributes)}", "dim")
    return text


def _explain(refusal: StowageError, tenant: LocalTenant) -> str:
    if refusal.code == "feature_not_in_plan":
        return (
            f"The plan of {tenant.slug} ({tenant.plan}) has no webhooks."
            " Another tenant: make listen TENANT=acme"
        )
    return f"The stack refuses: {refusal}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Listen to a tenant of `.local/stack.json`."""
    parser = argparse.ArgumentParser(prog="python -m local.listen", description=__doc__)
    parser.add_argument("--tenant", default="acme", help="whose events (default: acme)")
    parser.add_argument("--port", type=int, default=8787, help="on 127.0.0.1 (default: 8787)")
    parser.add_argument("--stack", type=Path, default=STACK_FILE, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    console = Console(highlight=False)
    for end in _STOP_SIGNALS:
        signal.signal(end, signal.default_int_handler)
    try:
        listen(find_tenant(chosen.stack, chosen.tenant), chosen.port, console)
    except LocalRunFailed as problem:
        console.print(str(problem), style="red", markup=False, soft_wrap=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
