"""What movements change of what is on hand."""

from decimal import Decimal

from shared.warehouse.stock.models import Movement, MovementPlace
from shared.warehouse.stock.on_hand import on_hand_effects
from tests.cases import each_case

_YARD = MovementPlace(whs_code="YARD", bin_code="A-01", inventory_status="available")
_SHOP = MovementPlace(whs_code="SHOP", bin_code="A-01", inventory_status="staged")
_TRAVELLING = MovementPlace(whs_code="SHOP", bin_code=None, inventory_status="in_transit")


def _movement(origin: MovementPlace | None, target: MovementPlace | None) -> Movement:
    return Movement(
        id=1, type="transfer", product_id=1, item_code="BRICK", qty=Decimal(3), origin=origin,
        target=target, batch_num=None, serial_number=None, document=None, user_id=None,
        client_id=None, reason=None, created_at="2026-03-01T00:00:00.000Z",
    )  # fmt: skip


@each_case(
    ("origin", "target", "effects"),
    [
        (None, _YARD, {"YARD": 3}),
        (_YARD, None, {"YARD": -3}),
        (_YARD, _YARD, {}),
        (_YARD, _SHOP, {"YARD": -3, "SHOP": 3}),
        (_YARD, _TRAVELLING, {"YARD": -3}),
        (_TRAVELLING, _SHOP, {"SHOP": 3}),
    ],
    named=["in", "out", "within a warehouse", "to another one", "dispatched", "received"],
)
def test_goods_in_transit_are_not_on_hand(
    origin: MovementPlace | None, target: MovementPlace | None, effects: dict[str, int]
) -> None:
    found = on_hand_effects(_movement(origin, target))
    assert {code: int(qty) for code, qty in found.items()} == effects
