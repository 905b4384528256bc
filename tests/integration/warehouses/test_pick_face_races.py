"""Concurrent changes of pick faces, products and positions."""

from collections.abc import Callable, Sequence

import pytest

from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp, Response
from tests.integration.warehouses.faces import assert_faces_are_true, assign, face, furnish
from tests.interleaving import DEFAULT_SEED_COUNT, Act, Scheduler, replayable, seeds
from tests.sampling import sampled
from tests.stack import Stack

type Acts = Sequence[Act[Response]]
type Outcome = tuple[int, ...]
"""Status of the response to each request."""


@pytest.fixture
def scheduler(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    return Scheduler(aws_faults, monkeypatch)


def _assign_and_delete_product(erp: Erp) -> Acts:
    return [lambda: assign(erp), lambda: erp.delete("/products/1")]


def _assign_and_delete_position(erp: Erp) -> Acts:
    return [lambda: assign(erp), lambda: erp.delete("/warehouse-positions/1")]


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
        (_assign_and_delete_product, {(201, 409), (422, 200)}),
        (_assign_and_delete_position, {(201, 409), (422, 200)}),
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
    restore = stack.take_snapshot()

    for seed in seeds(DEFAULT_SEED_COUNT):
        restore()
        with replayable(seed):
            answers = scheduler.run(acts, seed)
            assert tuple(answer.status for answer in answers) in outcomes
            assert_faces_are_true(stack)


_ASSIGNING = ("POST", "/pick-faces", face())
_GOING = (
    ("DELETE", "/products/1", None),
    ("DELETE", "/warehouse-positions/1", None),
    ("PATCH", "/products/1", {"item_code": "SCREW"}),
    ("PATCH", "/warehouse-positions/1", {"bin_code": "A-09"}),
)
_MOST_CALLS = 30

type Operation = tuple[str, str, object]


class _InterleavedRequest:
    """Sends a request after the n-th AWS call of another request."""

    def __init__(self, erp: Erp, operation: Operation, behind: int) -> None:
        self.answer: Response | None = None
        self._erp = erp
        self._deed = operation
        self._left = behind

    def __call__(self, _call: Call, forward: Forward) -> Answer:
        answer = forward()
        self._left -= 1
        if self._left == 0:
            self.answer = self._erp.send(*self._deed)
        return answer


@pytest.mark.parametrize("going", _GOING, ids=str)
@pytest.mark.parametrize("assigning_first", [True, False])
def test_assignment_and_deletion_never_both_succeed(
    going: Operation,
    *,
    assigning_first: bool,
    stack: Stack,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert clock.monotonic() > 0  # the clock fixture makes waits immediate
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)
    erp = stack.erp()
    furnish(erp)
    restore = stack.take_snapshot()
    first, second = (_ASSIGNING, going) if assigning_first else (going, _ASSIGNING)

    family = f"{going[:2]} {assigning_first}"
    for behind in sampled(family, range(1, _MOST_CALLS), every=8):
        restore()
        interleaved = _InterleavedRequest(erp, second, behind)
        with aws_faults.faulty(interleaved):
            outer = erp.send(*first)
        if interleaved.answer is None:
            break
        succeeded = [answer.status for answer in (outer, interleaved.answer) if answer.status < 300]
        assert len(succeeded) == 1, (outer.text, interleaved.answer.text)
        assert_faces_are_true(stack)
    else:
        pytest.fail("a request makes more calls than that")
    assert behind > 4, "something was tried"
