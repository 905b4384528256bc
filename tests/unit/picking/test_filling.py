"""Which goods the lines of pickings accept."""

import pytest

from shared.warehouse.picking.filling import WantedGoods

_DATE, _LATER = "2026-03-10", "2026-03-11"


@pytest.mark.parametrize(
    ("batches", "expiry_date", "first_day", "goods", "is_admitted"),
    [
        ([], None, None, (None, None), True),
        (["L1"], None, None, ("L1", None), True),
        (["L1"], None, None, ("L2", None), False),
        (["L1"], None, None, (None, None), False),
        ([], _DATE, None, ("L1", _DATE), True),
        ([], _DATE, None, ("L1", _LATER), False),
        ([], _DATE, None, (None, None), False),
        (["L1"], _DATE, None, ("L1", _LATER), False),
        ([], None, _LATER, (None, _DATE), False),
        ([], None, _DATE, (None, _DATE), True),
        ([], None, _DATE, (None, None), True),
        ([], _DATE, _LATER, (None, _DATE), False),
    ],
)
def test_goods_are_admitted_by_batch_date_and_first_day(
    batches: list[str],
    expiry_date: str | None,
    first_day: str | None,
    goods: tuple[str | None, str | None],
    is_admitted: bool,  # noqa: FBT001 - the expected result
) -> None:
    wanted = WantedGoods(frozenset(batches), expiry_date, first_day)

    assert wanted.admits(*goods) is is_admitted
