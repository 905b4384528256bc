"""Rules of picks: the picks of everything that is allocated."""

from collections.abc import Sequence
from decimal import Decimal

import pytest

from shared.warehouse.picking import pick_rules, rules
from shared.warehouse.picking.models import (
    MAX_SERIALS,
    Allocation,
    PickDraft,
    StoredPicking,
    StoredPickingLine,
)

AT = "2026-03-01T09:30:00.000Z"


def _line(*parts: tuple[int, str | None], batch: str | None = None) -> StoredPickingLine:
    """Return a line of cement with allocations of these quantities and serials."""
    allocations = [
        Allocation(
            stock_id=at, position_id=1, bin_code="A-01", batch_num="L1", serial=serial,
            qty=Decimal(qty),
        )
        for at, (qty, serial) in enumerate(parts)
    ]  # fmt: skip
    return StoredPickingLine(
        document_id=1, document_line=1, product_id=1, item_code="CEMENT", batch_num=batch,
        qty=sum((one.qty for one in allocations), Decimal(0)), allocations=allocations,
    )  # fmt: skip


def _picking(lines: Sequence[StoredPickingLine]) -> StoredPicking:
    return StoredPicking(
        id=1, uuid="", status="started", created_at=AT, updated_at=AT, whs_code="YARD",
        warehouse_id=1, lines=list(lines),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "picks"),
    [
        ([_line((100, None))] * 25 + [_line((1, None), batch="L1")] * 5, [2_005, 500]),
        ([_line((999_999_999, None)), _line((2, None))], [999_999_999, 2]),
        ([_line(*((1, f"S-{number}") for number in range(1000)))], [25] * 40),
    ],
    ids=["lines that are filled first", "more than one pick may have", "serials"],
)
def test_all_that_is_allocated_is_split_into_picks_without_a_problem(
    lines: Sequence[StoredPickingLine], picks: Sequence[int]
) -> None:
    picking = _picking(lines)
    goods = list(pick_rules.allocated_goods(picking))

    assert [int(one.qty) for one in goods] == picks
    for one in goods:
        assert list(pick_rules.pick_problems(picking, one, "none")) == []
        parts = pick_rules.split_pick(picking, one, "none")
        assert len(parts) <= MAX_SERIALS
        for part in parts:
            assert part.exact
            picking = rules.without_allocation(picking, part)
    assert not any(line.allocations for line in picking.lines)


def test_only_the_batches_at_the_position_of_a_pick_are_named() -> None:
    line = _line((1, None), (1, None))
    elsewhere = {"bin_code": "B-01", "batch_num": "L2"}
    line.allocations[1] = line.allocations[1].model_copy(update=elsewhere)
    draft = PickDraft(item_code="CEMENT", qty=Decimal(1), bin_code="A-01", batch="L9")

    [problem] = pick_rules.pick_problems(_picking([line]), draft, "none")

    assert problem.message == "must be a batch that is allocated there: L1"
