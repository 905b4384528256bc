"""Several write partners at the same instant."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.partners.answers import ids, problems
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.stack import Stack

type Make = Callable[..., dict[str, Any]]

_AT_ONCE = 8


def at_once(send: Callable[[int], Response]) -> list[Response]:
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


def test_one_document_id_makes_one_client(stack: Stack, erp: Erp) -> None:
    answers = at_once(lambda n: erp.post("/clients", {"name": f"Client {n}", "document_id": 5}))

    assert Counter(answer.status for answer in answers) == {201: 1, 422: _AT_ONCE - 1}
    refused = [answer for answer in answers if answer.status == 422]
    assert all(set(problems(answer)) == {"document_id"} for answer in refused)
    (made,) = [answer.data for answer in answers if answer.status == 201]
    assert erp.walk("/clients") == erp.walk("/clients", document_id=5) == [made]
    assert_counters_match(stack, read_stored_entities(stack))


def test_one_free_document_id_goes_to_one_client(stack: Stack, erp: Erp, client: Make) -> None:
    numbers = [client(f"Client {n}", document_id=100 + n)["id"] for n in range(_AT_ONCE)]

    answers = at_once(lambda n: erp.patch(f"/clients/{numbers[n]}", {"document_id": 5}))

    assert Counter(answer.status for answer in answers) == {200: 1, 422: _AT_ONCE - 1}
    (winner,) = [answer.data["id"] for answer in answers if answer.status == 200]
    assert ids(erp.walk("/clients", document_id=5)) == [winner]
    # The request that lost keeps its own number; the old number of the other one is free.
    for n, number in enumerate(numbers):
        body = {"name": "Late", "document_id": 100 + n}
        assert erp.post("/clients", body).status == (201 if number == winner else 422)
    assert_counters_match(stack, read_stored_entities(stack))


def test_a_client_that_changes_its_number_many_times_has_one(
    stack: Stack, erp: Erp, client: Make
) -> None:
    client(document_id=99)

    answers = at_once(lambda n: erp.patch("/clients/1", {"document_id": 100 + n}))

    assert {answer.status for answer in answers} == {200}
    kept = erp.get("/clients/1").data["document_id"]
    for number in [99, *range(100, 100 + _AT_ONCE)]:
        answer = erp.post("/clients", {"name": "Late", "document_id": number})
        assert answer.status == (422 if number == kept else 201), number
    assert_counters_match(stack, read_stored_entities(stack))


def test_one_of_many_deletes_takes_effect(stack: Stack, erp: Erp, client: Make) -> None:
    before = client(document_id=5)

    answers = at_once(lambda _: erp.delete("/clients/1"))

    assert Counter(answer.status for answer in answers) == {200: 1, 410: _AT_ONCE - 1}
    assert next(answer.data for answer in answers if answer.status == 200) == before
    assert client(document_id=5)["id"] == 2
    assert_counters_match(stack, read_stored_entities(stack))


def test_a_number_given_away_while_its_client_goes_stays_with_its_new_owner(
    stack: Stack, erp: Erp, client: Make
) -> None:
    client(document_id=5)

    def act(n: int) -> Response:
        body = {"name": f"Heir {n}", "document_id": 5}
        return erp.delete("/clients/1") if n == 0 else erp.post("/clients", body)

    answers = at_once(act)

    heirs = [answer.data["id"] for answer in answers[1:] if answer.status == 201]
    assert answers[0].status == 200
    assert {answer.status for answer in answers[1:]} <= {201, 422}
    assert len(heirs) <= 1
    assert ids(erp.walk("/clients", document_id=5)) == heirs
    late = erp.post("/clients", {"name": "Late", "document_id": 5})
    assert late.status == (422 if heirs else 201)
    assert_counters_match(stack, read_stored_entities(stack))


def test_changes_of_one_provider_at_once_lose_none(stack: Stack, erp: Erp, provider: Make) -> None:
    provider()
    fields = ["name", "description", "phone", "paymentinfo"]

    answers = at_once(lambda n: erp.patch("/providers/1", {fields[n % 4]: f"new {n % 4}"}))

    assert {answer.status for answer in answers} == {200}
    after = erp.get("/providers/1").data
    assert [after[name] for name in fields] == ["new 0", "new 1", "new 2", "new 3"]
    assert_counters_match(stack, read_stored_entities(stack))
