"""Goods that are received and picked by a GTIN instead of an item code."""

from urllib.parse import urlencode

import pytest

from shared.warehouse.catalog import gtins
from shared.warehouse.catalog.gtins import CountedProduct, products_by_gtin
from shared.warehouse.gs1.numbers import gtin_14
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.conftest import BeforeNextCommit
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack, prepare_once

CASE, TILE = "14006381333938", "96385074"


@pytest.fixture
def scenario(erp: Erp) -> ReceivingScenario:
    """Bricks come in cases of 12; nothing was ordered of the cement, which has a GTIN, too."""
    scenario = ReceivingScenario(erp)
    prepare_once(erp, "bricks in cases", lambda: _name_gtins(erp))
    return scenario


def _name_gtins(erp: Erp) -> None:
    for number, gtin, units in ((1, CASE, 12), (2, TILE, 1)):
        body = {"gtins": [{"gtin": gtin, "units": units}]}
        assert erp.put(f"/products/{number}/packaging", body).status == 200


def _receive(scenario: ReceivingScenario, number: int, **line: object) -> Response:
    return scenario.erp.post(f"/receipts/{number}/lines", {"qty": 2, **line})


def test_a_received_case_counts_its_units(scenario: ReceivingScenario) -> None:
    order = scenario.order({"qty": 24})
    number = scenario.started(order)

    received = _receive(scenario, number, gtin=CASE)

    [line] = received.data["lines"]
    assert (received.status, line["item_code"], line["qty"]) == (200, "BRICK", 24)
    assert scenario.progress(order) == [(24, 0, "complete")]


def test_picked_cases_count_their_units(scenario: ReceivingScenario) -> None:
    yard = scenario.yard
    yard.stock("BRICK", 30)
    number = yard.started(yard.order(("BRICK", 30)))
    body = {"gtin": CASE, "qty": 0.5, "bin_code": "A-01"}

    assert yard.act(number, "picks", **body).data["lines"][0]["picked_qty"] == 6
    assert yard.act(number, "picks", **{**body, "qty": 2}).data["lines"][0]["picked_qty"] == 30


def test_a_case_counts_the_units_that_it_had_when_it_was_read(
    scenario: ReceivingScenario, before_next_commit: BeforeNextCommit
) -> None:
    number = scenario.started(scenario.order({"qty": 24}))
    smaller = {"gtins": [{"gtin": CASE, "units": 6}]}
    changed = before_next_commit(lambda: scenario.erp.put("/products/1/packaging", smaller))

    received = _receive(scenario, number, gtin=CASE, qty=1)

    assert [changed[0].status, received.status] == [200, 200]
    assert received.data["lines"][0]["qty"] == 12
    assert _receive(scenario, number, gtin=CASE, qty=1).data["lines"][1]["qty"] == 6


def test_a_gtin_costs_one_read_and_an_item_code_none(
    scenario: ReceivingScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard = scenario.yard
    yard.stock("BRICK", 100)
    receipt = scenario.started(scenario.order({"qty": 100}))
    picking = yard.started(yard.order(("BRICK", 100)))
    restore = stack.take_snapshot()

    for path in (f"/receipts/{receipt}/lines", f"/pickings/{picking}/picks"):
        trips = []
        for goods in ({"item_code": "BRICK", "qty": 12}, {"gtin": CASE, "qty": 1}):
            restore()
            assert yard.erp.get("/products/1").status == 200
            with aws_faults.recorded() as seen:
                assert yard.erp.post(path, {**goods, "bin_code": "A-01"}).status == 200
            trips.append((seen.round_trips, len(seen.calls)))
        assert trips[1] == (trips[0][0] + 1, trips[0][1] + 1)


def test_separator_before_a_scanned_barcode_is_taken_off(stack: Stack) -> None:
    """A scanner sends FNC1, with which a GS1 barcode begins, as a group separator."""
    erp, barcode = stack.erp(), "4006381333931"
    scanned = f"\x1d{barcode}"
    draft = {"item_code": "DRILL", "name": "Drill", "barcode": f"{scanned} "}
    assert erp.post("/products", draft).data["barcode"] == barcode
    [found] = erp.get("/products", query={"barcode": scanned}).data
    assert found["item_code"] == "DRILL"
    changed = erp.put("/products/1/packaging", {"gtins": [{"gtin": f"\x1d{CASE}"}]})
    assert changed.data["gtins"] == [{"gtin": CASE, "units": 1, "unit": None}]
    inside = erp.patch("/products/1", {"barcode": f"1{scanned}"})
    assert inside.invalid_fields == ["barcode"]


def test_a_product_is_found_by_its_packaging_and_then_by_its_barcode(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp, brick, shared, no_gtin = stack.erp(), "614141999996", "4006381333931", "614141999990"
    products = (
        ("BRICK", brick, False), ("DRILL", shared, True), ("SAW", shared, False),
        ("TILE", TILE, False), ("OWNER", None, False), ("WRONG", no_gtin, False),
    )  # fmt: skip
    for code, barcode, by_serial in products:
        draft = {"item_code": code, "name": code, "barcode": barcode, "man_ser_num": by_serial}
        assert erp.post("/products", draft).status == 201
    packaging = {"gtins": [{"gtin": CASE, "units": 12}, {"gtin": TILE, "units": 5}]}
    assert erp.put("/products/5/packaging", packaging).status == 200

    def find(*numbers: str, expected: tuple[int, ...] = ()) -> list[CountedProduct | None]:
        forms = [gtin_14(number) for number in numbers]
        found = products_by_gtin(stack.store(), forms, expected)
        return [found.get(form) for form in forms]

    drill, saw = CountedProduct(2, "DRILL", True, 1), CountedProduct(3, "SAW", False, 1)
    owner = [CountedProduct(5, "OWNER", False, 12), CountedProduct(5, "OWNER", False, 5)]
    assert find(CASE, TILE) == find(CASE, TILE, expected=(4,)) == owner
    assert find(brick, no_gtin) == [CountedProduct(1, "BRICK", False, 1), None]
    assert find(shared) == find(shared, expected=(2, 3)) == [drill]
    assert find(shared, expected=(3,)) == [saw]
    monkeypatch.setattr(gtins, "MAX_BARCODES", 1)
    assert find(brick, shared) == [CountedProduct(1, "BRICK", False, 1), None]
    assert find(brick, shared, expected=(3,)) == [CountedProduct(1, "BRICK", False, 1), saw]


def test_product_is_found_by_any_form_of_its_gtins_and_of_its_barcode(
    scenario: ReceivingScenario,
) -> None:
    erp = scenario.erp
    assert erp.patch("/products/3", {"barcode": "4006381333931"}).status == 200

    def found(gtin: str, **query: object) -> list[int]:
        return [
            row["id"] for row in erp.get(f"/products?{urlencode({'gtin': gtin, **query})}").data
        ]

    assert (found(CASE), found(TILE), found(f"000000{TILE}")) == ([1], [2], [2])
    assert (found("4006381333931"), found("04006381333931")) == ([3], [3])
    assert found("4012345000016") == []
    assert (found(CASE, ids="2,3"), found(CASE, ids="1,3")) == ([], [1])
    assert (found(CASE, type="nothing"), found(CASE, item_code="BRICK")) == ([], [1])
    refused = erp.get("/products?gtin=4006381333932")
    assert (refused.status, refused.json()["errors"][0]["field"]) == (422, "gtin")
