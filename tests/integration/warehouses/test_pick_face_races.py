"""Concurrent changes of pick faces, products and positions."""

from collections.abc import Callable, Sequence

import pytest

from tests.faults import AwsFaults, before_first
from tests.gateway import Erp, Response
from tests.integration.warehouses.faces import assert_faces_are_true, assign, furnish
from tests.interleaving import Act, Scheduler, each_seed
from tests.stack import Stack

type Acts = Sequence[Act[Response]]
type Outcome = tuple[int, ...]
"""Status of the response to each request."""


def _delete_product_and_pick_face(erp: Erp) -> Acts:
    assert assign(erp).status == 201
    return [lambda: erp.delete("/pick-faces/1"), lambda: erp.delete("/products/1")]


def _assign_twice(erp: Erp) -> Acts:
    return [lambda: assign(erp, minimum=1), lambda: assign(erp, maximum=9)]


def _assign_two_products(erp: Erp) -> Acts:
    return [lambda: assign(erp, "BOLT"), lambda: assign(erp, "NUT")]


def _remove_and_change(erp: Erp) -> Acts:
    assert assign(erp).status == 201
    return [lambda: erp.delete("/pick-faces/1"), lambda: assign(erp, minimum=3)]


@pytest.mark.parametrize(
    ("prepare", "outcomes"),
    [
        (_delete_product_and_pick_face, {(200, 200), (200, 409)}),
        (_assign_twice, {(201, 200), (200, 201)}),
        (_assign_two_products, {(201, 201)}),
        (_remove_and_change, {(200, 200), (200, 201)}),
    ],
)
def test_pick_face_never_outlives_its_product_or_position(
    prepare: Callable[[Erp], Acts], outcomes: set[Outcome], stack: Stack, scheduler: Scheduler
) -> None:
    erp = stack.erp()
    furnish(erp)
    acts = prepare(erp)

    for seed in each_seed(stack):
        answers = scheduler.run(acts, seed)
        assert tuple(answer.status for answer in answers) in outcomes
        assert_faces_are_true(stack)


def test_pick_face_that_is_assigned_meanwhile_is_changed(
    stack: Stack, aws_faults: AwsFaults
) -> None:
    erp = stack.erp()
    furnish(erp)

    with aws_faults.faulty(before_first("TransactWriteItems", lambda: assign(erp, maximum=9))):
        answer = assign(erp, minimum=1)

    assert answer.status == 200
    assert len(erp.get("/pick-faces").data) == 1
    assert_faces_are_true(stack)
