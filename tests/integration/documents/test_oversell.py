"""With `oversell: refuse`, exit documents order no more than can be sold."""

from collections.abc import Mapping, Sequence

import pytest

from shared.integration.imports.report.reasons import reason_in
from shared.warehouse.documents.vocabulary import TYPES
from tests.gateway import Response
from tests.import_scenario import ImportScenario
from tests.integration.documents.bodies import document_body
from tests.integration.imports.outcome import report_problems
from tests.integration.upgrade.conftest import set_version
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_OVER = "7 requested, 5 can be sold of BRICK in YARD"


@pytest.fixture
def shop(yard: WarehouseScenario) -> WarehouseScenario:
    """Five bricks and 2 t of cement; what can be sold limits orders."""
    yard.stock("BRICK", 5)
    yard.stock("CEMENT", 2, batch="L-1")
    yard.change_settings(oversell="refuse")
    return yard


def _create(
    yard: WarehouseScenario, *lines: tuple[str, float], reference: str = "SO-9", **more: object
) -> Response:
    named = [{"item_code": item, "qty": qty} for item, qty in lines]
    body = document_body(type="sale_order", external_ref=reference, lines=named)
    body |= more
    return yard.erp.post("/exit-documents", body, key=f"{body['type']} {reference} {lines}")


def _change(yard: WarehouseScenario, number: int, *lines: Mapping[str, object]) -> Response:
    return yard.erp.patch(f"/exit-documents/{number}", {"lines": list(lines)})


def _sellable(yard: WarehouseScenario, item_code: str = "BRICK") -> float:
    [level] = yard.erp.get(
        "/stock-levels", query={"item_code": item_code, "warehouse": "YARD"}
    ).data
    return float(level["sellable"])


def test_each_line_of_each_product_is_named_with_what_can_be_sold(
    shop: WarehouseScenario, stack: Stack
) -> None:
    with stack.unchanged():
        answer = _create(shop, ("BRICK", 3), ("CEMENT", 2.5), ("BRICK", 4), ("DRILL", 1))
    assert answer.blocked == {
        "lines.0.qty": _OVER,
        "lines.1.qty": "2.5 requested, 2 can be sold of CEMENT in YARD",
        "lines.2.qty": _OVER,
        "lines.3.qty": "1 requested, 0 can be sold of DRILL in YARD",
    }

    _create(shop, ("BRICK", 3), ("BRICK", 2)).ok(201)
    assert _sellable(shop) == 0
    half = _create(shop, ("BRICK", 0.5), reference="SO-10")
    assert half.blocked == {"lines.0.qty": "0.5 requested, 0 can be sold of BRICK in YARD"}
    assert _create(shop, ("BRICK", 5)).status == 200, "the document exists already"


def test_other_problems_are_named_with_it(shop: WarehouseScenario) -> None:
    answer = _create(shop, ("BRICK", 7), ("HAULAGE", 1), ("GHOST", 1), due_date="soon")
    found = answer.problems
    assert found.keys() == {"due_date", "lines.0.qty", "lines.1.item_code", "lines.2.item_code"}
    assert found["lines.0.qty"] == _OVER


def test_quantities_count_in_base_units(shop: WarehouseScenario) -> None:
    shop.erp.put("/products/1/packaging", {"units": [{"unit": "BOX", "qty": 7}]}).ok()
    answer = _create(shop, lines=[{"item_code": "BRICK", "qty": 1, "unit": "BOX"}])
    assert answer.blocked == {"lines.0.qty": _OVER}


def test_each_type_of_exit_document_is_refused_and_nothing_else(
    shop: WarehouseScenario,
) -> None:
    for document_type in TYPES["exit"]:
        answer = _create(shop, ("BRICK", 7), type=document_type)
        assert answer.blocked == {"lines.0.qty": _OVER}, document_type

    shop.erp.post("/entry-documents", document_body(), key="PO-1").ok(201)
    transfers = TransferScenario(shop.erp, shop)
    number = transfers.draft(("BRICK", 9)).data["id"]
    transfers.done(number, "release", picker_id=7)
    assert _sellable(shop) == -4
    shop.change_settings(oversell="allow")
    _create(shop, ("BRICK", 7)).ok(201)


def test_change_is_refused_for_lines_that_raise_what_is_ordered(shop: WarehouseScenario) -> None:
    number = shop.order(("BRICK", 2), ("BRICK", 2), ("CEMENT", 1))

    def refused(*lines: Mapping[str, object]) -> Mapping[str, str]:
        return _change(shop, number, *lines).blocked

    over = "2 requested, 1 can be sold of BRICK in YARD"
    assert refused({"line_num": 1, "qty": 4}) == {"lines.0.qty": over}
    assert refused({"item_code": "BRICK", "qty": 2}) == {"lines.0.qty": over}
    # Only by how much the lines together raise it counts.
    raised: Sequence[Mapping[str, object]] = (
        {"line_num": 1, "qty": 1}, {"line_num": 2, "qty": 4}, {"item_code": "BRICK", "qty": 1}
    )  # fmt: skip
    assert refused(*raised) == {"lines.1.qty": over, "lines.2.qty": over}

    _change(shop, number, {"line_num": 1, "qty": 1}, {"line_num": 2, "qty": 4}).ok()
    assert _sellable(shop) == 0
    shop.adjust("BRICK", decrease=3).ok(201)
    assert _sellable(shop) == -3
    # What does not lower it is accepted, however low it is.
    _change(shop, number, {"line_num": 1, "qty": 0}, {"line_num": 2, "qty": 5}).ok()
    _change(shop, number, {"line_num": 2, "qty": 4}, {"line_num": 3, "qty": 2}).ok()
    shop.erp.patch(f"/exit-documents/{number}", {"comments": "Ring twice"}).ok()
    shop.erp.post(f"/exit-documents/{number}/close").ok()


def test_work_on_what_is_ordered_is_not_refused(shop: WarehouseScenario) -> None:
    number = shop.order(("BRICK", 5))
    shop.adjust("BRICK", decrease=2).ok(201)
    assert _sellable(shop) == -2

    picking = shop.started(number)
    shop.pick(picking, "BRICK", 2).ok()
    shop.undo(picking, "BRICK", 1).ok()
    shop.act(picking, "finalize", shortage_reason="damaged").ok()
    shop.act(picking, "revert").ok()
    assert _sellable(shop) == -2


def test_import_rejects_rows_with_the_same_words(shop: WarehouseScenario, stack: Stack) -> None:
    scenario = ImportScenario(stack)
    header = "external_ref,type,doc_date,partner_code,warehouse_code,item_code,qty\n"
    rows = [f"SO-{number},sale_order,2026-03-01,C-1,YARD,BRICK,{qty}"
            for number, qty in ((1, 2), (2, 7), (3, 2), (4, 2), (5, 1))]  # fmt: skip
    content = (header + "\n".join(rows)).encode()

    one = scenario.import_file("exit_documents", "orders.csv", content, auto_allocate="true")
    assert report_problems(scenario, one) == {(3, "qty", _OVER)}
    assert one["rows"] == {"total": 5, "valid": 4, "error": 1}

    committed = scenario.commit(one["id"])
    over = "2 requested, 1 can be sold of BRICK in YARD"
    assert report_problems(scenario, committed) == {(3, "qty", _OVER), (5, "qty", over)}
    assert reason_in("es", over) == "se piden 2; se pueden vender 1 de BRICK en YARD"
    assert (committed["status"], committed["documents"]["committed"]) == ("committed", 3)
    assert _sellable(shop) == 0
    pickings = shop.erp.walk("/pickings")
    assert sum(line["qty"] for one in pickings for line in shop.erp.get(
        f"/pickings/{one['id']}").data["lines"]) == 5  # fmt: skip


def test_table_that_is_not_upgraded_is_503(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    yard.change_settings(oversell="refuse")
    set_version("acme", 3)

    for answer in (
        yard.erp.patch("/settings", {"oversell": "refuse", "blind_returns": True}),
        _create(yard, ("BRICK", 1)),
    ):
        assert (answer.status, answer.code) == (503, "service_unavailable")
    yard.erp.patch("/settings", {"oversell": "allow"}).ok()
    yard.erp.patch("/settings", {"blind_returns": True}).ok()
