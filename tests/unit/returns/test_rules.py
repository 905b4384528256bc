"""What returns take of an exit document, and which goods count for which line."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.returns import arrival_rules, disposition_rules, limits, rules
from shared.warehouse.returns.models import (
    DispositionDraft,
    ReturnArrival,
    ReturnedGoods,
    StoredReturn,
)
from shared.warehouse.warehouses.models import KnownPosition
from tests.master_data import known_position

NOW = "2026-03-01T12:00:00.000Z"
A_01 = known_position(1, "A-01")


def _at(position: KnownPosition) -> MasterData:
    return MasterData({}, {}, {("YARD", position.bin_code): position})


def a_return(*lines: dict[str, Any], status: str = "expected") -> StoredReturn:
    """Return a return of BRICK, product 1, unless a line says otherwise."""
    return StoredReturn.model_validate(
        {
            "id": 1, "status": status, "card_code": "C-1", "warehouse_id": 1, "whs_code": "YARD",
            "source": "api", "created_at": NOW, "updated_at": NOW,
            "lines": [
                {"id": at, "line_num": at, "product_id": 1, "item_code": "BRICK", **line}
                for at, line in enumerate(lines, start=1)
            ],
        }
    )  # fmt: skip


def after(one: StoredReturn, *goods: dict[str, Any]) -> StoredReturn:
    """Return a return after goods arrived at A-01."""
    lines = [{"item_code": "BRICK", "bin_code": "A-01", **line} for line in goods]
    arrival = ReturnArrival.model_validate({"lines": lines})
    return arrival_rules.with_arrival(one, arrival, _at(A_01))


def received(one: StoredReturn) -> list[Decimal]:
    return [line.received_qty for line in one.lines]


def test_goods_fill_the_lines_and_the_rest_counts_for_the_first() -> None:
    one = after(a_return({"qty": 2}, {"qty": 3}), {"qty": 4})
    assert received(one) == [2, 2]
    assert received(after(one, {"qty": 2})) == [3, 3]


def test_goods_count_first_for_the_line_of_their_batch() -> None:
    lines = ({"qty": 2, "batch_num": "L1"}, {"qty": 2}, {"qty": 2, "batch_num": "L2"})
    assert received(after(a_return(*lines), {"qty": 3, "batch": "L2"})) == [0, 1, 2]


def test_serial_counts_for_the_line_that_announced_it() -> None:
    lines = ({"qty": 1}, {"qty": 1, "serials": ["S-2"]})
    one = after(a_return(*lines), {"qty": 1, "serials": ["S-2"]})
    assert received(one) == [0, 1]
    assert received(after(one, {"qty": 1, "serials": ["S-3"]})) == [1, 1]


def test_open_return_takes_what_it_announced_and_what_came_above() -> None:
    one = a_return({"qty": 2, "serials": ["S-1", "S-2"]})
    assert limits.taken_by(one) == ReturnedGoods(qty={1: Decimal(2)}, serials={1: ["S-1", "S-2"]})
    one = after(one, {"qty": 1, "serials": ["S-3"]})
    assert limits.taken_by(one).serials == {1: ["S-1", "S-2", "S-3"]}
    ended = one.model_copy(update={"status": "received"})
    assert limits.taken_by(ended) == ReturnedGoods(qty={1: Decimal(1)}, serials={1: ["S-3"]})
    assert limits.taken_by(one.model_copy(update={"status": "cancelled"})) == ReturnedGoods()


_TAKEN = st.builds(
    lambda qty, serials: ReturnedGoods(
        qty={product: Decimal(one) for product, one in qty.items()},
        serials={product: sorted(some) for product, some in serials.items()},
    ),
    st.dictionaries(st.integers(1, 3), st.integers(1, 9)),
    st.dictionaries(st.integers(1, 3), st.sets(st.sampled_from("ABC"), min_size=1)),
)


@given(_TAKEN, _TAKEN)
def test_what_a_return_no_longer_takes_is_as_if_it_never_had(
    others: ReturnedGoods, own: ReturnedGoods
) -> None:
    nothing = ReturnedGoods()
    own = own.model_copy(
        update={
            "serials": {
                product: rest
                for product, some in own.serials.items()
                if (rest := [one for one in some if one not in others.serials.get(product, ())])
            }
        }
    )
    with_own = limits.with_change(others, nothing, own)
    assert limits.with_change(with_own, own, nothing) == limits.with_change(
        others, nothing, nothing
    )


@pytest.mark.parametrize(
    ("status", "goods", "open_qty", "shown"),
    [
        ("expected", 0, 0, "open"), ("receiving", 0, 0, "open"), ("receiving", 1, 1, "partial"),
        ("receiving", 2, 2, "received"), ("received", 0, 0, "short"), ("received", 1, 1, "short"),
        ("received", 2, 1, "received"), ("received", 1, 0, "dispositioned"),
        ("dispositioned", 0, 0, "short"), ("dispositioned", 2, 0, "dispositioned"),
        ("cancelled", 0, 0, "cancelled"),
    ],
)  # fmt: skip
def test_status_of_a_line(status: str, goods: int, open_qty: int, shown: str) -> None:
    there = [{"position_id": 1, "bin_code": "A-01", "qty": goods, "open_qty": open_qty}]
    one = a_return({"qty": 2, "goods": there if goods else []}, status=status)
    assert rules.line_status(one, one.lines[0]) == shown


def decide(one: StoredReturn, *lines: dict[str, Any]) -> tuple[StoredReturn, list[Any], list[Any]]:
    drafts = [DispositionDraft.model_validate({"item_code": "BRICK", **line}) for line in lines]
    return disposition_rules.take_goods(one, dict(enumerate(drafts)))


def test_dispositions_take_goods_of_several_lines_and_places() -> None:
    one = after(a_return({"qty": 2}, {"qty": 2}), {"qty": 3})
    changed, parts, problems = decide(
        one, {"qty": 1, "action": "scrap"}, {"qty": 2, "action": "restock"}
    )
    assert not problems
    assert [(part.at, part.qty) for part in parts] == [(0, 1), (1, 2)], "one movement each"
    assert [line.scrapped_qty for line in changed.lines] == [1, 0]
    assert [line.restocked_qty for line in changed.lines] == [1, 1]
    assert disposition_rules.decided(changed, NOW).status == "dispositioned"
    partly, _, _ = decide(one, {"qty": 1, "action": "quarantine"})
    assert disposition_rules.decided(partly, NOW).status == one.status


def test_disposition_of_more_than_has_arrived_is_a_problem() -> None:
    one = after(a_return({"qty": 2, "serials": ["S-1"]}), {"qty": 1, "serials": ["S-1"]})
    _, _, problems = decide(one, {"qty": 2, "serials": ["S-1", "S-2"], "action": "scrap"})
    assert [problem.field for problem in problems] == ["lines.0.serials.1"]
    gone, _, _ = decide(one, {"qty": 1, "serials": ["S-1"], "action": "scrap"})
    _, _, problems = decide(gone, {"qty": 1, "serials": ["S-1"], "action": "restock"})
    assert [problem.field for problem in problems] == ["lines.0.serials.0"]


def test_request_that_takes_goods_from_many_places_is_a_problem() -> None:
    one = a_return({"qty": 40})
    for number in range(13):
        position = known_position(number, f"B-{number}")
        body = {"lines": [{"item_code": "BRICK", "qty": 1, "bin_code": position.bin_code}]}
        arrival = ReturnArrival.model_validate(body)
        one = arrival_rules.with_arrival(one, arrival, _at(position))
    _, parts, problems = decide(one, {"qty": 13, "action": "restock"})
    assert len(parts) == 13
    assert [problem.field for problem in problems] == ["lines"]
    assert not decide(one, {"qty": 12, "action": "restock"})[2]
    assert not decide(one, {"qty": 13, "action": "quarantine"})[2]


def test_goods_of_many_lines_at_one_place_are_moved_together() -> None:
    one = after(a_return(*[{"qty": 1}] * 40), {"qty": 40})
    changed, parts, problems = decide(one, {"qty": 40, "action": "restock"})
    assert ([part.qty for part in parts], problems) == ([40], [])
    assert [line.restocked_qty for line in changed.lines] == [1] * 40
