"""The way of events as AWS runs it: the outbox's stream, the relay, two queues, the worker.

Everything comes at least once: a batch of the stream comes again from its first failure on, a
message when its worker died or reported it, after a while and with a higher count. Time passes
until the next message is due.
"""

import io
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from functions.webhook_worker import app
from shared.identity.tenancy import directory
from shared.integration.webhooks import delivering
from shared.integration.webhooks.repository import Register
from shared.integration.webhooks.sending import Outcome
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.events.kinds import AnyKind
from shared.kernel.events.outbox import Event, StoredEvent, raise_event
from shared.kernel.observability import logger
from tests import gateway
from tests.clock import Clock
from tests.dns import HOOKS
from tests.faults import Killed
from tests.gateway import Erp, LambdaContext
from tests.integration.webhooks.books import (
    Books,
    Outlet,
    ensure_sound,
    ensure_unseen,
    path_of,
    read_books,
    read_outbox,
)
from tests.stack import Stack
from tests.webhook_desk import (
    RELAY,
    WORKER,
    WORKER_MS,
    Endpoint,
    Sent,
    WebhookDesk,
    accept,
    failures,
    stream_of,
)

_INVISIBLE = 360
"""Seconds after which a message comes again, as the template has it."""
_PATIENCE = 300
"""Invocations after which everything must have come to its end."""

OWN_SECRET = "secret-of-the-receiver"
"""Has no form by which a log could know it."""


type Wish = tuple[str, int, str, int]
"""Of a tenant, to a subscription, of an event, in a round."""


@dataclass(slots=True)
class Letter:
    """A message in a queue: from when it is visible, how often it was received."""

    body: dict[str, Any]
    at: float
    receives: int = 0

    @property
    def group(self) -> tuple[str, int]:
        """Its tenant and subscription."""
        return self.body["tenant"], self.body["webhook"]


@dataclass(slots=True)
class Line:
    """Two tenants, their events, and what brings them to endpoints."""

    desk: WebhookDesk
    clock: Clock
    log: io.StringIO
    letters: list[Letter] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    _passed: set[str] = field(default_factory=set)
    _marked: set[str] = field(default_factory=set)
    _sent: set[Wish] = field(default_factory=set)
    _written: list[str] = field(default_factory=list)

    @property
    def stack(self) -> Stack:
        return self.desk.stack

    # What people do

    def erp(self, slug: str = "acme") -> Erp:
        return self.stack.erp(slug)

    def subscribe(self, *events: str, slug: str = "acme", name: str = "", **more: Any) -> int:
        """Create a subscription with an address of its own, `name` in it."""
        url = f"https://{HOOKS}/{slug}/{name}{len(self.secrets)}"
        body = {"url": url, "events": list(events) or ["product.created"], **more}
        answer = self.erp(slug).post("/webhooks", body)
        assert answer.status == 201, answer.text
        self.secrets.add(answer.data["secret"])
        number: int = answer.data["id"]
        return number

    def happen(
        self, *numbers: int, slug: str = "acme", kind: AnyKind = "product.created"
    ) -> list[str]:
        """Commit an event of each of these products; their ids."""

        def use_case(tx: Transaction) -> list[str]:
            return [raise_event(tx, _event(kind, number)).id for number in numbers]

        return run_transaction(self.stack.store(slug), use_case)

    # What AWS does

    def unread(self) -> list[Outlet]:
        """Entries that the stream has not got past."""
        return [one for one in read_outbox() if one.entry.id not in self._passed]

    def relay(self, most: int = 100) -> None:
        """Invoke the relay once, if there is anything new."""
        batch = self.unread()[:most]
        if not batch:
            return
        try:
            answer = gateway._function(RELAY)(_records(batch), LambdaContext())
        except Killed:
            passed = 0
        else:
            failed = [int(number) for number in failures(answer)]
            passed = min(failed) - 1 if failed else len(batch)
        self._collect()
        self._passed |= {one.entry.id for one in batch[:passed]}
        self._ensure_marks_are_earned()

    def deliver(self, letters: Sequence[Letter]) -> None:
        """Invoke the worker once."""
        for letter in letters:
            letter.receives += 1
            letter.at = self.clock.time() + _INVISIBLE
        try:
            with _fresh_threads():
                answer = gateway._function(WORKER)(_messages(letters), LambdaContext(WORKER_MS))
        except Killed:
            pass  # all of it comes again
        else:
            failed = failures(answer)
            done = [one for number, one in enumerate(letters) if f"m{number}" not in failed]
            self.letters = [one for one in self.letters if not any(one is it for it in done)]
        self._collect()

    def visible(self) -> list[Letter]:
        """Messages that may be received now; time passes until there is one, if there ever is."""
        if self.letters:
            self.clock.advance(max(0, min(one.at for one in self.letters) - self.clock.time()))
        return [one for one in self.letters if one.at <= self.clock.time()]

    def step(self) -> bool:
        """Invoke whoever has something to do, once; False when nobody has."""
        if self.unread():
            self.relay()
        elif ready := self.visible():
            self.deliver([min(ready, key=lambda one: one.at)])
        else:
            return False
        self.check()
        return True

    def settle(self, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass until something is so, or until nothing is left to do."""
        for _ in range(_PATIENCE):
            if until() or not self.step():
                self.check()
                return
        pytest.fail(f"still under way: {self.letters[:5]}")

    def take_back(self) -> Callable[[], None]:
        """Return what makes tables and queues as they are now; environments know nothing then."""
        tables = self.stack.keep()
        letters = [(dict(one.body), one.at - self.clock.time()) for one in self.letters]
        passed, marked = set(self._passed), set(self._marked)
        sent, posts = set(self._sent), list(self.desk.sent)

        def back() -> None:
            tables()
            self.desk.take()
            now = self.clock.time()
            self.letters = [Letter(dict(body), now + ahead) for body, ahead in letters]
            self._passed, self._marked = set(passed), set(marked)
            self._sent, self.desk.sent[:] = set(sent), posts
            directory.directory.forget()
            delivering._unsealed.cache_clear()

        return back

    # What must be true

    def books(self, slug: str = "acme") -> Books:
        return read_books(self.stack, slug)

    def summary(self) -> list[object]:
        """What became of everything, whenever it did."""
        return [self.books(slug).summary() for slug in ("acme", "beta")]

    def posts(self) -> Counter[tuple[str, str]]:
        """How often each event was sent to each subscription, by its path."""
        return Counter((path_of(sent.url), sent.event["id"]) for sent in self.desk.sent)

    def check(self) -> None:
        """Check what is true whenever no function runs."""
        self._collect()
        posts, unread = self.posts(), {one.entry.id for one in self.unread()}
        asked = {
            (one.tenant, one.entry.webhook, one.entry.event, one.entry.round)
            for one in self.unread()
            if not isinstance(one.entry, StoredEvent)
        }
        for slug in ("acme", "beta"):
            books = self.books(slug)
            ensure_sound(books, posts)
            for one in books.waiting():
                place = (slug, one.webhook_id, one.id, one.round)
                assert (
                    (one.id in unread and one.round == 1)
                    or place in asked
                    or any(_goes_on(letter, place, one.tries) for letter in self.letters)
                ), f"nothing will go on with {one}"

    def ensure_all_arrived(self) -> None:
        """Check that each event came to whoever wanted it, or the log tells why not."""
        posts, outlets = self.posts(), read_outbox()
        assert all(one.marked for one in outlets), "everything was relayed"
        for slug in ("acme", "beta"):
            books = self.books(slug)
            for number, event in self._owed(slug, books):
                delivery = books.deliveries[number, event]
                assert delivery.status in {"succeeded", "failed", "cancelled"}
                assert posts[path_of(books.heads[number].url), event] or delivery.reason

    def _owed(self, slug: str, books: Books) -> Iterator[tuple[int, str]]:
        """What active subscriptions have asked for since they were made."""
        for one in read_outbox():
            if one.tenant == slug and isinstance(one.entry, StoredEvent):
                for number in books.register.wanting(one.entry.type):
                    if books.heads[number].created_at <= one.entry.created_at:
                        yield number, one.entry.id

    def ensure_secret(self) -> None:
        """Check that no secret was written down anywhere."""
        ensure_unseen(self.secrets, [*self._written, self.log.getvalue()])

    def _collect(self) -> None:
        """Take over what was sent to the queues."""
        now = self.clock.time()
        delays = self.desk.delays()
        slow = [at > 0 for at, queue in enumerate(self.desk._queues()) for _ in queue._messages]
        for body, delay, is_slow in zip(self.desk.take(), delays, slow, strict=True):
            assert body["slow"] == is_slow
            self._written.append(json.dumps(body))
            self._sent.add((body["tenant"], body["webhook"], body["event"], body["round"]))
            self.letters.append(Letter(body, now + delay))

    def _ensure_marks_are_earned(self) -> None:
        """Check that entries may only be forgotten once all their messages were sent."""
        fresh = [one for one in read_outbox() if one.marked and one.entry.id not in self._marked]
        self._marked |= {one.entry.id for one in fresh}
        registers = {slug: self.books(slug).register for slug in {one.tenant for one in fresh}}
        for one in fresh:
            wanted = set(_messages_of(one, registers[one.tenant]))
            assert wanted <= self._sent, f"{one} may be forgotten, but {wanted} were not all sent"


def _messages_of(one: Outlet, register: Register) -> Iterator[Wish]:
    """What has to be sent for an entry: of which tenant, to whom, of what, in which round."""
    entry = one.entry
    if not isinstance(entry, StoredEvent):
        yield one.tenant, entry.webhook, entry.event, entry.round
        return
    for number in (
        register.wanting(entry.type)
        if entry.only_subscription is None
        else [entry.only_subscription]
    ):
        yield one.tenant, number, entry.id, 1


def _event(kind: AnyKind, number: int) -> Event:
    return Event(kind, "product", number, 1, f"/products/{number}", {"item_code": f"P-{number}"})


def _goes_on(letter: Letter, place: Wish, tries: int) -> bool:
    """Whether a message leads to the next attempt: it is that, or it was not finished."""
    body = letter.body
    found = (body["tenant"], body["webhook"], body["event"], body["round"])
    is_next = body["attempt"] == tries + 1
    return found == place and (is_next or (body["attempt"] == tries and letter.receives > 0))


def _records(batch: Sequence[Outlet]) -> dict[str, Any]:
    return stream_of([{k: v for k, v in one.image.items() if k != "expires_at"} for one in batch])


def _messages(letters: Sequence[Letter]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "body": json.dumps(letter.body),
                "attributes": {"ApproximateReceiveCount": str(letter.receives)},
            }
            for number, letter in enumerate(letters)
        ]
    }


@contextmanager
def _fresh_threads() -> Iterator[None]:
    """Wait for all threads of an invocation: those of a dead one must do nothing afterwards."""
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(app._BATCH) as threads:
        patch.setattr(app, "_threads", threads)
        yield


@contextmanager
def open_line(desk: WebhookDesk, clock: Clock) -> Iterator[Line]:
    """Open the way of events; its log is read along."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setFormatter(logger.registered_formatter)
    lines = logging.getLogger(logger.name)
    lines.addHandler(handler)
    try:
        yield Line(desk, clock, log)
    finally:
        lines.removeHandler(handler)


# Endpoints


def failing(line: Line, times: int, answer: Endpoint) -> Endpoint:
    """Answer so until the log of the delivery has that many attempts, then be well."""

    def endpoint(sent: Sent) -> Outcome:
        books = line.books(sent.event["tenant"])
        path, event = path_of(sent.url), sent.event["id"]
        [known] = [
            books.deliveries.get((number, event))
            for number, head in books.heads.items()
            if path_of(head.url) == path
        ]
        return answer(sent) if (known.tries if known else 0) < times else accept(sent)

    return endpoint
