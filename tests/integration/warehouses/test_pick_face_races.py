"""Products and positions go, and pick faces come and go, at the same time."""

from collections.abc import Callable, Sequence

import pytest

from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp, Response
from tests.integration.warehouses.faces import assert_faces_are_true, assign, face, furnish
from tests.interleaving import USUAL, Act, Scheduler, replayable, seeds
from tests.stack import Stack

type Acts = Sequence[Act[Response]]
type Outcome = tuple[int, ...]
"""What each act was answered."""


@pytest.fixture
def scheduler(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Few shards of counters, since moto is slow and deletions write them all."""
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)
    monkeypatch.setattr("shared.kernel.db.transaction.SHARDS", 2)
    return Scheduler(aws_faults, monkeypatch)


def _a_product_is_deleted(erp: Erp) -> Acts:
    return [lambda: assign(erp), lambda: erp.delete("/products/1")]


def _a_position_is_deleted(erp: Erp) -> Acts:
    return [lambda: assign(erp), lambda: erp.delete("/warehouse-positions/1")]


def _a_product_is_deleted_while_its_pick_face_goes(erp: Erp) -> Acts:
    assert assign(erp).status == 201
    return [lambda: erp.delete("/pick-faces/1"), lambda: erp.delete("/products/1")]


def _two_assign_the_same(erp: Erp) -> Acts:
    return [lambda: assign(erp, minimum=1), lambda: assign(erp, maximum=9)]


def _two_assign_to_one_position(erp: Erp) -> Acts:
    return [lambda: assign(erp, "BOLT"), lambda: assign(erp, "NUT")]


def _one_removes_what_another_changes(erp: Erp) -> Acts:
    assert assign(erp).status == 201
    return [lambda: erp.delete("/pick-faces/1"), lambda: assign(erp, minimum=3)]


@pytest.mark.parametrize(
    ("prepare", "outcomes"),
    [
        (_a_product_is_deleted, {(201, 409), (422, 200)}),
        (_a_position_is_deleted, {(201, 409), (422, 200)}),
        (_a_product_is_deleted_while_its_pick_face_goes, {(200, 200), (200, 409)}),
        (_two_assign_the_same, {(201, 200), (200, 201)}),
        (_two_assign_to_one_position, {(201, 201)}),
        (_one_removes_what_another_changes, {(200, 200), (200, 201)}),
    ],
)
def test_pick_face_never_outlives_its_product_or_position(
    prepare: Callable[[Erp], Acts], outcomes: set[Outcome], stack: Stack, scheduler: Scheduler
) -> None:
    erp = stack.erp()
    furnish(erp)
    acts = prepare(erp)
    restore = stack.keep()

    for seed in seeds(USUAL):
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
_MOST_CALLS = 20

type Deed = tuple[str, str, object]


class _SlipsIn:
    """Lets a request happen, whole, behind the n-th call of another one."""

    def __init__(self, erp: Erp, deed: Deed, behind: int) -> None:
        self.answer: Response | None = None
        self._erp = erp
        self._deed = deed
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
    going: Deed, *, assigning_first: bool, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock.monotonic() > 0  # waits pass at once
    erp = stack.erp()
    furnish(erp)
    restore = stack.keep()
    first, second = (_ASSIGNING, going) if assigning_first else (going, _ASSIGNING)

    for behind in range(1, _MOST_CALLS):
        restore()
        slips_in = _SlipsIn(erp, second, behind)
        with aws_faults.faulty(slips_in):
            outer = erp.send(*first)
        if slips_in.answer is None:
            break
        succeeded = [answer.status for answer in (outer, slips_in.answer) if answer.status < 300]
        assert len(succeeded) == 1, (outer.text, slips_in.answer.text)
        assert_faces_are_true(stack)
    else:
        pytest.fail("a request makes more calls than that")
    assert behind > 4, "something was tried"
