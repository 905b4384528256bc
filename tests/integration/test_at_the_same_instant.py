"""Twenty at the same instant: an ERP whose workers all send what only one should."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.stored_entities import assert_totals_are_true, take_census
from tests.integration.write_routes import BOLT, EXAMPLES, PURCHASE
from tests.stack import Stack

_AT_ONCE = 20


def _at_once(send: Callable[[int], Response]) -> list[Response]:
    barrier = Barrier(_AT_ONCE)

    def worker(number: int) -> Response:
        barrier.wait()
        return send(number)

    with ThreadPoolExecutor(_AT_ONCE) as workers:
        return list(workers.map(worker, range(_AT_ONCE)))


@pytest.fixture(autouse=True)
def calls_that_overlap(aws_faults: AwsFaults) -> None:
    """Each AWS call lasts, so that the requests really meet."""
    aws_faults.latency = 0.01


def test_twenty_times_the_same_request_is_one_product(stack: Stack, erp: Erp) -> None:
    answers = _at_once(lambda _: erp.post("/products", BOLT, key="bolt"))

    first = [answer for answer in answers if answer.status == 201]
    in_flight = [answer for answer in answers if answer.status == 409]
    assert len(first) + len(in_flight) == _AT_ONCE
    assert len({answer.text for answer in first}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in first) == 1
    assert {answer.code for answer in in_flight} <= {"duplicate_in_flight"}
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in in_flight)

    late = erp.post("/products", BOLT, key="bolt")
    assert (late.status, late.text) == (201, first[0].text)
    assert len(erp.walk("/products")) == len(stack.events()) == 1
    assert_totals_are_true(stack, take_census(stack))


def test_twenty_requests_for_one_item_code_are_one_product(stack: Stack, erp: Erp) -> None:
    answers = _at_once(lambda number: erp.post("/products", BOLT, key=f"bolt-{number}"))

    assert Counter(answer.status for answer in answers) == {201: 1, 422: _AT_ONCE - 1}
    refused = next(answer for answer in answers if answer.status == 422)
    assert refused.json()["error"]["field"] == "item_code"
    assert len(erp.walk("/products")) == len(stack.events()) == 1
    assert_totals_are_true(stack, take_census(stack))


def test_twenty_requests_for_one_reference_are_one_document(stack: Stack, erp: Erp) -> None:
    EXAMPLES["POST /entry-documents"].prepared(erp)

    answers = _at_once(lambda number: erp.post("/entry-documents", PURCHASE, key=f"po-{number}"))

    assert Counter(answer.status for answer in answers) == {201: 1, 200: _AT_ONCE - 1}
    assert len({answer.text for answer in answers}) == 1
    assert len(erp.walk("/entry-documents")) == 1
    assert_totals_are_true(stack, take_census(stack))


def test_the_last_free_subscription_is_had_once(stack: Stack, erp: Erp) -> None:
    limit = stack.tenant().limits["webhook_subscriptions"]
    hook = EXAMPLES["POST /webhooks"].body
    for _ in range(limit - 1):
        assert erp.post("/webhooks", hook).status == 201

    answers = _at_once(lambda number: erp.post("/webhooks", hook, key=f"hook-{number}"))

    assert Counter(answer.status for answer in answers) == {201: 1, 402: _AT_ONCE - 1}
    assert {answer.code for answer in answers if answer.status == 402} == {"limit_reached"}
    assert len(erp.walk("/webhooks")) == limit
    assert_totals_are_true(stack, take_census(stack))


def test_twenty_changes_of_one_product_lose_none(stack: Stack, erp: Erp) -> None:
    product = erp.post("/products", BOLT).data

    answers = _at_once(
        lambda number: erp.patch(f"/products/{product['id']}", {"name": f"Bolt {number}"})
    )

    assert {answer.status for answer in answers} == {200}
    names = {answer.data["name"] for answer in answers}
    assert len(names) == _AT_ONCE
    assert erp.get(f"/products/{product['id']}").data["name"] in names
    versions = [int(event["version"]["N"]) for event in stack.events()]
    assert sorted(versions) == list(range(1, _AT_ONCE + 2))
    assert_totals_are_true(stack, take_census(stack))
