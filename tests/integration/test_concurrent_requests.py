"""Concurrent requests, of which only one or a limited number may succeed."""

from collections import Counter

import pytest

from tests.concurrency import run_concurrently
from tests.gateway import Erp
from tests.integration.conftest import BeforeNextCommit
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.integration.write_routes import BOLT, EXAMPLES
from tests.sampling import is_complete
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("slow_aws_calls")

_REQUESTS = 20
_FEWER = 20 if is_complete() else 8
"""Requests where each of the others retries several transactions."""


def test_concurrent_retries_with_one_key_create_one_product(stack: Stack, erp: Erp) -> None:
    answers = run_concurrently(_REQUESTS, lambda _: erp.post("/products", BOLT, key="bolt"))

    first = [answer for answer in answers if answer.status == 201]
    in_flight = [answer for answer in answers if answer.status == 409]
    assert len(first) + len(in_flight) == _REQUESTS
    assert len({answer.text for answer in first}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in first) == 1
    assert {answer.code for answer in in_flight} <= {"duplicate_in_flight"}
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in in_flight)

    late = erp.post("/products", BOLT, key="bolt")
    assert (late.status, late.text) == (201, first[0].text)
    assert len(erp.walk("/products")) == len(stack.events()) == 1
    assert_counters_match(stack, read_stored_entities(stack))


def test_concurrent_requests_with_one_item_code_create_one_product(stack: Stack, erp: Erp) -> None:
    answers = run_concurrently(
        _REQUESTS, lambda number: erp.post("/products", BOLT, key=f"bolt-{number}")
    )

    assert Counter(answer.status for answer in answers) == {201: 1, 422: _REQUESTS - 1}
    refused = next(answer for answer in answers if answer.status == 422)
    assert refused.json()["error"]["field"] == "item_code"
    assert len(erp.walk("/products")) == len(stack.events()) == 1
    assert_counters_match(stack, read_stored_entities(stack))


@pytest.mark.parametrize("path", ["/entry-documents", "/transfer-orders", "/returns"])
def test_concurrent_requests_with_one_reference_create_one_record(
    path: str, stack: Stack, erp: Erp
) -> None:
    example = EXAMPLES[f"POST {path}"]
    body = example.filled(example.prepared(erp))

    answers = run_concurrently(_FEWER, lambda number: erp.post(path, body, key=f"r-{number}"))

    assert Counter(answer.status for answer in answers) == {201: 1, 200: _FEWER - 1}
    assert len({answer.text for answer in answers}) == 1
    assert len(erp.walk(path)) == 1
    assert_counters_match(stack, read_stored_entities(stack))


def test_reference_that_another_request_takes_before_the_commit_is_found(
    erp: Erp, before_next_commit: BeforeNextCommit
) -> None:
    example = EXAMPLES["POST /transfer-orders"]
    body = example.filled(example.prepared(erp))
    assert isinstance(body, dict)
    # The first use of codes is a conflict of its own.
    erp.post("/transfer-orders", body | {"external_ref": "MOVE-0"}).ok(201)
    first = before_next_commit(lambda: erp.post("/transfer-orders", body, key="r-1"))

    second = erp.post("/transfer-orders", body, key="r-2")

    assert (first[0].status, second.status) == (201, 200)
    assert second.text == first[0].text


def test_only_one_concurrent_request_gets_the_last_subscription(stack: Stack, erp: Erp) -> None:
    limit = stack.tenant().limits["webhook_subscriptions"]
    hook = EXAMPLES["POST /webhooks"].body
    for _ in range(limit - 1):
        assert erp.post("/webhooks", hook).status == 201

    answers = run_concurrently(
        _FEWER, lambda number: erp.post("/webhooks", hook, key=f"hook-{number}")
    )

    assert Counter(answer.status for answer in answers) == {201: 1, 402: _FEWER - 1}
    assert {answer.code for answer in answers if answer.status == 402} == {"limit_reached"}
    assert len(erp.walk("/webhooks")) == limit
    assert_counters_match(stack, read_stored_entities(stack))


def test_concurrent_changes_of_one_product_are_all_applied(stack: Stack, erp: Erp) -> None:
    product = erp.post("/products", BOLT).data

    answers = run_concurrently(
        _REQUESTS,
        lambda number: erp.patch(f"/products/{product['id']}", {"name": f"Bolt {number}"}),
    )

    assert {answer.status for answer in answers} == {200}
    names = {answer.data["name"] for answer in answers}
    assert len(names) == _REQUESTS
    assert erp.get(f"/products/{product['id']}").data["name"] in names
    versions = [int(event["version"]["N"]) for event in stack.events()]
    assert sorted(versions) == list(range(1, _REQUESTS + 2))
    assert_counters_match(stack, read_stored_entities(stack))
