"""What must be true at the end: nothing lost, nothing doubled, all numbers agree."""

import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from stowage_client import BadSignatureError, verify_delivery

from local.webhook_endpoint import CannedResponse, LocalEndpoint, ReceivedRequest
from operations.queues import list_queues
from operations.scenarios import stock_sums
from tests.soak.caller import Caller, Company
from tests.soak.follower import Follower
from tests.soak.journal import KEYS, Journal
from tests.soak.stories import POSITIONS

EVENTS = (
    "product.created", "receipt.created", "receipt.completed", "picking.created",
    "picking.completed", "shipment.dispatched", "transfer.completed", "return.received",
    "return.dispositioned", "rfid_validation.completed",
)  # fmt: skip
_REFUSED_SHARE = 10
"""One of so many events is refused at its first delivery."""
_ENDED = {"committed", "failed", "invalid", "cancelled"}
_POLL_SECONDS = 2


class Receiver(LocalEndpoint):
    """A webhook endpoint that refuses the first delivery of some events."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def record(self, request: ReceivedRequest) -> CannedResponse:
        """Record a request; return its response."""
        super().record(request)
        event: str = request.event["id"]
        self.seen[event] += 1
        refused = self.seen[event] == 1 and sum(event.encode()) % _REFUSED_SHARE == 0
        return CannedResponse(503 if refused else 204)


@dataclass(slots=True)
class Inbox:
    """The events that one subscription has received."""

    receiver: Receiver
    webhook: int
    secret: str
    ids: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    """(Kind, resource) → ids of its events."""
    _read: int = 0
    forged: int = 0

    def read(self) -> set[tuple[str, int]]:
        """Read new deliveries; return the kind and resource of all received events."""
        requests = self.receiver.requests
        end = len(requests)
        for request in requests[self._read : end]:
            try:
                event = verify_delivery(
                    self.secret, request.headers["X-Service-Signature"], request.body, request.at
                )
            except BadSignatureError:
                self.forged += 1
                continue
            self.ids[event["type"], event["data"]["id"]].add(event["id"])
        self._read = end
        return set(self.ids)


@dataclass(slots=True)
class Account:
    """A company of the run: a caller, its supervisor, its journal, events and follower."""

    caller: Caller
    supervisor: Company
    journal: Journal
    inbox: Inbox
    follower: Follower


def settle(accounts: list[Account], seconds: float, say: Callable[[str], None]) -> None:
    """Wait until all imports have ended and all events have arrived."""
    deadline = time.monotonic() + seconds
    said = ""
    while time.monotonic() < deadline:
        imports = sum(len(_open_imports(account)) for account in accounts)
        missing = sum(len(account.journal.events - account.inbox.read()) for account in accounts)
        if not (imports or missing):
            return
        text = f"Waiting for {imports} imports and {missing} events"
        if text != said:
            said = text
            say(text)
        time.sleep(_POLL_SECONDS)


def _open_imports(account: Account) -> list[int]:
    """Return the imports that have not ended; commit those that wait for it."""
    waiting = []
    for one in account.journal.imports:
        path = f"/imports/{one.id}"
        status = account.caller.read(path).json()["data"]["status"]
        if status == "validated":
            account.caller.write("POST", f"{path}/commit", allowed=(409,))
        if status not in _ENDED:
            waiting.append(one.id)
    return waiting


def check(account: Account) -> None:
    """Compare what the API shows with the journal; differences become findings."""
    for path in KEYS:
        account.journal.check_rows(path, account.caller.each(path))
    _check_imports(account)
    _check_names(account)
    _check_stock(account)
    _check_events(account)
    account.follower.check()


def _check_imports(account: Account) -> None:
    journal = account.journal
    codes = Counter(row["item_code"] for row in account.caller.each("/products"))
    for one in journal.imports:
        status = account.caller.read(f"/imports/{one.id}").json()["data"]["status"]
        wrong = {code: codes[code] for code in one.codes if codes[code] != 1}
        if status != "committed" or wrong:
            text = f"import {one.id} is {status}; products that do not exist exactly once: {wrong}"
            journal.found(text)


def _check_names(account: Account) -> None:
    for number, name in account.journal.names.items():
        shown = account.caller.read(f"/products/{number}").json()["data"]["name"]
        if shown != name:
            account.journal.found(f"LOST: product {number} is called {shown}, not {name}")


def _check_stock(account: Account) -> None:
    """Compare rows with the journal, and movements with rows and levels, for each product."""
    journal = account.journal
    available: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in account.caller.each("/stocks", inventory_status="available"):
        if row["position"]:
            available[row["item_code"], row["position"]["bin_code"]] += Decimal(str(row["qty"]))
    sums = stock_sums(account.caller.each)
    for item in sorted({item for item, _ in journal.stock}):
        moved, rows, level = sums.get(item, (0, 0, 0))
        if not moved == rows == level:
            journal.found(f"{item}: rows {rows}, movements {moved}, level {level}")
        for position in POSITIONS:
            expected = journal.stock[item, position].possible()
            if available[item, position] not in expected:
                journal.found(
                    f"{item} at {position}: {available[item, position]} in stock, "
                    f"{sorted(map(str, expected))} expected"
                )


def _check_events(account: Account) -> None:
    journal, inbox = account.journal, account.inbox
    for kind, number in sorted(journal.events - inbox.read()):
        journal.found(f"LOST: the event {kind} of {number} was not delivered")
    for (kind, number), ids in sorted(inbox.ids.items()):
        if len(ids) > 1:
            journal.found(f"DOUBLED: {kind} of {number}: {sorted(ids)}")
    if inbox.forged:
        journal.found(f"{inbox.forged} deliveries with a wrong signature")


def dead_letters() -> dict[str, int]:
    """Return the number of dead letters by queue."""
    return {one.name: one.dead_letters for one in list_queues() if one.dead_letters is not None}


def verify_tenant(slug: str) -> str | None:
    """Run `stowage verify`; return what it found, None if nothing."""
    done = subprocess.run(  # noqa: S603
        [Path(sys.executable).with_name("stowage"), "--local", "--json", "verify", slug],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return None
    return f"{slug}: stowage verify: {done.stdout.strip()[:2000]} {done.stderr.strip()[:1000]}"
