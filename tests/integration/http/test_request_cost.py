"""Requests that take long or read much: what they cost, and how many run at the same time."""

from collections.abc import Callable

import pytest

from shared.http import rate_limit, slow_requests
from shared.http.rate_limit import cost_of, limiter
from shared.http.slow_requests import RequestSlot, Slots, slot_count, with_slot
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline, now_ms
from shared.kernel.config import config
from shared.kernel.db.items import item_at
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import RateLimited
from shared.kernel.observability import add_units, read_units
from tests.cases import each_case
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    before_each,
    lost,
    refuse_calls,
)
from tests.gateway import Erp
from tests.integration.call_faults import at_calls
from tests.integration.http.rate_limit_headers import (
    LIMIT,
    TOTAL,
    assert_refused,
    read_rate_limit,
)
from tests.integration.write_routes import BOLT
from tests.stack import Stack

_SLOTS = 4
"""Slow requests at the same time in the plan Essentials."""
_SLOW_MS, _COST = 3_000, 26

_ELAPSED_MS = Deadline.elapsed_ms
"""The property, which other tests replace."""

type Slow = Callable[[float], None]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """A function that sets how many milliseconds each request has taken."""

    def taking(milliseconds: float) -> None:
        monkeypatch.setattr(Deadline, "elapsed_ms", milliseconds)

    return taking


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """A function that sets how many units each request has read."""

    def reading(units: float) -> None:
        for module in (rate_limit, slow_requests):
            monkeypatch.setattr(module, "read_units", lambda: units)

    return reading


# What a request costs


@each_case(
    ("milliseconds", "read_units", "tokens"),
    [
        (40, 20, 1),
        (500, 250, 1),
        (500.1, 0, 2),
        (3_000, 250, 26),
        (0, 250.5, 2),
        (500, 2_560, 48),
        (3_000, 2_560, 48),
    ],
)
def test_cost_of_a_request(milliseconds: float, read_units: float, tokens: int) -> None:
    assert cost_of(milliseconds, read_units) == tokens


def test_slow_request_costs_more_than_one_token(mini: Erp, slow: Slow) -> None:
    slow(_SLOW_MS)
    assert read_rate_limit(mini.get("/products")) == (LIMIT, LIMIT - _COST, 60)
    slow(500)
    assert read_rate_limit(mini.get("/products"))[1] == LIMIT - _COST - 1


def test_local_stack_counts_no_time(mini: Erp, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_LOCALHOST", "true")
    config.cache_clear()
    slow(_SLOW_MS)

    assert read_rate_limit(mini.get("/products"))[1] == LIMIT - 1


def test_request_that_reads_much_costs_more(
    mini: Erp, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "read_units", read_units)

    def read_much(_call: Call) -> None:
        add_units("a table", 1_250 - read_units(), is_read=True)

    with aws_faults.faulty(before_each(read_much)):
        left = read_rate_limit(mini.get("/products"))[1]

    assert left in {LIMIT - 21, LIMIT - 22}, "1,250 units, and those of the last call"


def test_other_environments_know_what_a_request_cost(stack: Stack, mini: Erp, slow: Slow) -> None:
    slow(_SLOW_MS)
    for _ in range(4):
        assert mini.get("/products").status == 200
    slow(0)
    limiter.forget()

    assert read_rate_limit(mini.get("/products"))[1] < LIMIT - 4 * _COST
    assert read_rate_limit(stack.erp("mini", client="shop").get("/products"))[1] == LIMIT - 1


@pytest.mark.usefixtures("mini")
def test_company_pays_for_the_requests_of_all_its_clients(stack: Stack, slow: Slow) -> None:
    clients = [stack.erp("mini", client=f"client-{number}") for number in range(5)]
    slow(20_000)  # 196 tokens
    for client in clients[:4]:
        assert client.get("/products").status == 200

    assert_refused(clients[4].get("/products"), seconds=60, limit=TOTAL)


@pytest.mark.usefixtures("mini")
def test_client_pays_for_its_company_no_more_than_its_own_limits(stack: Stack, slow: Slow) -> None:
    slow(100_000)  # 996 tokens; the company has 600
    assert stack.erp("mini", client="erp").get("/products").status == 200
    slow(0)
    limiter.forget()

    left = [stack.erp("mini", client=f"c-{number}").get("/products").status for number in range(3)]

    assert left == [200, 200, 200]


def test_pauses_between_attempts_cost_nothing(
    stack: Stack, mini: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mini
    monkeypatch.setattr(Deadline, "elapsed_ms", _ELAPSED_MS)
    store = stack.store("mini")
    began, left = store.deadline.elapsed_ms, store.deadline.remaining

    store.pause(6)

    assert left - store.deadline.remaining >= 6
    assert store.deadline.elapsed_ms - began < 1_000


def test_cost_beyond_the_limit_is_paid_in_the_next_minute(
    mini: Erp, minute_clock: Clock, slow: Slow
) -> None:
    slow(15_000)  # 146 tokens, 26 more than the limit
    assert mini.get("/products").status == 200
    slow(0)
    assert_refused(mini.get("/products"), seconds=60)
    minute_clock.advance(60)
    assert read_rate_limit(mini.get("/products")) == (LIMIT, LIMIT - 26 - 1, 60)
    minute_clock.advance(60)
    assert read_rate_limit(mini.get("/products")) == (LIMIT, LIMIT - 1, 60)


def test_cost_of_two_minutes_is_waited_for_until_the_second_has_ended(
    mini: Erp, minute_clock: Clock, slow: Slow
) -> None:
    slow(23_900)  # 235 tokens, less than two minutes have
    mini.get("/products").ok()
    slow(0)
    assert_refused(mini.get("/products"), seconds=60)
    minute_clock.advance(120)

    slow(27_000)  # 266 tokens
    assert read_rate_limit(mini.get("/products")) == (LIMIT, 0, 120)
    slow(0)
    minute_clock.advance(20)
    assert_refused(mini.get("/products"), seconds=100)
    limiter.forget()  # another execution environment
    assert_refused(mini.get("/products"), seconds=100)
    minute_clock.advance(40)
    assert_refused(mini.get("/products"), seconds=60)
    minute_clock.advance(60)
    mini.get("/products").ok()


def test_refused_request_is_charged_nothing(mini: Erp, minute_clock: Clock, slow: Slow) -> None:
    slow(12_500)  # 121 tokens
    assert mini.get("/products").status == 200
    for _ in range(3):
        assert_refused(mini.get("/products"), seconds=60)
    slow(0)
    minute_clock.advance(60)

    assert read_rate_limit(mini.get("/products"))[1] == LIMIT - 1 - 1


@pytest.mark.parametrize(
    "fault",
    [
        refuse_calls("UpdateItem", code="ThrottlingException"),
        at_calls("UpdateItem", answer=lambda _: lost()),
    ],
)
def test_request_is_served_when_its_cost_cannot_be_counted(
    mini: Erp, aws_faults: AwsFaults, slow: Slow, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    mini.get("/products")
    slow(_SLOW_MS)
    with aws_faults.faulty(fault):
        assert mini.get("/products").status == 200

    assert "rate_limit_not_counted" in capsys.readouterr().out


# How many run at the same time


def _caller(client: str) -> Caller:
    nothing = frozenset[str]()
    return Caller(
        "mini", client, "client", client, nothing, nothing, second_factor=True, token_id="t"
    )


def _running(stack: Stack, count: int, client: str) -> list[RequestSlot]:
    """Take slots for slow requests of a client."""
    store, tenant = stack.store("mini"), stack.tenant("mini")
    slots = [RequestSlot(store, tenant, _caller(client)) for _ in range(count)]
    for slot in slots:
        slot.take()
    return slots


def _slots(stack: Stack) -> Slots:
    item = stack.store("mini").get(slow_requests._KEY)
    assert item is not None
    slots: Slots = item["slots"]
    return slots


@each_case(
    ("requests_per_minute", "slots"), [(1, 4), (120, 4), (300, 5), (1_200, 20), (10**6, 1_000)]
)
def test_slots_of_a_plan(stack: Stack, requests_per_minute: int, slots: int) -> None:
    tenant = stack.tenant("acme")
    object.__setattr__(tenant, "requests_per_minute", requests_per_minute)

    assert slot_count(tenant) == slots


def test_slow_request_without_a_free_slot_is_refused(stack: Stack, mini: Erp, reads: Slow) -> None:
    running = [*_running(stack, 2, "shop"), *_running(stack, 2, "web")]
    assert mini.get("/products").status == 200, "it is not slow"

    reads(300)
    refused = mini.get("/products")
    running[0].release()
    served = mini.get("/products")

    assert (refused.status, refused.code) == (429, "rate_limited")
    assert refused.headers["Retry-After"] == "2"
    assert "4 slow requests of the company are running" in refused.text
    assert served.status == 200
    assert len(_slots(stack)) == 3, "its slot is free again"


def test_client_leaves_half_of_the_slots_to_others(stack: Stack, mini: Erp, reads: Slow) -> None:
    _running(stack, 2, "erp")
    reads(300)

    refused = mini.get("/products")
    other = stack.erp("mini", client="shop").get("/products")

    assert refused.status == 429
    assert "2 slow requests of this client or user are running, at most 2" in refused.text
    assert other.status == 200


def test_slots_of_a_tenant_are_its_own(stack: Stack, mini: Erp, reads: Slow) -> None:
    assert mini
    _running(stack, 2, "shop")
    _running(stack, 2, "web")
    reads(300)

    assert stack.erp("acme").get("/products").status == 200


def test_slot_of_a_killed_environment_is_free_after_its_deadline(
    stack: Stack, mini: Erp, minute_clock: Clock, reads: Slow
) -> None:
    _running(stack, 2, "shop")
    _running(stack, 2, "web")
    reads(300)
    minute_clock.advance(26)
    assert mini.get("/products").status == 429
    minute_clock.advance(3)

    assert mini.get("/products").status == 200
    assert not _slots(stack), "those of the others are removed"


def test_refused_write_has_changed_nothing(
    stack: Stack, mini: Erp, minute_clock: Clock, reads: Slow
) -> None:
    _running(stack, 2, "erp")
    reads(300)
    refused = mini.post("/products", BOLT, key="k1")
    reads(0)

    assert refused.status == 429
    assert stack.items("mini") == []
    minute_clock.advance(1)
    answer = mini.post("/products", BOLT, key="k1")
    assert (answer.status, answer.headers.get("Idempotent-Replayed")) == (201, None)


def test_request_that_becomes_slow_after_its_commit_is_answered(
    stack: Stack, mini: Erp, aws_faults: AwsFaults, reads: Slow
) -> None:
    _running(stack, 2, "erp")

    def slow_from_the_commit_on(call, forward):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        if call.operation == "TransactWriteItems":
            reads(5_000)
        return forward()

    with aws_faults.faulty(slow_from_the_commit_on):
        assert mini.post("/products", BOLT).status == 201


def test_request_of_several_steps_is_not_refused_after_the_first(
    stack: Stack, mini: Erp, reads: Slow
) -> None:
    assert mini
    _running(stack, 2, "erp")
    store = stack.store("mini")
    store.slot = RequestSlot(store, stack.tenant("mini"), _caller("erp"))
    run_transaction(store.uncached(), lambda tx: tx.insert(item_at(("step", "1"))))
    reads(300)

    assert store.get(("step", "2")) is None


def test_slot_whose_answer_was_lost_is_held(stack: Stack, mini: Erp, aws_faults: AwsFaults) -> None:
    assert mini

    def sent_twice(_call: Call, forward: Forward) -> Answer:
        """Send a call again, as botocore does when the answer is lost."""
        forward()
        return forward()

    with aws_faults.faulty(sent_twice):
        [slot] = _running(stack, 1, "erp")
    assert len(_slots(stack)) == 1
    slot.release()

    assert not _slots(stack)


def test_concurrent_slow_requests_never_exceed_the_slots(stack: Stack, mini: Erp) -> None:
    assert mini
    store, tenant = stack.store("mini"), stack.tenant("mini")

    def take(number: int) -> bool:
        try:
            RequestSlot(store, tenant, _caller(f"client-{number}")).take()
        except RateLimited:
            return False
        return True

    taken = run_concurrently(12, take)

    assert sum(taken) == len(_slots(stack)) == _SLOTS


def test_slots_that_have_ended_are_left_out() -> None:
    now = now_ms()
    slots = {"a": f"{now:015d} client#x", "b": f"{now + 1:015d} client#y"}

    assert with_slot(slots, "c", "client#x", now + 5, now, 4) == {
        "b": slots["b"],
        "c": f"{now + 5:015d} client#x",
    }
