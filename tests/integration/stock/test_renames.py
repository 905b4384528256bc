"""Master data gets another code: its stock follows, and nothing else gets the old code."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after_step, kill_before, stuck_before
from tests.gateway import Erp, Response
from tests.integration.between_calls import before_each_call
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import sampled
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("consistent_stock")

BRICK, CEMENT, DRILL = "/products/1", "/products/2", "/products/3"
YARD, POSITION = "/warehouses/1", "/warehouse-positions/1"


@pytest.fixture
def emptied_yard(erp: Erp) -> WarehouseScenario:
    """The warehouse YARD, where every product has had stock at A-01 and none is left."""
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    lots: tuple[dict[str, str], ...] = ({}, {"batch": "LOT-1"}, {"serial": "S-1"})
    for code, lot in zip(("BRICK", "CEMENT", "DRILL"), lots, strict=True):
        yard.stock(code, 1, **lot)
        take_out(yard, code, **lot)
    return yard


def take_out(yard: WarehouseScenario, code: str, **more: object) -> None:
    yard.adjust(code, decrease=1, **more).ok(201)


def rows(yard: WarehouseScenario, **filters: object) -> list[tuple[str, str, str]]:
    """Return the product, warehouse and position of each stock row."""
    return [
        (row["item_code"], row["position"]["whs_code"], row["position"]["bin_code"])
        for row in yard.erp.get("/stocks", query=filters).data
    ]


def levels(yard: WarehouseScenario, **filters: object) -> list[tuple[str, str | None]]:
    """Return the product and warehouse of each level."""
    shown = yard.erp.get("/stock-levels", query=filters).data
    return [(level["item_code"], level["whs_code"]) for level in shown]


def delete_positions(yard: WarehouseScenario) -> None:
    for position in yard.erp.walk("/warehouse-positions"):
        assert yard.erp.delete(f"/warehouse-positions/{position['id']}").status == 200


def assert_code_belongs_to(answer: Response, field: str, owner: str) -> None:
    assert (answer.status, answer.json()["error"]["field"]) == (422, field), answer.text
    assert f"was the code of {owner}" in answer.text


def test_stock_follows_the_code_of_a_product(emptied_yard: WarehouseScenario, stack: Stack) -> None:
    assert emptied_yard.erp.patch(BRICK, {"item_code": "PAVER"}).status == 200

    assert rows(emptied_yard, item_code="PAVER") == [("PAVER", "YARD", "A-01")]
    assert rows(emptied_yard, item_code="BRICK") == []
    for more in ({}, {"totals": "true"}):
        whs_code = None if more else "YARD"
        assert levels(emptied_yard, item_code="PAVER", **more) == [("PAVER", whs_code)]
        assert levels(emptied_yard, item_code="BRICK", **more) == []
        assert levels(emptied_yard, **more) == [(c, whs_code) for c in ("CEMENT", "DRILL", "PAVER")]
    emptied_yard.stock("PAVER", 3)
    [raised] = [
        one for one in stack.events() if "PAVER" in str(one) and "stock" in str(one["type"])
    ]
    assert "BRICK" not in str(raised)
    [latest] = emptied_yard.erp.get("/stock-movements", query={"per_page": 1}).data
    assert latest["item_code"] == "PAVER"


def test_stock_of_an_interrupted_rename_follows_the_next_code_of_its_product(
    emptied_yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    with (
        pytest.raises(Killed),
        aws_faults.faulty(kill_after_step(2)),
    ):  # the first is the retirement
        emptied_yard.erp.patch(BRICK, {"item_code": "BLOCK"})
    assert rows(emptied_yard, item_code="BLOCK") == [("BLOCK", "YARD", "A-01")]
    clock.advance(31)  # the mark of the retirement has expired

    emptied_yard.erp.patch(BRICK, {"item_code": "PAVER"}).ok()

    assert rows(emptied_yard, item_code="PAVER") == [("PAVER", "YARD", "A-01")]
    assert rows(emptied_yard, item_code="BLOCK") == []


def test_stock_follows_the_code_of_a_warehouse(emptied_yard: WarehouseScenario) -> None:
    delete_positions(emptied_yard)
    assert emptied_yard.erp.patch(YARD, {"whs_code": "MAIN"}).status == 200

    products = ["BRICK", "CEMENT", "DRILL"]
    assert levels(emptied_yard, warehouse="MAIN") == [(code, "MAIN") for code in products]
    assert levels(emptied_yard, warehouse="YARD") == []
    assert rows(emptied_yard, warehouse="MAIN") == [(code, "MAIN", "A-01") for code in products]
    body = {"whs_code": "MAIN", "bin_code": "A-01"}
    assert emptied_yard.erp.post("/warehouse-positions", body).status == 201
    emptied_yard.stock("BRICK", 2, warehouse="MAIN")
    [latest] = emptied_yard.erp.get("/stock-movements", query={"per_page": 1}).data
    assert latest["to"]["whs_code"] == "MAIN"


def test_levels_of_a_deleted_warehouse_keep_its_code(emptied_yard: WarehouseScenario) -> None:
    delete_positions(emptied_yard)
    assert emptied_yard.erp.delete(YARD).status == 200
    new = emptied_yard.erp.post("/warehouses", {"whs_code": "YARD", "name": "New"}).data["id"]
    assert emptied_yard.erp.patch(f"/warehouses/{new}", {"whs_code": "MAIN"}).status == 200
    assert levels(emptied_yard, warehouse="MAIN") == []
    assert levels(emptied_yard, item_code="BRICK") == [("BRICK", "YARD")]


def test_levels_that_an_interrupted_rename_has_changed_follow_their_stock(
    emptied_yard: WarehouseScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    delete_positions(emptied_yard)
    with (
        pytest.raises(Killed),
        aws_faults.faulty(kill_after_step(2)),
    ):  # the first is the retirement
        emptied_yard.erp.patch(YARD, {"whs_code": "MAIN"})
    assert levels(emptied_yard, warehouse="YARD") == []
    clock.advance(31)  # the mark of the retirement has expired

    position = {"whs_code": "YARD", "bin_code": "C-01"}
    emptied_yard.erp.post("/warehouse-positions", position).ok(201)
    emptied_yard.stock("BRICK", 1, "C-01")

    assert levels(emptied_yard, warehouse="YARD") == [("BRICK", "YARD")]


def test_stock_follows_the_code_of_a_position(emptied_yard: WarehouseScenario) -> None:
    assert emptied_yard.erp.patch(POSITION, {"bin_code": "A-99"}).status == 200

    products = ["BRICK", "CEMENT", "DRILL"]
    assert rows(emptied_yard, bin_code="A-99") == [(code, "YARD", "A-99") for code in products]
    assert rows(emptied_yard, bin_code="A-01") == []
    for code, lot in (("BRICK", {}), ("CEMENT", {"batch": "LOT-1"}), ("DRILL", {"serial": "S-1"})):
        emptied_yard.stock(code, 1, "A-99", **lot)
    assert [row["qty"] for row in emptied_yard.erp.get("/stocks").data] == [1, 1, 1]


def test_stock_follows_the_name_of_its_product_also_while_it_arrives(
    emptied_yard: WarehouseScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    for bin_code in ("A-01", "B-01"):
        emptied_yard.stock("BRICK", 3, bin_code)
    for _ in before_each_call(
        stack, aws_faults, lambda: emptied_yard.erp.patch(BRICK, {"name": "Red brick"}).ok(),
        lambda: emptied_yard.stock("BRICK", 1, "F-01"), family="goods during a rename", every=3,
        at_least=10,
    ):  # fmt: skip
        shown = emptied_yard.erp.get("/stocks", query={"item_code": "BRICK"}).data
        assert [row["product_name"] for row in shown] == ["Red brick"] * 3


def test_goods_that_join_or_leave_a_row_during_a_rename_of_their_product_get_the_new_name(
    emptied_yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    emptied_yard.stock("BRICK", 3)
    move = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [move]}
    acts: dict[str, Callable[[], object]] = {
        "arrival": lambda: emptied_yard.stock("BRICK", 1, "A-01"),
        "transfer": lambda: emptied_yard.erp.post("/transfers", body).ok(201),
    }
    for name, act in acts.items():
        for _ in before_each_call(
            stack, aws_faults, act, lambda: emptied_yard.erp.patch(BRICK, {"name": "Paver"}).ok(),
            family=f"rename during {name}", every=3, at_least=5,
        ):  # fmt: skip
            shown = emptied_yard.erp.get("/stocks", query={"item_code": "BRICK"}).data
            assert {row["product_name"] for row in shown} == {"Paver"}, name


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (BRICK, {"item_code": "PAVER"}),
        ("/warehouses/2", {"whs_code": "STORE"}),
        (POSITION, {"bin_code": "A-99"}),
    ],
)
def test_rename_succeeds_when_the_same_rename_is_made_meanwhile(
    path: str, body: object, erp: Erp, stack: Stack, aws_faults: AwsFaults
) -> None:
    WarehouseScenario.with_master_data(erp, "YARD")
    erp.post("/warehouses", {"whs_code": "SHOP", "name": "Shop"}).ok(201)
    with aws_faults.recorded() as seen:
        restore = stack.take_snapshot()
        erp.patch(path, body).ok()
    for at in range(seen.operations.index("TransactWriteItems") + 1):
        restore()
        with aws_faults.faulty(stuck_before(at, lambda: erp.patch(path, body).ok())):
            erp.patch(path, body).ok()


def test_code_that_movements_name_is_kept_for_its_product(emptied_yard: WarehouseScenario) -> None:
    assert emptied_yard.erp.patch(BRICK, {"item_code": "PAVER"}).status == 200
    new = {"item_code": "BRICK", "name": "Other"}

    assert_code_belongs_to(
        emptied_yard.erp.post("/products", new), "item_code", "PAVER (product, id 1)"
    )
    assert_code_belongs_to(
        emptied_yard.erp.patch(CEMENT, {"sku": "BRICK"}), "sku", "PAVER (product, id 1)"
    )
    unknown = emptied_yard.adjust("BRICK", increase=1)
    assert (unknown.status, unknown.json()["error"]["field"]) == (422, "item_code")
    assert emptied_yard.erp.patch(BRICK, {"item_code": "BRICK"}).status == 200
    assert rows(emptied_yard, item_code="BRICK") == [("BRICK", "YARD", "A-01")]
    # PAVER was never used.
    assert emptied_yard.erp.post("/products", {"item_code": "PAVER", "name": "Paver"}).status == 201
    assert emptied_yard.erp.patch(BRICK, {"item_code": "BRICK-2"}).status == 200
    assert emptied_yard.erp.delete(BRICK).status == 200
    assert emptied_yard.erp.post("/products", new).status == 201


def test_taken_code_is_reported_together_with_a_different_sku(
    emptied_yard: WarehouseScenario,
) -> None:
    body = {"item_code": "BRICK", "sku": "PAVER", "name": "Brick"}

    for answer in (emptied_yard.erp.post("/products", body), emptied_yard.erp.patch(CEMENT, body)):
        assert answer.problems == {
            "sku": "must be equal to item_code (BRICK)",
            "item_code": "is already taken by another product",
        }


def test_code_that_only_documents_name_is_kept_for_its_product(
    emptied_yard: WarehouseScenario,
) -> None:
    number = emptied_yard.erp.post("/products", {"item_code": "TILE", "name": "Tile"}).data["id"]
    order = emptied_yard.order(("TILE", 1))
    refused = emptied_yard.erp.patch(f"/products/{number}", {"item_code": "SLATE"})
    assert (refused.status, refused.code) == (409, "conflict")
    assert emptied_yard.erp.post(f"/exit-documents/{order}/close").status == 200

    assert emptied_yard.erp.patch(f"/products/{number}", {"item_code": "SLATE"}).status == 200

    taken = emptied_yard.erp.post("/products", {"item_code": "TILE", "name": "Tile"})
    assert_code_belongs_to(taken, "item_code", f"SLATE (product, id {number})")


def test_code_of_a_warehouse_is_kept_for_it(emptied_yard: WarehouseScenario) -> None:
    delete_positions(emptied_yard)
    assert emptied_yard.erp.patch(YARD, {"whs_code": "MAIN"}).status == 200
    new = {"whs_code": "YARD", "name": "Other"}

    assert_code_belongs_to(
        emptied_yard.erp.post("/warehouses", new), "whs_code", "MAIN (warehouse, id 1)"
    )
    assert [one["whs_code"] for one in emptied_yard.erp.get("/warehouses").data] == ["MAIN"]
    in_former = emptied_yard.erp.post(
        "/warehouse-positions", {"whs_code": "YARD", "bin_code": "A-01"}
    )
    assert (in_former.status, in_former.json()["error"]["field"]) == (422, "whs_code")
    assert emptied_yard.erp.delete(YARD).status == 200
    assert emptied_yard.erp.post("/warehouses", new).status == 201


def test_code_of_a_position_is_kept_for_it(emptied_yard: WarehouseScenario) -> None:
    assert emptied_yard.erp.patch(POSITION, {"bin_code": "A-99"}).status == 200
    new: dict[str, Any] = {"whs_code": "YARD", "bin_code": "A-01"}
    mask = {
        "whs_code": "YARD",
        "naming_mask": "A-{slot}",
        "slots": {"from": 1, "to": 2, "digits": 2},
    }

    owner = "A-99 (position of YARD, id 1)"
    assert_code_belongs_to(emptied_yard.erp.post("/warehouse-positions", new), "bin_code", owner)
    assert_code_belongs_to(
        emptied_yard.erp.patch("/warehouse-positions/2", {"bin_code": "A-01"}), "bin_code", owner
    )
    assert_code_belongs_to(
        emptied_yard.erp.post("/warehouse-positions/bulk", mask), "naming_mask", owner
    )
    wrong = {**mask, "capacity_units": -1, "pick_sequence_start": 1_000_000_000}
    assert set(emptied_yard.erp.post("/warehouse-positions/bulk", wrong).invalid_fields) == {
        "capacity_units", "naming_mask", "pick_sequence_start",
    }  # fmt: skip
    assert emptied_yard.erp.delete(POSITION).status == 200
    assert emptied_yard.erp.post("/warehouse-positions", new).status == 201
    emptied_yard.stock("BRICK", 1, "A-01")
    assert rows(emptied_yard, item_code="BRICK", status="in") == [("BRICK", "YARD", "A-01")]


def test_product_on_an_open_receipt_cannot_get_another_code(
    emptied_yard: WarehouseScenario,
) -> None:
    receiving = ReceivingScenario(emptied_yard.erp, emptied_yard)
    receipt = receiving.started(receiving.order({"qty": 1}))
    receiving.receive(receipt, 1).ok()
    take_out(emptied_yard, "BRICK")

    refused = emptied_yard.erp.patch(BRICK, {"item_code": "PAVER"})

    assert (refused.status, refused.code) == (409, "conflict")
    receiving.act(receipt, "finalize").ok()
    assert emptied_yard.erp.patch(BRICK, {"item_code": "PAVER"}).status == 200


def test_interrupted_rename_is_completed_by_the_same_request(
    emptied_yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Whatever has died, the new code is nobody else's, and a repeated request does the rest."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    for batch in ("LOT-2", "LOT-3"):
        emptied_yard.stock("CEMENT", 1, batch=batch)
        take_out(emptied_yard, "CEMENT", batch=batch)
    restore = stack.take_snapshot()
    for at in sampled("interrupted rename", range(100), every=9):
        restore()
        try:
            with aws_faults.faulty(kill_before(at)):
                done = emptied_yard.erp.patch(CEMENT, {"item_code": "MORTAR"})
        except Killed:
            stole = emptied_yard.erp.post("/products", {"item_code": "MORTAR", "name": "Mortar"})
            if stole.status == 201:
                assert rows(emptied_yard, item_code="MORTAR") == []
                continue
            clock.advance(31)  # the mark of the retirement has expired
            done = emptied_yard.erp.patch(CEMENT, {"item_code": "MORTAR"})
        else:
            break
        assert done.status == 200, done.text
        assert rows(emptied_yard, item_code="MORTAR") == [("MORTAR", "YARD", "A-01")] * 3
        assert levels(emptied_yard, item_code="CEMENT") == []
        assert_invariants(stack.store())
    assert at > 15
