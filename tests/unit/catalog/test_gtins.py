"""Lines that name their products by GTIN, on plain data."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import pytest

from shared.kernel.db.items import Item, Key
from shared.kernel.db.store import Store
from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.validation import InvalidBody, check, problems_of
from shared.warehouse.catalog.gtins import gtins_resolved, line_gtins_resolved
from shared.warehouse.catalog.repository import gtin_key
from shared.warehouse.packing.models import ContentsDraft
from shared.warehouse.returns.models import ReturnArrival

CASE, PIECE = "14006381333938", "96385074"
_ALIASES: Mapping[Key, Item] = {
    gtin_key(CASE): {"id": 1, "item_code": "BRICK", "units": 12},
    gtin_key(PIECE): {"id": 2, "item_code": "CEMENT", "units": 1},
}


class _Aliases:
    """A store with the aliases of two GTINs, which counts its reads."""

    def __init__(self) -> None:
        self.reads: list[list[Key]] = []

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Item]:
        self.reads.append(list(keys))
        return {key: _ALIASES[key] for key in self.reads[-1] if key in _ALIASES}


@pytest.fixture
def aliases() -> _Aliases:
    return _Aliases()


def _store(aliases: _Aliases) -> Store:
    return cast("Store", aliases)


def _named(aliases: _Aliases, *lines: object) -> tuple[list[tuple[Any, Any]], dict[str, str]]:
    """Return item code and quantity of each line of an arrival, and the problems by field."""
    body = check(ReturnArrival, {"lines": list(lines)})
    with line_gtins_resolved(_store(aliases), body) as named:
        found = problems_of(named)
    assert isinstance(named, InvalidBody) == bool(found)
    goods = [(line.item_code, line.qty) for line in named.lines or ()]
    return goods, {problem.field: problem.message for problem in found}


def _line(**values: object) -> dict[str, object]:
    return {"qty": 2, "bin_code": "A-01", **values}


def test_lines_are_named_with_one_read(aliases: _Aliases) -> None:
    lines = [_line(gtin=CASE), _line(item_code="TILE"), _line(gtin=PIECE), _line(gtin=CASE)]
    goods, problems = _named(aliases, *lines)
    assert goods == [("BRICK", 24), ("TILE", 2), ("CEMENT", 2), ("BRICK", 24)]
    assert problems == {}
    assert [set(keys) for keys in aliases.reads] == [set(_ALIASES)]


def test_lines_with_item_codes_cost_no_read(aliases: _Aliases) -> None:
    assert _named(aliases, _line(item_code="TILE")) == ([("TILE", 2)], {})
    assert aliases.reads == []


def test_all_problems_of_lines_are_named(aliases: _Aliases) -> None:
    goods, problems = _named(
        aliases,
        _line(),
        _line(gtin="4006381333931"),
        _line(gtin="4006381333932"),
        _line(gtin=CASE, item_code="BRICK"),
        _line(gtin=CASE, qty=90_000_000),
        _line(gtin=CASE, qty=0),
        _line(item_code=5),
        7,
    )
    assert problems == {
        "lines.0.item_code": "is required",
        "lines.1.gtin": "no product has the GTIN 4006381333931",
        "lines.2.gtin": "ends in the check digit 2, which must be 1",
        "lines.3.gtin": "must not be sent together with item_code",
        "lines.4.qty": "must count at most 999999999 units; 1080000000 requested",
        "lines.5.qty": "must be more than 0",
        "lines.6.item_code": "must be a text",
        "lines.7": problems["lines.7"],
    }
    assert goods == [
        (None, 2), (None, 2), (None, 2), ("BRICK", 2), ("BRICK", None), ("BRICK", None),
        (None, 2), (None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("refusal", [ValidationFailed, RuleBlocked])
def test_problems_of_a_product_are_those_of_its_gtin(
    aliases: _Aliases, refusal: type[ValidationFailed | RuleBlocked]
) -> None:
    fields = ["lines.0.item_code", "lines.1.item_code", "lines.1.qty", "lines.1.item_code.x"]
    body = check(ReturnArrival, {"lines": [_line(item_code="TILE"), _line(gtin=CASE)]})
    with pytest.raises(refusal) as refused, line_gtins_resolved(_store(aliases), body):
        raise refusal([Problem(field, "no") for field in fields])
    assert [one.field for one in refused.value.problems] == [
        "lines.0.item_code", "lines.1.gtin", "lines.1.qty", "lines.1.item_code.x",
    ]  # fmt: skip
    for goods, field in (({"gtin": CASE}, "gtin"), ({"item_code": "BRICK"}, "item_code")):
        draft = check(ContentsDraft, {**goods, "qty": 1})
        with pytest.raises(refusal) as refused, gtins_resolved(_store(aliases), [draft]):
            raise refusal([Problem("item_code", "no")])
        assert [one.field for one in refused.value.problems] == [field]
