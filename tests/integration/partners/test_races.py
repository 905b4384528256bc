"""Concurrent changes of partners."""

from collections import Counter

import pytest

from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.between_calls import before_each_call
from tests.integration.partners.conftest import Make, ids
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("slow_aws_calls")

_AT_ONCE = 8


def test_concurrent_changes_to_one_document_id_succeed_once(
    stack: Stack, erp: Erp, create_client: Make
) -> None:
    numbers = [create_client(f"Client {n}", document_id=100 + n)["id"] for n in range(_AT_ONCE)]

    answers = run_concurrently(
        _AT_ONCE, lambda n: erp.patch(f"/clients/{numbers[n]}", {"document_id": 5})
    )

    assert Counter(answer.status for answer in answers) == {200: 1, 422: _AT_ONCE - 1}
    (winner,) = [answer.data["id"] for answer in answers if answer.status == 200]
    assert ids(erp.walk("/clients", document_id=5)) == [winner]
    # Refused clients keep their number, and the old number of the winner is not taken.
    for n, number in enumerate(numbers):
        body = {"name": "Late", "document_id": 100 + n}
        assert erp.post("/clients", body).status == (201 if number == winner else 422)
    assert_counters_match(stack, read_stored_entities(stack))


def test_change_succeeds_when_the_same_change_is_made_meanwhile(
    stack: Stack, erp: Erp, create_client: Make, slow_aws_calls: AwsFaults
) -> None:
    path = f"/clients/{create_client(document_id=5)['id']}"
    for _ in before_each_call(
        stack, slow_aws_calls, lambda: erp.patch(path, {"document_id": 6}).ok(),
        lambda: erp.patch(path, {"document_id": 6}).ok(),
        family="change of a document_id", every=1, at_least=2,
    ):  # fmt: skip
        assert ids(erp.walk("/clients", document_id=6)) == [1]


def test_document_id_that_moves_during_a_deletion_stays_with_its_new_client(
    stack: Stack, erp: Erp, create_client: Make
) -> None:
    create_client(document_id=5)

    def act(n: int) -> Response:
        body = {"name": f"Heir {n}", "document_id": 5}
        return erp.delete("/clients/1") if n == 0 else erp.post("/clients", body)

    answers = run_concurrently(_AT_ONCE, act)

    heirs = [answer.data["id"] for answer in answers[1:] if answer.status == 201]
    assert answers[0].status == 200
    assert {answer.status for answer in answers[1:]} <= {201, 422}
    assert len(heirs) <= 1
    assert ids(erp.walk("/clients", document_id=5)) == heirs
    late = erp.post("/clients", {"name": "Late", "document_id": 5})
    assert late.status == (422 if heirs else 201)
    assert_counters_match(stack, read_stored_entities(stack))
