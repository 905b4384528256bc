"""Record AWS calls at the level of botocore, and inject the faults that AWS can produce.

Neither moto nor any emulator produces transaction conflicts, throttling, lost responses or
killed processes. Two gaps of moto are closed as well: its tables are not thread-safe, so calls
pass one at a time; and it ignores ClientRequestToken, so a repeated transaction is answered with
success without being applied again, and a token with other contents with
IdempotentParameterMismatchException, as AWS does.
"""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from botocore.endpoint import Endpoint
from botocore.exceptions import ReadTimeoutError

from shared.kernel.db import claim
from tests.wire_rules import keep_token


class Killed(BaseException):
    """Simulates the death of the process; no code under test may catch it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to AWS; `number` counts from 0 since the faults were installed."""

    number: int
    operation: str
    body: Any

    @property
    def request(self) -> dict[str, Any]:
        """The body, read as JSON; empty if it is not."""
        text = self.body.decode(errors="replace") if isinstance(self.body, bytes) else self.body
        try:
            request: dict[str, Any] = json.loads(text or "{}")
        except (TypeError, ValueError):
            return {}
        return request


type Answer = tuple[Any, Exception | None]
"""((HTTP response, parsed response), None), or (None, the connection error)."""
type Forward = Callable[[], Answer]
type Fault = Callable[[Call, Forward], Answer]
"""Returns the response of a call; `forward()` sends the call to moto."""


@dataclass(slots=True, eq=False)
class Recording:
    """The calls made inside one `recorded` block."""

    calls: list[Call] = field(default_factory=list)
    entries_examined: int = 0
    """Index entries that Query examined."""
    round_trips: int = 0
    """Length of the longest chain of calls in which each call started after the previous one had
    ended. Calls of parallel threads count once."""

    @property
    def operations(self) -> list[str]:
        """The names of the operations, in the order in which the calls started."""
        return [call.operation for call in self.calls]


class _Chain(threading.local):
    """Number of sequential calls that the current thread has made."""

    length = 0


_chain = _Chain()


class AwsFaults:
    """Records the AWS calls of the code under test and injects faults into them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._numbers = threading.Lock()
        self._count = 0
        self._faults: list[Fault] = []
        self._recordings: list[Recording] = []
        self._applied: dict[str, dict[str, Any]] = {}
        self.latency = 0.0
        """Minimum duration of each call in seconds, so that concurrent requests overlap."""

    @contextmanager
    def recorded(self) -> Iterator[Recording]:
        """Record the calls made inside the block."""
        recording, before = Recording(), _chain.length
        self._recordings.append(recording)
        try:
            yield recording
        finally:
            self._recordings.remove(recording)
            recording.round_trips = _chain.length - before

    @contextmanager
    def faulty(self, fault: Fault) -> Iterator[None]:
        """Apply a fault to the calls made inside the block."""
        self._faults.append(fault)
        try:
            yield
        finally:
            self._faults.remove(fault)

    def kills(self, fault: Fault, act: Callable[[], object]) -> bool:
        """Do something with a fault; return whether it kills the process."""
        try:
            with self.faulty(fault):
                act()
        except Killed:
            return True
        return False

    def send(self, send: Forward, operation: str, body: Any) -> Answer:
        """Send one call to moto, subject to the active fault."""
        call = self._begin(operation, body)
        if self.latency:
            time.sleep(self.latency)
        answer = self._apply_faults(call, send)
        _chain.length += 1
        if self._recordings and answer[0] is not None and "IndexName" in call.request:
            for recording in self._recordings:
                recording.entries_examined += answer[0][1].get("ScannedCount", 0)
        return answer

    def _begin(self, operation: str, body: Any) -> Call:
        with self._numbers:
            call = Call(self._count, operation, body)
            self._count += 1
            for recording in self._recordings:
                recording.calls.append(call)
        return call

    def _apply_faults(self, call: Call, send: Forward) -> Answer:
        def forward() -> Answer:
            with self._lock:
                return self._apply_token(call, send)

        fault = self._faults[-1] if self._faults else None
        return fault(call, forward) if fault else forward()

    def _apply_token(self, call: Call, send: Forward) -> Answer:
        """Apply a transaction once per ClientRequestToken."""
        request = call.request if call.operation == "TransactWriteItems" else {}
        token = request.get("ClientRequestToken")
        if token is None:
            return send()
        if token in self._applied:
            if self._applied[token] != request:
                return refusal("IdempotentParameterMismatchException")
            return success()
        answer, error = send()
        if answer is not None and answer[0].status_code == 200:
            keep_token(self._applied, token, request)
        return answer, error


def install(monkeypatch: pytest.MonkeyPatch) -> AwsFaults:
    """Install fault injection between botocore and moto until the test ends."""
    aws_faults = AwsFaults()
    original = Endpoint._do_get_response  # type: ignore[attr-defined]

    def carried(endpoint: Any, request: Any, model: Any, context: Any) -> Answer:
        return aws_faults.send(
            lambda: original(endpoint, request, model, context), model.name, request.body
        )

    monkeypatch.setattr(Endpoint, "_do_get_response", carried)
    _follow_threads(monkeypatch)
    return aws_faults


def _follow_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Continue a chain of calls in the threads of a pool, and join it when results are read.

    A claim is written before anything else, so that the order of calls does not depend on chance.
    """
    submit, result = ThreadPoolExecutor.submit, Future.result
    lengths: WeakKeyDictionary[Future[Any], list[int]] = WeakKeyDictionary()

    def followed_submit(
        pool: ThreadPoolExecutor, call: Callable[..., Any], /, *args: Any, **names: Any
    ) -> Future[Any]:
        ending, before = [0], _chain.length

        def run() -> Any:
            _chain.length = before
            try:
                return call(*args, **names)
            finally:
                ending[0] = _chain.length

        future = submit(pool, run)
        lengths[future] = ending
        return future

    def followed_result(future: Future[Any], timeout: float | None = None) -> Any:
        value = result(future, timeout)
        _chain.length = max(_chain.length, lengths.get(future, [0])[0])
        return value

    def at_once(call: Callable[[], Any]) -> Future[Any]:
        future, before = Future[Any](), _chain.length
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whoever waits for the result gets it
            future.set_exception(error)
        lengths[future], _chain.length = [_chain.length], before
        return future

    monkeypatch.setattr(ThreadPoolExecutor, "submit", followed_submit)
    monkeypatch.setattr(Future, "result", followed_result)
    monkeypatch.setattr(claim, "start", at_once)


class LateClaim[A](Future[A]):
    """A claim that is written when somebody waits for it: its request has read everything."""

    def __init__(self, write: Callable[[], A]) -> None:
        super().__init__()
        self._write = write

    def result(self, timeout: float | None = None) -> A:
        """Write the claim, unless that is done; return it."""
        if not self.done():
            try:
                self.set_result(self._write())
            except BaseException as error:  # noqa: BLE001 - whoever waits for the result gets it
                self.set_exception(error)
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Write the claim, unless that is done; return the error, if any."""
        with suppress(BaseException):
            self.result(timeout)
        return super().exception(timeout)


# Responses of AWS


def success() -> Answer:
    """Return an empty successful response."""
    parsed = {"ResponseMetadata": {"HTTPStatusCode": 200, "RequestId": "r", "HTTPHeaders": {}}}
    return (_http(200), parsed), None


def refusal(code: str, *, status: int = 400, **members: Any) -> Answer:
    """Return an error response as botocore parses it."""
    parsed = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": status, "RequestId": "r", "HTTPHeaders": {}},
        **members,
    }
    return (_http(status), parsed), None


def _http(status: int) -> SimpleNamespace:
    return SimpleNamespace(status_code=status, headers={}, content=b"", raw=None)


def cancelled_transaction(call: Call, reason: str, actions: Collection[int] = (0,)) -> Answer:
    """Return the cancellation of a transaction; `reason` is that of these of its actions."""
    reasons = [
        {"Code": reason, "Message": reason} if number in actions else {"Code": "None"}
        for number in range(len(call.request["TransactItems"]))
    ]
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


def lost() -> Answer:
    """Return a read timeout in place of a response."""
    return None, ReadTimeoutError(endpoint_url="https://dynamodb")


# Faults


def _around(
    at: int,
    before: Callable[[Call], object] = lambda _: None,
    after: Callable[[Call], object] = lambda _: None,
) -> Fault:
    """Do something before the call number `at`, counted from 0, reaches AWS, or after its effect.

    What is done after it is done before its response is read.
    """
    turn = count().__next__

    def fault(call: Call, forward: Forward) -> Answer:
        is_due = turn() == at
        if is_due:
            before(call)
        answer = forward()
        if is_due:
            after(call)
        return answer

    return fault


def _die(call: Call) -> None:
    raise Killed(call.operation)


def kill_before(at: int) -> Fault:
    """Kill the process before the call number `at` reaches AWS."""
    return _around(at, before=_die)


def kill_after(at: int) -> Fault:
    """Kill the process after the call number `at` took effect."""
    return _around(at, after=_die)


def stuck_before(at: int, meanwhile: Callable[[], object]) -> Fault:
    """Run `meanwhile` before the call number `at` reaches AWS."""
    return _around(at, before=lambda _: meanwhile())


def stuck_after(at: int, meanwhile: Callable[[], object]) -> Fault:
    """Run `meanwhile` after the call number `at` took effect."""
    return _around(at, after=lambda _: meanwhile())


def kill_at(moment: int) -> Fault:
    """Kill the process at a moment: even ones are before a call, odd ones after its effect."""
    return (kill_after if moment % 2 else kill_before)(moment // 2)


def stuck_at(moment: int, meanwhile: Callable[[], object]) -> Fault:
    """Run `meanwhile` at a moment; see `kill_at`."""
    return (stuck_after if moment % 2 else stuck_before)(moment // 2, meanwhile)


def before_first(operation: str, act: Callable[[], object]) -> Fault:
    """Do something just before the first call of an operation reaches AWS."""
    left = [act]

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation == operation and left:
            left.pop()()
        return forward()

    return fault


def before_each(act: Callable[[Call], object]) -> Fault:
    """Do something before each call reaches AWS, except before those that it makes itself."""
    is_inside = False

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal is_inside
        if not is_inside:
            is_inside = True
            act(call)
            is_inside = False
        return forward()

    return fault


def kill_after_step(last: int = 1) -> Fault:
    """Kill the process after transaction number `last`, counted from 1, took effect."""
    steps = count(1)

    def fault(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation == "TransactWriteItems" and next(steps) == last:
            raise Killed
        return answer

    return fault


def lose_answer(at: int) -> Fault:
    """Apply the call number `at`, but lose its response."""
    turn = count().__next__

    def fault(_call: Call, forward: Forward) -> Answer:
        answer = forward()
        return lost() if turn() == at else answer

    return fault


def throttle(at: int, times: int = 1) -> Fault:
    """Throttle `times` calls, starting with the call number `at`."""
    turn = count().__next__

    def fault(_call: Call, forward: Forward) -> Answer:
        if at <= turn() < at + times:
            return refusal("ThrottlingException")
        return forward()

    return fault


def refuse_calls(*operations: str, code: str = "AccessDeniedException") -> Fault:
    """Refuse every call of these operations."""

    def fault(call: Call, forward: Forward) -> Answer:
        return refusal(code) if call.operation in operations else forward()

    return fault


def conflict(times: int = 1) -> Fault:
    """Cancel the first `times` transactions with TransactionConflict."""
    turn = count().__next__

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation == "TransactWriteItems" and turn() < times:
            return cancelled_transaction(call, "TransactionConflict")
        return forward()

    return fault
