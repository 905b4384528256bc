"""The packaging of products: weight, measures and GTINs, each of one product."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from operations.verify import verify_tenant
from shared.kernel.db.items import to_attributes
from tests.gateway import Erp, Response
from tests.interleaving import Act, Scheduler, each_seed
from tests.stack import Stack

PIECE, CASE, SMALL = "4006381333931", "14006381333938", "96385074"
EMPTY: Mapping[str, object] = {
    "weight_kg": None,
    "length_mm": None,
    "width_mm": None,
    "height_mm": None,
    "gtins": [],
    "units": [],
}
WHOLE: Mapping[str, object] = {
    "weight_kg": 0.42,
    "length_mm": 120,
    "width_mm": 80.5,
    "height_mm": 35,
    "gtins": [
        {"gtin": PIECE, "units": 1, "unit": None},
        {"gtin": CASE, "units": 12, "unit": "BOX"},
    ],
    "units": [{"unit": "BOX", "qty": 12}],
}


@pytest.fixture
def goods(stack: Stack) -> Erp:
    """The products BOLT (1) and NUT (2)."""
    erp = stack.erp()
    for code in ("BOLT", "NUT"):
        assert erp.post("/products", {"item_code": code, "name": code.title()}).status == 201
    return erp


def _put(erp: Erp, number: int, *gtins: str, **more: object) -> Response:
    return erp.put(f"/products/{number}/packaging", {"gtins": _named(*gtins), **more})


def _named(*gtins: str) -> list[Mapping[str, object]]:
    return [{"gtin": gtin} for gtin in gtins]


def test_packaging_is_changed_field_by_field(goods: Erp, stack: Stack) -> None:
    path = "/products/1/packaging"
    assert goods.get(path).data == EMPTY
    product = goods.get("/products/1").data

    assert goods.put(path, WHOLE).data == WHOLE
    changed = goods.put(path, {"weight_kg": None, "gtins": _named(PIECE)})

    named = {"gtin": PIECE, "units": 1, "unit": None}
    shown = {**WHOLE, "weight_kg": None, "gtins": [named]}
    assert (changed.status, changed.data) == (200, shown)
    assert goods.get(path).data == shown
    after = goods.get("/products/1").data
    assert after.keys() == product.keys(), "a product is shown without its packaging"
    assert after["updated_at"] > product["updated_at"]
    events = [event for event in stack.events() if event["type"]["S"] == "product.updated"]
    assert [event["version"]["N"] for event in events] == ["2", "3"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"gtins": _named("4006381333932", "123")}, "gtins.0.gtin gtins.1.gtin"),
        ({"gtins": _named(SMALL, PIECE, "0000" + SMALL)}, "gtins.2.gtin"),
        ({"gtins": _named(CASE), "height_mm": 0}, "height_mm gtins.0.gtin"),
        (
            {
                "units": [{"unit": "", "qty": 0}, {"unit": "BOX", "qty": 1}, {"unit": "box"}],
                "gtins": [{"gtin": CASE, "unit": "BAG"}],
            },
            "units.0.unit units.0.qty units.2.qty gtins.0.gtin units.2.unit gtins.0.unit",
        ),
    ],
)
def test_all_problems_are_reported_at_once(goods: Erp, body: object, fields: str) -> None:
    assert _put(goods, 2, CASE).status == 200

    answer = goods.put("/products/1/packaging", body)

    assert answer.invalid_fields == fields.split()
    assert goods.get("/products/1/packaging").data == EMPTY


def test_gtin_belongs_to_one_product_in_each_of_its_forms(goods: Erp) -> None:
    assert _put(goods, 1, PIECE).status == 200

    for form in (PIECE, f"0{PIECE}"):
        taken = _put(goods, 2, form)
        [problem] = taken.json()["errors"]
        assert problem["message"] == "is already a GTIN of BOLT (product, id 1)"
    assert _put(goods, 1, f"0{PIECE}", SMALL).status == 200, "its own in another form"
    assert _put(goods, 1, SMALL).status == 200
    assert _put(goods, 2, PIECE).status == 200, "a GTIN that was left out is free"


def test_gtins_follow_a_new_code_and_are_free_after_a_deletion(goods: Erp) -> None:
    assert _put(goods, 1, PIECE, CASE).status == 200
    assert goods.patch("/products/1", {"item_code": "SCREW"}).status == 200

    assert "of SCREW (product, id 1)" in _put(goods, 2, PIECE).text
    assert goods.delete("/products/1").status == 200

    assert _put(goods, 2, PIECE, CASE).status == 200
    assert [_put(goods, 1, SMALL).status, goods.get("/products/1/packaging").status] == [410, 410]
    assert not verify_tenant("acme").listed


def test_gtin_that_the_previous_release_left_behind_is_taken_again(
    goods: Erp, stack: Stack
) -> None:
    store = stack.store()
    item = {"PK": f"gtin#0{PIECE}", "SK": "ALIAS", "id": 1, "item_code": "BOLT", "units": 6}
    store.client.put_item(TableName=store.table, Item=to_attributes(item))

    assert _put(goods, 2, PIECE).status == 422
    assert _put(goods, 1, PIECE).status == 200


def _move(erp: Erp) -> Sequence[Act[Response]]:
    """One product gives up a GTIN that another takes."""
    assert _put(erp, 1, PIECE).status == 200
    return [lambda: _put(erp, 1, SMALL), lambda: _put(erp, 2, PIECE)]


def _swap(erp: Erp) -> Sequence[Act[Response]]:
    assert [_put(erp, 1, PIECE).status, _put(erp, 2, SMALL).status] == [200, 200]
    return [lambda: _put(erp, 1, SMALL), lambda: _put(erp, 2, PIECE)]


def _put_and_delete(erp: Erp) -> Sequence[Act[Response]]:
    return [lambda: _put(erp, 1, PIECE), lambda: erp.delete("/products/1")]


def _put_and_rename(erp: Erp) -> Sequence[Act[Response]]:
    renamed: Act[Response] = lambda: erp.patch("/products/1", {"item_code": "SCREW"})  # noqa: E731
    return [lambda: _put(erp, 1, PIECE), renamed]


def _put_and_change(erp: Erp) -> Sequence[Act[Response]]:
    named: Act[Response] = lambda: erp.patch("/products/1", {"name": "Screw"})  # noqa: E731
    return [lambda: _put(erp, 1, PIECE), named]


@pytest.mark.parametrize(
    ("prepare", "outcomes"),
    [
        (_move, {(200, 200), (200, 422)}),
        (_swap, {(422, 422)}),
        (_put_and_delete, {(200, 200), (410, 200)}),
        (_put_and_rename, {(200, 200)}),
        (_put_and_change, {(200, 200)}),
    ],
)
def test_gtins_and_products_agree_after_concurrent_changes(
    prepare: Callable[[Erp], Sequence[Act[Response]]],
    outcomes: set[Any],
    *,
    goods: Erp,
    stack: Stack,
    scheduler: Scheduler,
) -> None:
    acts = prepare(goods)

    for seed in each_seed(stack):
        answers = scheduler.run(acts, seed)
        assert tuple(answer.status for answer in answers) in outcomes
        assert not verify_tenant("acme").listed
