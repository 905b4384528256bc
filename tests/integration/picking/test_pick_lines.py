"""Several picks in one request, and all that is allocated."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from tests.cases import each_case
from tests.clock import Clock
from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.call_faults import at_calls, die
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

type Line = Mapping[str, object]

_BRICK = {"item_code": "BRICK", "qty": 2, "bin_code": "A-01"}
_CEMENT = {"item_code": "CEMENT", "qty": 3, "bin_code": "A-01", "batch": "L1"}
_DRILL = {"item_code": "DRILL", "qty": 1, "bin_code": "A-01"}


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


def _started(yard: WarehouseScenario) -> int:
    """Start the picking of an order of 5 bricks, 3 bags of cement and 2 drills at A-01 and B-01."""
    yard.stock("BRICK", 4)
    yard.stock("BRICK", 2, "B-01")
    yard.stock("CEMENT", 3, batch="L1", expiry_date="2030-01-31")
    yard.stock_serials("S-1", "S-2")
    return yard.started(yard.order(("BRICK", 5), ("CEMENT", 3), ("DRILL", 2)))


def _send(
    yard: WarehouseScenario, number: int, *lines: object, key: str | None = None, **more: object
) -> Response:
    return yard.erp.post(f"/pickings/{number}/picks", {"lines": lines, **more}, key=key)


def _lines() -> list[Line]:
    return [
        {**_BRICK, "qty": 3},
        _CEMENT,
        {**_DRILL, "serials": ["S-2"]},
        {**_BRICK, "qty": 1},
        {**_BRICK, "qty": 1, "bin_code": "B-01"},
    ]


def _picked(answer: Response) -> list[tuple[object, ...]]:
    return [(one["item_code"], one["bin_code"], one["picked_qty"]) for one in answer.data["lines"]]


def test_lines_are_picked_in_one_transaction_as_single_picks_are(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    number = _started(yard)

    with aws_faults.recorded() as seen:
        answer = _send(yard, number, *_lines())

    assert answer.status == 200, answer.text
    assert sorted(_picked(answer)) == [
        ("BRICK", "A-01", 4), ("BRICK", "B-01", 1), ("CEMENT", "A-01", 3), ("DRILL", "A-01", 1),
    ]  # fmt: skip
    assert answer.json()["unapplied"] == []
    assert seen.operations.count("TransactWriteItems") == 1
    moved = yard.erp.walk("/stock-movements", type="pick", sort="created_at")
    assert [(one["item_code"], one["qty"]) for one in moved] == [
        ("BRICK", 3), ("CEMENT", 3), ("DRILL", 1), ("BRICK", 1), ("BRICK", 1),
    ]  # fmt: skip
    assert yard.document(1)["lines"][0]["open_qty"] == 0
    assert yard.erp.get(f"/pickings/{number}").data == answer.data
    assert "unapplied" not in yard.pick(number, "DRILL", 1, serials=["S-1"]).json()


def test_all_that_is_allocated_is_picked_where_it_is(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    number = _started(yard)
    yard.pick(number, "BRICK", 1).ok()

    with aws_faults.recorded() as seen:
        answer = yard.act(number, "picks", as_allocated=True)

    assert answer.status == 200, answer.text
    assert {(one["qty"] - one["picked_qty"]) for one in answer.data["lines"]} == {0}
    assert seen.operations.count("TransactWriteItems") == 1
    assert yard.level("BRICK") == (6, 5, 1)
    again = yard.act(number, "picks", as_allocated=True)
    assert again.problems == {"as_allocated": f"nothing is allocated to PKG-{number}"}
    assert yard.act(number, "finalize").status == 200


def test_expired_goods_that_are_allocated_are_named(yard: WarehouseScenario, clock: Clock) -> None:
    yard.stock("BRICK", 1)
    yard.stock("CEMENT", 3, batch="L1", expiry_date="2027-06-30")
    number = yard.started(yard.order(("BRICK", 1), ("CEMENT", 3)))
    clock.advance(365 * 86_400)

    refused = yard.act(number, "picks", as_allocated=True)

    assert refused.invalid_fields == ["as_allocated"]
    assert refused.problems["as_allocated"].startswith("CEMENT at A-01: batch L1 of CEMENT expired")
    assert yard.level("BRICK") == (1, 1, 0)


def test_problems_of_all_lines_come_at_once_and_nothing_is_picked(
    yard: WarehouseScenario, stack: Stack
) -> None:
    number = _started(yard)
    before = len(stack.items())

    refused = _send(
        yard,
        number,
        {**_BRICK, "qty": 4},
        {**_BRICK, "qty": 2, "bin_code": "B-01"},
        {**_CEMENT, "batch": None},
        {**_DRILL, "serials": ["S-9"]},
        {"item_code": "BRICK", "qty": 0},
        "a line",
        {**_DRILL, "serials": ["S-9"]},
    )

    assert refused.status == 422
    assert sorted(refused.problems.items()) == [
        ("lines.1.qty", "2 picked, 1 of BRICK left to pick there"),
        ("lines.2.batch", "must be a batch that is allocated there: L1"),
        ("lines.3.serials", "serial S-9 is not available at A-01: it is not in stock"),
        ("lines.4.bin_code", "is required"),
        ("lines.4.qty", "must be more than 0"),
        ("lines.5", "must be an object"),
        ("lines.6.serials.0", "serial S-9 is already in lines.3"),
    ]
    assert len(stack.items()) == before


def test_lines_that_only_conflict_are_named(yard: WarehouseScenario) -> None:
    yard.change_settings(pick_substitution="any")
    yard.stock("BRICK", 3)
    number = yard.started(yard.order(("BRICK", 3)))
    yard.stock("BRICK", 2, "B-01")
    yard.picking(yard.order(("BRICK", 2)))

    refused = _send(yard, number, _BRICK, {**_BRICK, "qty": 1, "bin_code": "B-01"})

    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.json()["message"].startswith("1 of 2 lines cannot be applied")
    assert refused.conflicts == {
        "lines.1.qty": "1 of BRICK picked at B-01, 0 free there;"
        " the rest is allocated to other work"
    }
    assert yard.level("BRICK")[1] == 5


@each_case(
    ("body", "problems"),
    [
        ({"lines": [_BRICK], "qty": 2, "as_allocated": True}, {
            "qty": "is not allowed beside lines", "as_allocated": "is not allowed beside lines",
        }),
        ({"as_allocated": True, **_BRICK}, {
            "item_code": "is not allowed beside as_allocated",
            "qty": "is not allowed beside as_allocated",
            "bin_code": "is not allowed beside as_allocated",
        }),
        ({"as_allocated": False}, {
            "qty": "is required", "bin_code": "is required", "item_code": "is required",
        }),
        ({"lines": []}, {"lines": "must have at least 1 entry"}),
        ({"lines": None}, {"lines": "must be a list"}),
        ({"lines": [{**_BRICK, "qty": "3"}] * 101}, {"lines": "must have at most 100 entries"}),
        ({"as_allocated": "yes"}, {"as_allocated": "must be true or false"}),
        ({"lines": [{"gtin": "4006381333931", "qty": 1, "bin_code": "A-01"}]},
         {"lines.0.gtin": "no product has the GTIN 4006381333931"}),
    ],
)  # fmt: skip
def test_invalid_body_is_refused(
    yard: WarehouseScenario, body: Mapping[str, object], problems: Mapping[str, str]
) -> None:
    yard.stock("BRICK", 500)
    number = yard.started(yard.order(("BRICK", 500)))

    refused = yard.erp.post(f"/pickings/{number}/picks", body)

    assert refused.problems == problems


def test_gtins_and_units_of_lines_count_units(yard: WarehouseScenario) -> None:
    packaging = {
        "units": [{"unit": "BOX", "qty": 2}],
        "gtins": [{"gtin": "4006381333931", "units": 3}],
    }
    assert yard.erp.put("/products/1/packaging", packaging).status == 200
    yard.stock("BRICK", 9)
    number = yard.started(yard.order(("BRICK", 9)))

    by_gtin = {"gtin": "4006381333931", "qty": 1, "bin_code": "A-01"}
    answer = _send(yard, number, {**_BRICK, "qty": 3, "unit": "box"}, by_gtin)

    assert _picked(answer) == [("BRICK", "A-01", 9)]


@pytest.mark.usefixtures("small_steps")
def test_line_that_becomes_impossible_meanwhile_is_left_out(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    number = _started(yard)

    def interfere() -> None:
        yard.pick(number, "DRILL", 1, serials=["S-2"]).ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(yard, number, *_lines())

    assert answer.status == 200
    [left_out] = answer.json()["unapplied"]
    assert left_out["line"] == 2
    assert left_out["message"].startswith("DRILL at A-01: serial S-2 is not available at A-01")
    assert sorted(_picked(answer)) == [
        ("BRICK", "A-01", 4), ("BRICK", "B-01", 1), ("CEMENT", "A-01", 3), ("DRILL", "A-01", 1),
    ]  # fmt: skip


@pytest.mark.usefixtures("small_steps")
def test_picking_that_ends_meanwhile_leaves_out_the_other_lines(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    number = _started(yard)

    def interfere() -> None:
        yard.act(number, "finalize", shortage_reason="other").ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", {2}, before=interfere)):
        answer = yard.act(number, "picks", as_allocated=True)

    assert (answer.status, answer.data["status"]) == (200, "finalized")
    left_out = answer.json()["unapplied"]
    assert len(left_out) == 2
    assert {one["line"] for one in left_out} == {None}
    assert left_out[0]["message"].startswith(f"CEMENT at A-01: Picking {number} is finalized")


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("body", ["lines", "as_allocated"])
def test_repeat_of_a_killed_request_goes_on_and_answers_the_same(
    yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock, moment: str, body: str
) -> None:
    number = _started(yard)
    sent = {"lines": _lines()} if body == "lines" else {"as_allocated": True}

    def send() -> Response:
        return yard.erp.post(f"/pickings/{number}/picks", sent, key="k")

    step = partial(at_calls, "TransactWriteItems", {2})
    assert aws_faults.kills(step(before=die) if moment == "before" else step(after=die), send)
    clock.advance(6)

    answer = send()

    assert (answer.status, answer.json()["unapplied"]) == (200, [])
    again = send()
    assert (again.text, again.headers["Idempotent-Replayed"]) == (answer.text, "true")
    moved = yard.erp.walk("/stock-movements", type="pick", sort="created_at")
    assert sum(one["qty"] for one in moved) == (9 if body == "lines" else 10)


@pytest.mark.usefixtures("small_steps")
def test_repeat_of_a_killed_request_names_what_was_left_out_before(
    yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    number = _started(yard)
    send = partial(_send, yard, number, *_lines(), key="k")

    picked = list[Response]()

    def interfere_or_die() -> None:
        if picked:
            die()
        picked.append(yard.pick(number, "CEMENT", 1, batch="L1"))

    fault = at_calls("TransactWriteItems", {1, 4}, before=interfere_or_die)
    assert aws_faults.kills(fault, send)
    clock.advance(6)

    answer = send()

    assert [one["line"] for one in answer.json()["unapplied"]] == [1]
    assert sorted(_picked(answer)) == [
        ("BRICK", "A-01", 4), ("BRICK", "B-01", 1), ("CEMENT", "A-01", 1), ("DRILL", "A-01", 1),
    ]  # fmt: skip


def test_concurrent_requests_pick_each_line_once(yard: WarehouseScenario, stack: Stack) -> None:
    number = _started(yard)

    answers = at_once(*[lambda: _send(yard, number, *_lines()) for _ in range(20)])

    assert sorted(answer.status for answer in answers) == [200] + [422] * 19
    assert len(yard.erp.walk("/stock-movements", type="pick", sort="created_at")) == 5
    assert_invariants(stack.store())


@pytest.mark.usefixtures("small_steps")
def test_concurrent_requests_in_steps_pick_nothing_twice(
    yard: WarehouseScenario, stack: Stack
) -> None:
    number = _started(yard)

    answers = at_once(
        *[lambda: _send(yard, number, *_lines()) for _ in range(10)],
        *[lambda: yard.act(number, "picks", as_allocated=True) for _ in range(10)],
    )

    assert {answer.status for answer in answers} <= {200, 422}
    shown = yard.erp.get(f"/pickings/{number}").data["lines"]
    assert {one["item_code"]: one["picked_qty"] for one in shown}["CEMENT"] == 3
    assert sum(one["picked_qty"] for one in shown) <= 10
    assert_invariants(stack.store())


def test_serials_of_lines_are_exchanged_with_another_picking(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2", "S-3", "S-4")
    number = yard.started(yard.order(("DRILL", 2)))
    other = yard.picking(yard.order(("DRILL", 2)))

    answer = _send(yard, number, *({**_DRILL, "serials": [one]} for one in ("S-3", "S-4")))

    assert answer.data["lines"][0]["serials"] == ["S-3", "S-4"]
    shown = yard.erp.get(f"/pickings/{other['id']}").data["lines"]
    assert shown[0]["serials"] == ["S-1", "S-2"]


def test_line_that_is_left_out_exchanges_no_serials(
    yard: WarehouseScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 14)  # the first line, or the others
    yard.stock("BRICK", 2)
    yard.stock_serials("S-1", "S-2", "S-3", "S-4", "S-5", "S-6", "S-7", "S-8")
    number = yard.started(yard.order(("DRILL", 6), ("BRICK", 2)))
    other = yard.picking(yard.order(("DRILL", 1)))

    def interfere() -> None:
        yard.adjust("DRILL", decrease=1, serial="S-8").ok(201)

    own = {**_DRILL, "qty": 4, "serials": ["S-1", "S-2", "S-3", "S-4"]}
    exchanged = {**_DRILL, "qty": 2, "serials": ["S-7", "S-8"]}
    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(yard, number, own, exchanged, _BRICK)

    [left_out] = answer.json()["unapplied"]
    assert left_out["line"] == 1
    assert left_out["message"].startswith("DRILL at A-01: serial S-8 is not available")
    assert sorted(_picked(answer)) == [("BRICK", "A-01", 2), ("DRILL", "A-01", 4)]
    assert yard.erp.get(f"/pickings/{other['id']}").data["lines"][0]["serials"] == ["S-7"]


def _many(count: int) -> Sequence[str]:
    return [f"P-{number:02d}" for number in range(count)]


def test_many_lines_take_few_transactions(
    yard: WarehouseScenario, aws_faults: AwsFaults, stack: Stack
) -> None:
    codes = _many(40)
    for code in codes:
        assert yard.erp.post("/products", {"item_code": code, "name": code}).status == 201
        yard.stock(code, 3)
    number = yard.started(yard.order(*((code, 2) for code in codes)))

    with aws_faults.recorded() as seen:
        answer = yard.act(number, "picks", as_allocated=True)

    assert {one["status"] for one in answer.data["lines"]} == {"picked"}
    assert seen.operations.count("TransactWriteItems") == 3
    assert_invariants(stack.store())
