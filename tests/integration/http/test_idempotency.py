"""Idempotency-Key: a repeated request gets the same response and takes effect once."""

import json
import random
from contextlib import suppress

import pytest

from shared.http.envelope import HttpResponse
from shared.http.idempotency import AlreadyAnswered, IdempotencyClaim, claim_key
from shared.kernel.clock import instant
from shared.kernel.db import claim
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import PART_SIZE, item_at
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, DuplicateInFlight, ServiceUnavailable
from tests.clock import Clock
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    LateClaim,
    cancelled_transaction,
    kill_before,
    refuse_calls,
    throttle,
)
from tests.gateway import Erp, Response
from tests.integration.call_faults import at_calls
from tests.integration.write_routes import BOLT, NORTH, PURCHASE
from tests.stack import Stack

_NUT = {"item_code": "NUT-M8", "name": "Nut M8"}


def test_repeated_request_gets_the_same_response(stack: Stack, erp: Erp) -> None:
    first = erp.post("/products", BOLT, key="k1")
    again = erp.post("/products", BOLT, key="k1")

    assert (again.status, again.text) == (first.status, first.text)
    assert again.headers["Location"] == first.headers["Location"]
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert len(stack.events()) == 1


def test_repeated_request_gets_the_first_response_after_a_change(erp: Erp) -> None:
    first = erp.post("/products", BOLT, key="k1")
    erp.patch(f"/products/{first.data['id']}", {"name": "Bolt M8 long"})
    erp.delete(f"/products/{first.data['id']}")

    assert erp.post("/products", BOLT, key="k1").text == first.text


def test_order_and_spacing_of_json_do_not_matter(erp: Erp) -> None:
    first = erp.post("/products", BOLT, key="k1")
    backwards = json.dumps(dict(reversed(BOLT.items())), indent=4)

    assert erp.send("POST", "/products", raw=backwards, key="k1").text == first.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/products", {**BOLT, "name": "Bolt M9"}),
        ("POST", "/products", {**BOLT, "unknown": 1}),
        ("POST", "/product-categories", {"name": "Fasteners"}),
        ("PATCH", "/products/1", BOLT),
        ("DELETE", "/products/1", None),
    ],
)
def test_key_of_another_request_is_refused(
    erp: Erp, clock: Clock, method: str, path: str, body: object
) -> None:
    clock.freeze()
    used = "This Idempotency-Key was used for POST /products"
    at = f"at {instant(int(clock.time()) * 1000)}."
    erp.post("/products", BOLT, key="k1")
    clock.advance(60)

    answer = erp.send(method, path, body, key="k1")

    assert (answer.status, answer.code) == (422, "idempotency_key_reused")
    with_other_body = " with another body" if (method, path) == ("POST", "/products") else ""
    assert answer.json()["message"] == f"{used}{with_other_body} {at}"
    assert erp.get("/products/1").data["name"] == BOLT["name"]
    assert erp.walk("/product-categories") == []


def test_invalid_data_can_be_corrected_under_the_same_key(erp: Erp) -> None:
    assert erp.post("/products", {**BOLT, "name": ""}, key="k1").status == 422
    erp.post("/products", BOLT)
    assert erp.post("/products", BOLT, key="k1").code == "validation_failed"

    assert erp.post("/products", _NUT, key="k1").status == 201


def test_refusal_by_the_state_is_stored(erp: Erp) -> None:
    missing = erp.delete("/products/1", key="k1")
    assert missing.code == "not_found"
    erp.post("/products", BOLT)

    again = erp.delete("/products/1", key="k1")

    assert (again.status, again.text) == (404, missing.text)
    assert erp.get("/products/1").status == 200


def test_conflict_is_stored_for_its_key_only(erp: Erp) -> None:
    erp.post("/warehouses", NORTH)
    erp.post("/warehouse-positions", {"whs_code": "NORTH", "bin_code": "A-01-1"})
    erp.post("/products", BOLT)
    erp.post("/entry-documents", PURCHASE, key="po")
    first = erp.delete("/products/1", key="k1")
    assert (first.status, first.code) == (409, "conflict")
    assert erp.post("/entry-documents/1/close").status == 200

    assert erp.delete("/products/1", key="k1").text == first.text
    assert erp.delete("/products/1", key="k2").status == 200


def test_keys_are_scoped_to_tenant_and_credential(stack: Stack, erp: Erp, beta: Erp) -> None:
    shop = stack.erp(client="shop")
    erp.post("/products", BOLT, key="k1")

    assert shop.post("/products", _NUT, key="k1").status == 201
    assert beta.post("/products", _NUT, key="k1").status == 201


def test_keys_are_shared_between_tokens_of_a_client(stack: Stack, erp: Erp) -> None:
    first = erp.post("/products", BOLT, key="k1")

    assert stack.erp().post("/products", BOLT, key="k1").text == first.text


@pytest.fixture
def killed(erp: Erp, aws_faults: AwsFaults, clock: Clock) -> None:
    """A request with the key k1 that was killed after it had claimed the key."""
    erp.get("/products")
    clock.freeze()
    assert aws_faults.kills(kill_before(1), lambda: erp.post("/products", BOLT, key="k1"))


def test_repeat_is_answered_although_what_it_reads_refuses_it(
    erp: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp.post("/products", BOLT)
    first = erp.delete("/products/1", key="k1")
    assert first.status == 200
    monkeypatch.setattr(claim, "start", LateClaim)

    repeat = erp.delete("/products/1", key="k1")

    assert (repeat.status, repeat.text) == (200, first.text)
    assert repeat.headers["Idempotent-Replayed"] == "true"
    assert erp.delete("/products/1", key="k2").code == "gone"
    assert erp.delete("/products/2", key="k1").code == "idempotency_key_reused"


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize(("passed", "retry_after"), [(0, 5), (0.5, 5), (1, 4), (4.5, 1)])
def test_repeat_of_a_killed_request_is_accepted_after_the_seconds_of_retry_after(
    erp: Erp, clock: Clock, passed: float, retry_after: int
) -> None:
    clock.advance(passed)

    waiting = erp.post("/products", BOLT, key="k1")
    assert (waiting.status, waiting.code) == (409, "duplicate_in_flight")
    assert waiting.headers["Retry-After"] == str(retry_after)
    clock.advance(retry_after)
    assert erp.post("/products", BOLT, key="k1").status == 201


@pytest.mark.usefixtures("killed")
def test_key_of_a_killed_request_is_not_free_for_another_request(erp: Erp, clock: Clock) -> None:
    clock.advance(60)

    answer = erp.post("/products", _NUT, key="k1")

    assert (answer.status, answer.code) == (422, "idempotency_key_reused")


def test_error_of_our_own_releases_the_key(
    erp: Erp, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.freeze()
    with monkeypatch.context() as patch:
        patch.setattr(Collection, "insert", None)
        failed = erp.post("/products", BOLT, key="k1")
    assert (failed.status, failed.code) == (500, "internal_error")

    assert erp.post("/products", BOLT, key="k1").status == 201


def test_request_that_waits_for_a_commit_keeps_its_claim(
    erp: Erp, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp.get("/products")
    meanwhile: list[Response] = []

    def late_conflict(call: Call) -> Answer:
        meanwhile.append(erp.post("/products", BOLT, key="k1"))
        clock.advance(2)
        return cancelled_transaction(call, "TransactionConflict")

    with aws_faults.faulty(at_calls("TransactWriteItems", range(10), answer=late_conflict)):
        first = erp.post("/products", BOLT, key="k1")

    assert first.status == 201
    assert {answer.code for answer in meanwhile} == {"duplicate_in_flight"}


def test_overtaken_request_is_refused_while_the_repeat_runs(
    stack: Stack, erp: Erp, aws_faults: AwsFaults, clock: Clock
) -> None:
    """The first request is refused as in flight: also when it was about to refuse its caller."""
    erp.get("/products")
    clock.freeze()
    others: list[str] = []

    def steal(call: Call, forward: Forward) -> Answer:
        """Let the first request meet the claim of a repeat that has not ended."""
        if call.operation == "PutItem" and not others:
            answer = forward()
            others.append("repeat")
            store, key = stack.store(), call.request["Item"]
            store.client.update_item(
                TableName=store.table,
                Key={name: key[name] for name in ("PK", "SK")},
                UpdateExpression="SET #owner = :other",
                ExpressionAttributeNames={"#owner": "owner"},
                ExpressionAttributeValues={":other": {"S": "repeat"}},
            )
            return answer
        return forward()

    for body in (BOLT, {**BOLT, "category_id": 99}):
        others.clear()
        with aws_faults.faulty(steal):
            first = erp.post("/products", body, key=f"k{len(body)}")
        assert (first.status, first.code) == (409, "duplicate_in_flight")
        assert first.headers["Retry-After"] == "5"
    assert erp.walk("/products") == []


def test_key_expires_after_a_day(erp: Erp, clock: Clock) -> None:
    erp.post("/products", BOLT, key="k1")
    clock.advance(24 * 3600 - 60)
    assert erp.post("/products", _NUT, key="k1").code == "idempotency_key_reused"
    clock.advance(120)

    assert erp.post("/products", _NUT, key="k1").status == 201


def test_failure_of_aws_releases_the_key(erp: Erp, aws_faults: AwsFaults, clock: Clock) -> None:
    assert clock
    erp.get("/products")
    with aws_faults.faulty(throttle(1, times=3)):  # the number of attempts of botocore
        answer = erp.post("/products", BOLT, key="k1")
    assert (answer.status, answer.code) == (503, "service_unavailable")
    assert int(answer.headers["Retry-After"]) >= 1

    assert erp.post("/products", BOLT, key="k1").status == 201


# A response that is as large as what is changed


def test_response_that_does_not_fit_beside_the_change_is_refused(stack: Stack) -> None:
    claim = _claim(stack, "one")
    text = random.Random(1).randbytes(1_300_000).hex()  # noqa: S311 - it is compressed to half

    def change(parts: int) -> Transaction:
        tx = Transaction(claim.store)
        for part in range(parts):
            tx.put(item_at((f"crate#{part}", "HEAD"), data=bytes(PART_SIZE)))
        return tx

    with pytest.raises(Conflict, match=r"have 4\d{6} bytes, at most 4194304 .* without an Idem"):
        claim.complete(change(MAX_PARTS), HttpResponse(200, text))
    fitting = change(MAX_PARTS - 1)
    claim.complete(fitting, HttpResponse(200, text))
    fitting.commit()
    with pytest.raises(AlreadyAnswered) as replayed:
        _claim(stack, "one")
    assert replayed.value.response.body == text


# The name of a request


def _claim(stack: Stack, body: str) -> IdempotencyClaim:
    partition, operation = "idempotency#erp#k1", "POST /products"
    claim = claim_key(stack.store(), partition=partition, fingerprint=body, operation=operation)
    with suppress(StaleRead):
        claim.request()
    claim.request()
    return claim


def test_repeat_keeps_the_name_of_an_interrupted_request(stack: Stack, clock: Clock) -> None:
    first = _claim(stack, "one")
    with pytest.raises(DuplicateInFlight):
        _claim(stack, "one")
    clock.advance(5)
    second = _claim(stack, "one")
    assert second.request() == first.request()
    second.end_with_error(ServiceUnavailable(), HttpResponse(503, "", {}))
    assert _claim(stack, "one").request() == first.request()


def test_another_request_gets_a_name_of_its_own(stack: Stack, clock: Clock) -> None:
    assert clock
    names = set()
    for body in ("one", "two", "one"):
        claim = _claim(stack, body)
        names.add(claim.request())
        claim.end_with_error(ServiceUnavailable(), HttpResponse(503, "", {}))
    assert len(names) == 3


def test_name_is_new_when_the_key_has_expired(stack: Stack, clock: Clock) -> None:
    first = _claim(stack, "one")
    clock.advance(24 * 3600 + 60)
    assert _claim(stack, "one").request() != first.request()


def test_claim_of_an_earlier_release_is_named_by_its_partition(stack: Stack, clock: Clock) -> None:
    first, store = _claim(stack, "one"), stack.store()
    store.client.update_item(
        TableName=store.table,
        Key=first.claim.held.attributes,
        UpdateExpression="REMOVE #request",
        ExpressionAttributeNames={"#request": "request"},
    )
    clock.advance(5)
    assert _claim(stack, "one").request() == first.partition


@pytest.mark.parametrize(
    "key",
    ["", " ", " \t ", "é", "a\n", "a\tb", "\x00", "\x7f", "x" * 256, "\ud800", "\u200b", "\xa0k"],
)
def test_key_has_at_most_255_printable_ascii_characters(stack: Stack, erp: Erp, key: str) -> None:
    answer = erp.post("/products", BOLT, key=key)

    assert (answer.status, answer.code) == (400, "bad_request")
    assert stack.items() == []


@pytest.mark.parametrize(
    "key",
    ["x" * 255, "#HEAD", "../..", "{}", "idempotency#erp#k", "order 7 of acme", "a  b", "~ !"],
)
def test_key_may_contain_special_characters(erp: Erp, key: str) -> None:
    first = erp.post("/products", BOLT, key=key)

    assert first.status == 201
    assert erp.post("/products", BOLT, key=key).text == first.text


def test_space_around_a_key_is_not_part_of_it(erp: Erp) -> None:
    first = erp.post("/products", BOLT, key="order 7")

    for padded in (" order 7", "order 7\t ", "\t" + " " * 300 + "order 7"):
        again = erp.post("/products", BOLT, key=padded)
        assert (again.text, again.headers["Idempotent-Replayed"]) == (first.text, "true")
    assert erp.post("/products", BOLT, key="order  7").status == 422


def test_repeat_during_the_commit_is_duplicate_in_flight(erp: Erp, aws_faults: AwsFaults) -> None:
    first = erp.post("/products", BOLT, key="k1")

    with aws_faults.faulty(refuse_calls("PutItem", code="TransactionConflictException")):
        meanwhile = erp.post("/products", BOLT, key="k1")

    assert (meanwhile.status, meanwhile.code) == (409, "duplicate_in_flight")
    assert meanwhile.headers["Retry-After"] == "1"
    assert erp.post("/products", BOLT, key="k1").text == first.text
