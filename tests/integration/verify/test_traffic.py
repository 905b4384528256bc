"""Requests during a verification cause no finding, and a verification disturbs no request.

The traffic follows the calls of two verifications, or it is as dense as possible for the minutes of
RANDOM_VERIFY_MINUTES (`make random VERIFY_MINUTES=10`).
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from threading import Event, Semaphore, get_ident

import pytest

from operations.verify import settling, verify_tenant
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp, Response
from tests.integration.verify.company import build_company
from tests.integration.verify.planting import Table
from tests.stack import Stack

_SECONDS = 60 * float(os.environ.get("RANDOM_VERIFY_MINUTES", "0"))
_RUNS = 2
"""Verifications, at least; every second one repairs."""
_CALLS_PER_JOB = 50
"""Calls of the verification from one job of a client to the next, so that the traffic depends on no
clock."""
_SEED = int(os.environ.get("RANDOM_SEED", "1"))
_CLIENTS = 3
_EXPECTED = {200, 201, 409, 422, 503}
"""Answers of requests that compete; 503 under contention."""


class _Client:
    """A client that works through the whole warehouse, one random request after the other."""

    numbers = count(1)

    def __init__(self, erp: Erp, seed: int) -> None:
        self._erp = erp
        self._random = random.Random(seed)  # noqa: S311
        self.answers: Counter[int] = Counter()
        self._ended = [1]

    def work_until(self, is_over: Callable[[], bool]) -> None:
        """Do one job after the other; `is_over` is asked before each."""
        jobs = (
            self._adjust, self._receive, self._sell, self._move, self._transfer_order, self._wave,
            self._return, self._create_product,
        )  # fmt: skip
        while not is_over():
            self._random.choice(jobs)()

    def _post(self, path: str, body: object = None) -> Response:
        answer = self._erp.post(path, body, key=f"traffic-{next(self.numbers)}")
        self.answers[answer.status] += 1
        assert answer.status in _EXPECTED, f"{path}: {answer.status} {answer.text}"
        return answer

    def _id(self, answer: Response) -> int:
        return int(answer.data["id"]) if answer.status in {200, 201} else 0

    def _bin(self) -> str:
        return self._random.choice(("A-01", "B-01", "F-01"))

    def _adjust(self) -> None:
        way = self._random.choice(("increase", "increase", "decrease"))
        self._post("/stock-adjustments", {
            "item_code": "BRICK", "warehouse": "YARD", "bin_code": self._bin(), way: 5,
            "reason": "Counted",
        })  # fmt: skip

    def _document(self, path: str, kind: str, qty: int) -> int:
        return self._id(self._post(path, {
            "external_ref": f"T-{next(self.numbers)}", "type": kind, "doc_date": "2026-03-01",
            "partner_code": "P-1", "warehouse_code": "YARD",
            "lines": [{"item_code": "BRICK", "qty": qty}, {"item_code": "BRICK", "qty": 1}],
        }))  # fmt: skip

    def _receive(self) -> None:
        document = self._document("/entry-documents", "purchase_order", 4)
        receipt = self._id(self._post("/receipts", {"document_id": document}))
        if not receipt:
            return
        self._post(f"/receipts/{receipt}/start")
        line = {"item_code": "BRICK", "qty": 4, "bin_code": self._bin()}
        self._post(f"/receipts/{receipt}/lines", line)
        for action in self._random.choice((
            ("cancel",), ("finalize",), ("finalize", "revert"), ("finalize", "synchronize"),
            ("finalize", "synchronize", "revert"),
        )):  # fmt: skip
            self._post(f"/receipts/{receipt}/{action}")
        self._post(f"/entry-documents/{document}/close")

    def _sell(self) -> None:
        document = self._document("/exit-documents", "sale_order", 3)
        picking = self._id(self._post("/pickings", {"document_id": document}))
        if not picking:
            return
        self._post(f"/pickings/{picking}/start")
        for bin_code in ("A-01", "B-01"):
            body = {"item_code": "BRICK", "qty": 1, "bin_code": bin_code}
            self._post(f"/pickings/{picking}/picks", body)
        for action in self._random.choice((
            ("cancel",), ("allocate", "finalize"), ("finalize", "synchronize"),
            ("finalize", "revert"), ("finalize", "synchronize", "revert"),
        )):  # fmt: skip
            reason = {"shortage_reason": "other"} if action == "finalize" else None
            self._post(f"/pickings/{picking}/{action}", reason)
        self._pack(document)
        end = self._random.choice(("dispatch", "close"))
        if self._post(f"/exit-documents/{document}/{end}").status == 200:
            self._ended.append(document)

    def _return(self) -> None:
        line = {"item_code": "BRICK", "qty": 1}
        document = self._random.choice(self._ended)
        made = self._post("/returns", {"exit_document_id": document, "lines": [line]})
        number = self._id(made)
        if not number or self._random.random() < 0.5:
            self._post(f"/returns/{number or 1}/cancel")
            return
        self._post(f"/returns/{number}/lines", {"lines": [{**line, "bin_code": self._bin()}]})
        self._post(f"/returns/{number}/finish")
        action = self._random.choice(("restock", "quarantine", "scrap", "return_to_provider"))
        self._post(f"/returns/{number}/dispositions", {"lines": [{**line, "action": action}]})

    def _pack(self, document: int) -> None:
        order = self._id(self._post("/packing-orders", {"exit_document_id": document}))
        if not order:
            return
        for _ in range(2):
            body = {"type": "carton"}
            unit = self._id(self._post(f"/packing-orders/{order}/handling-units", body))
            goods = {"item_code": "BRICK", "qty": 1}
            for action in ("contents", "contents", "contents/remove"):
                self._post(f"/handling-units/{unit}/{action}", goods) if unit else None
        self._post("/rfid-validations", {"packing_order_id": order, "epcs": ["urn:epc:id:none"]})
        end = self._random.choice(("cancel", "complete", "complete"))
        self._post(f"/packing-orders/{order}/{end}", {"short": True, "reason": "Loose"})

    def _move(self) -> None:
        origin, target = self._random.sample(("A-01", "B-01", "F-01"), 2)
        move = {"item_code": "BRICK", "qty": 1, "from_bin": origin, "to_bin": target}
        ends = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [move]}
        execute = self._random.random() < 0.5
        transfer = self._id(self._post("/transfers", {**ends, "execute": execute}))
        if transfer and not execute:
            if self._random.random() < 0.3:
                assert self._erp.delete(f"/transfers/{transfer}").status in {200, 204, 409, 503}
                return
            self._post(f"/transfers/{transfer}/acknowledge", {})
            self._post(f"/transfers/{transfer}/execute")

    def _transfer_order(self) -> None:
        order = self._id(self._post("/transfer-orders", {
            "from_warehouse": "YARD", "to_warehouse": "SHOP", "picker_id": 7,
            "lines": [{"item_code": "BRICK", "qty": 2}],
        }))  # fmt: skip
        if not order:
            return
        self._post(f"/transfer-orders/{order}/release", {"picker_id": 7})
        for bin_code in ("A-01", "B-01"):
            body = {"item_code": "BRICK", "qty": 1, "bin_code": bin_code}
            self._post(f"/transfer-orders/{order}/picks", body)
        if self._random.random() < 0.3:
            self._post(f"/transfer-orders/{order}/cancel")
        self._post(f"/transfer-orders/{order}/finish-picking")
        self._post(f"/transfer-orders/{order}/dispatch")
        line = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
        self._post(f"/transfer-orders/{order}/receive", {"lines": [line], "final": True})
        self._post(f"/transfer-orders/{order}/close", {"reason": "Lost"})

    def _wave(self) -> None:
        document = self._document("/exit-documents", "sale_order", 1)
        body = {"document_id": document, "allocate": False}
        picking = self._id(self._post("/pickings", body))
        wave = self._id(self._post("/waves", {
            "warehouse_code": "YARD", "strategy": "batch", "picking_ids": [picking],
        }))  # fmt: skip
        for action in ("plan", "release", self._random.choice(("cancel", "complete")), "close"):
            self._post(f"/waves/{wave}/{action}") if wave else None
        if picking:
            self._post(f"/pickings/{picking}/start")
            self._post(f"/pickings/{picking}/finalize", {"shortage_reason": "other"})
            self._post(f"/pickings/{picking}/{self._random.choice(('cancel', 'revert'))}")

    def _create_product(self) -> None:
        code = f"P-{next(self.numbers)}"
        number = self._id(self._post("/products", {"item_code": code, "name": code}))
        if number and self._random.random() < 0.5:
            assert self._erp.delete(f"/products/{number}").status in {200, 204, 409, 503}


@contextmanager
def _traffic(clients: Sequence[_Client], aws_faults: AwsFaults) -> Iterator[None]:
    """Let the clients work while the block verifies; both take turns with their calls of moto."""
    ended, turns = Event(), Semaphore(len(clients))
    verifier, calls = get_ident(), count(1)

    def give_turns(_call: Call, forward: Forward) -> Answer:
        if get_ident() == verifier and next(calls) % _CALLS_PER_JOB == 0:
            turns.release()
        return forward()

    def is_over() -> bool:
        if not _SECONDS:
            turns.acquire()
        return ended.is_set()

    with aws_faults.faulty(give_turns), ThreadPoolExecutor(len(clients)) as pool:
        working = [pool.submit(client.work_until, is_over) for client in clients]
        try:
            yield
        finally:
            ended.set()
            turns.release(len(clients))
        for one in working:
            one.result()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "PAUSE_SECONDS", 0.3)  # moto has no lag


def test_traffic_during_a_verification_causes_no_finding(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    build_company(erp)
    clients = [_Client(stack.erp(), _SEED + number) for number in range(_CLIENTS)]
    runs, began = 0, time.monotonic()
    with _traffic(clients, aws_faults):
        while runs < _RUNS or time.monotonic() - began < _SECONDS:
            found = verify_tenant("acme", repair=runs % 2 == 1, rate=100_000)
            assert found.listed == []
            runs += 1
    answers = sum((client.answers for client in clients), Counter())
    assert answers[200] + answers[201] > 5 * runs > 0
    found = verify_tenant("acme", rate=100_000)
    assert (found.listed, found.unsettled) == ([], [])


def test_drift_is_found_and_repaired_during_traffic(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    """The traffic is on other data than the drifts, whose confirmation needs a quiet moment."""
    build_company(erp)
    table = Table(stack)
    table.add_to_total("warehouse", "n", 1)
    table.delete(("item_code#CEMENT", "ALIAS"))
    cement = table.find("stock", lambda row: row.batch_num == "L1")
    table.edit("stock", cement.id, qty=cement.entity.qty + 2)
    with _traffic([_Client(stack.erp(), _SEED)], aws_faults):
        found = verify_tenant("acme", repair=True, rate=100_000)
    assert {one.kind for one in found.listed} == {"counter.n", "alias.missing", "stock.qty"}
    assert not found.left
    assert verify_tenant("acme", rate=100_000).listed == []
