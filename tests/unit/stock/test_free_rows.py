"""The rows with available stock that a level names."""

import random
from decimal import Decimal
from itertools import product

from shared.kernel.db.items import to_attributes
from shared.kernel.db.records import Record, encode_entity
from shared.kernel.db.schema import SCHEMA_VERSION
from shared.warehouse.stock.free_rows import SeenRows, named_rows, rows_to_name
from shared.warehouse.stock.models import FreeGroup, StockRow, StoredLevel
from shared.warehouse.stock.repository import LEVELS
from tests.dynamodb.capacity import item_size
from tests.unit.stock.test_rules import BEFORE, NOW_MS, row


def _level(free_rows: list[FreeGroup] | None = None, **more: object) -> StoredLevel:
    level = StoredLevel(
        event_id=7, product_id=1, item_code="BRICK", whs_code="YARD", created_at=BEFORE,
        updated_at=BEFORE, on_hand=Decimal(10), free_rows=free_rows or [],
    )  # fmt: skip
    return level.model_copy(update=more)


def _seen(*rows: StockRow, are_all: bool = False) -> SeenRows:
    return SeenRows({one.id: one for one in rows}, are_all)


def test_level_names_the_rows_that_have_available_stock_after_a_change() -> None:
    before = _level([("A-01", False, [1, 2]), ("B-01", True, [3])])
    seen = SeenRows(
        {
            1: row(id=1, allocated=Decimal(5)),
            2: None,
            4: row(id=4, bin_code="B-01", expiry_date="2030-01-31"),
            5: row(id=5, inventory_status="damaged"),
        },
        are_all=False,
    )

    named = rows_to_name(before, before, seen)

    assert named == [("B-01", True, [3, 4])]
    found = named_rows(_level(named))
    assert found is not None
    assert [(one.id, one.bin_code, one.expiry_date) for one in found] == [
        (3, "B-01", ""), (4, "B-01", ""),
    ]  # fmt: skip


def test_level_without_names_has_them_again_once_a_change_has_seen_all_rows() -> None:
    unknown, empty = _level(), _level(on_hand=Decimal(0))

    assert named_rows(unknown) is None
    assert named_rows(empty) == named_rows(None) == []
    assert rows_to_name(unknown, unknown, _seen(row(id=1))) == []
    for before, seen in (
        (unknown, _seen(row(id=1), are_all=True)),
        (empty, _seen(row(id=1))),
    ):
        assert rows_to_name(before, unknown, seen) == [("A-01", False, [1])]


def test_level_names_no_rows_that_would_take_it_to_a_kilobyte() -> None:
    """Each change of stock would then cost two more write units."""
    letters = random.Random(1)  # noqa: S311 - a text that compresses badly

    def text(length: int) -> str:
        return "".join(letters.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=length))

    def size(level: StoredLevel) -> int:
        record = Record(10**24, 9_999, level, schema=SCHEMA_VERSION, written_by=bytes(16))
        _, head, _ = encode_entity(LEVELS.key(10**23), "Level", record)
        return item_size(to_attributes({**head, **LEVELS.derived_attributes(record)}))

    quantity = Decimal("123456789.123456")
    names = ("allocated", "committed", "incoming", "in_transit")
    full = dict.fromkeys(names, quantity)
    rows = [
        row(id=10**11 + letters.randrange(10**11), bin_code=text(12), qty=quantity)
        for _ in range(40)
    ]
    holds = [(NOW_MS + letters.randrange(10**9), Decimal(at)) for at in range(1, 9)]
    most = 0
    for held, length in product(range(len(holds)), (5, 20, 35, 50)):
        codes = {"item_code": text(length), "whs_code": text(length)}
        plain = _level().model_copy(
            update={**full, **codes, "on_hand": quantity * 5, "holds": holds[:held]}
        )
        for count in range(1, len(rows)):
            groups = rows_to_name(plain, plain, _seen(*rows[:count], are_all=True))
            level = plain.model_copy(update={"free_rows": groups})
            assert not groups or size(level) < 1024, (held, length, count)
            most = max(most, len(groups))
    assert most == 10
