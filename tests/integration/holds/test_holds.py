"""Holds through the interface: creation, references, use by exit documents, and refusals."""

from typing import Any

import pytest

from tests.clock import Clock
from tests.gateway import Response
from tests.integration.documents.bodies import document_body
from tests.integration.upgrade.conftest import set_version
from tests.stack import Stack, event_attributes
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _body(*lines: tuple[str, float], **more: Any) -> dict[str, Any]:
    goods = [{"item_code": item_code, "qty": qty} for item_code, qty in lines]
    return {"warehouse_code": "YARD", "ttl_seconds": 60, "lines": goods, **more}


def _hold(yard: WarehouseScenario, *lines: tuple[str, float], **more: Any) -> Response:
    return yard.erp.post("/holds", _body(*lines, **more))


def _order(
    yard: WarehouseScenario, hold_id: object, *lines: tuple[str, float], **more: Any
) -> Response:
    goods = [{"item_code": item_code, "qty": qty} for item_code, qty in lines]
    body = document_body(type="sale_order", lines=goods, hold_id=hold_id, **more)
    return yard.erp.post("/exit-documents", body, key=f"{body['external_ref']} {hold_id}")


def _level(yard: WarehouseScenario, item_code: str = "BRICK") -> tuple[float, float, float]:
    [level] = yard.erp.walk("/stock-levels", item_code=item_code, warehouse="YARD")
    return level["committed"], level["held"], level["sellable"]


def _problems(answer: Response) -> tuple[str, dict[str, str]]:
    return answer.code, {one["field"]: one["message"] for one in answer.json()["errors"]}


def test_hold_shows_what_it_holds_in_base_units(yard: WarehouseScenario, clock: Clock) -> None:
    clock.freeze()
    yard.stock("BRICK", 30)
    yard.erp.put("/products/1/packaging", {"units": [{"unit": "BOX", "qty": 12}]}).ok()
    line = {"item_code": "BRICK", "qty": 2, "unit": "box", "external_ref": "10"}
    body = _body(("BRICK", 0.5), external_ref="CART-1", partner_code="C-1")
    body["lines"].append(line)

    created = yard.erp.post("/holds", body)

    data = created.ok(201)
    times = {data.pop(name) for name in ("created_at", "updated_at")}
    assert len(times) == 1
    assert data.pop("expires_at") > times.pop()
    assert data == {
        "object": "hold",
        "id": 1,
        "code": "HD-1",
        "status": "active",
        "external_ref": "CART-1",
        "warehouse_code": "YARD",
        "partner_code": "C-1",
        "lines": [
            {"item_code": "BRICK", "qty": 0.5, "external_ref": None},
            {"item_code": "BRICK", "qty": 24, "external_ref": "10"},
        ],
        "exit_document_id": None,
        "actions": ["extend", "release"],
    }
    assert created.headers["Location"].endswith("/holds/1")
    assert _level(yard) == (0, 24.5, 5.5)


def test_reference_names_one_hold_whatever_its_status(
    yard: WarehouseScenario, clock: Clock
) -> None:
    yard.stock("BRICK", 10)
    first = _hold(yard, ("BRICK", 2), external_ref="CART-1").ok(201)

    same = _hold(yard, ("BRICK", 2), external_ref="CART-1", ttl_seconds=90)
    other = _hold(yard, ("BRICK", 3), external_ref="CART-1", partner_code="C-2")
    clock.advance(60)
    expired = _hold(yard, ("BRICK", 2), external_ref="CART-1")

    assert [one.status for one in (same, other, expired)] == [200] * 3
    assert same.json()["data"] == first
    assert "warning" not in same.json()
    assert "partner_code, lines.0.qty" in other.json()["warning"]
    assert expired.json()["data"]["status"] == "expired"
    assert len(yard.erp.walk("/holds")) == 1


def test_every_problem_of_a_hold_is_named(yard: WarehouseScenario) -> None:
    answer = _hold(
        yard, ("NONE", 1), ("BRICK", 0), ("DRILL", 0.5), ("HAULAGE", 1),
        warehouse_code="MOON", expires_at="2020-01-01T00:00:00Z",
    )  # fmt: skip

    code, problems = _problems(answer)
    assert code == "validation_failed"
    assert set(problems) == {
        "warehouse_code", "expires_at", "ttl_seconds", "lines.0.item_code", "lines.1.qty",
        "lines.2.qty", "lines.3.item_code",
    }  # fmt: skip
    assert _problems(_hold(yard, ttl_seconds=0))[1].keys() == {"ttl_seconds", "lines"}
    yard.stock("BRICK", 2)
    repeated = _body(("BRICK", 1), ("BRICK", 1))
    for line in repeated["lines"]:
        line["external_ref"] = "1"
    assert _problems(yard.erp.post("/holds", repeated))[1].keys() == {"lines.1.external_ref"}


def test_document_takes_the_goods_of_a_hold_and_frees_its_rest(
    stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 5, batch="L1")
    hold = _hold(yard, ("BRICK", 4), ("CEMENT", 5)).id
    before = len(stack.events())

    order = _order(yard, hold, ("BRICK", 1), ("BRICK", 2))

    assert order.status == 201
    assert _level(yard) == (3, 0, 7)
    assert _level(yard, "CEMENT") == (0, 0, 5)
    used = yard.erp.get(f"/holds/{hold}").ok()
    assert (used["status"], used["exit_document_id"]) == ("used", order.id)
    assert used["actions"] == []
    events = [event_attributes(one) for one in stack.events()[before:]]
    assert [(one["item_code"], one["held"], one["sellable"]) for one in events] == [
        ("BRICK", 0, 7), ("CEMENT", 0, 5),
    ]  # fmt: skip
    again = _order(yard, 99, ("BRICK", 1), ("BRICK", 2))
    assert again.ok(200)["id"] == order.id
    assert yard.erp.post(f"/holds/{hold}/release").code == "stale_state"


def test_document_is_refused_a_hold_that_does_not_have_its_goods(
    yard: WarehouseScenario, clock: Clock
) -> None:
    yard.stock("BRICK", 10)
    hold = _hold(yard, ("BRICK", 4)).id

    unknown = _order(yard, 99, ("BRICK", 1), external_ref="A")
    elsewhere = _order(yard, hold, ("BRICK", 5), ("CEMENT", 1), ("NONE", 1), external_ref="B")
    more = _order(
        yard, hold, ("BRICK", 3), ("CEMENT", 1), ("BRICK", 2), warehouse_code="SHOP",
        external_ref="C",
    )  # fmt: skip
    clock.advance(60)
    expired = _order(yard, hold, ("BRICK", 1), external_ref="D")

    assert _problems(unknown) == ("validation_failed", {"hold_id": "no hold has the id 99"})
    assert elsewhere.code == "validation_failed"
    assert _problems(more) == (
        "rule_blocked",
        {
            "hold_id": "HD-1 is of warehouse YARD",
            "lines.0.qty": "5 ordered, 4 held of BRICK by HD-1",
            "lines.1.qty": "1 ordered, 0 held of CEMENT by HD-1",
            "lines.2.qty": "5 ordered, 4 held of BRICK by HD-1",
        },
    )
    assert expired.code == "stale_state"
    assert yard.erp.walk("/exit-documents") == []
    assert _level(yard) == (0, 0, 10)


def test_list_filters_holds(yard: WarehouseScenario, clock: Clock) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 10, batch="L1")
    for number, line in enumerate((("BRICK", 1), ("CEMENT", 1), ("BRICK", 2), ("BRICK", 3))):
        _hold(yard, line, external_ref=f"CART-{number}", ttl_seconds=60 * (number + 1)).ok(201)
    yard.erp.post("/holds/2/release").ok()
    clock.advance(61)

    def ids(**query: str) -> list[int]:
        return [one["id"] for one in yard.erp.walk("/holds", **query)]

    assert ids(status="active") == [4, 3]
    assert ids(status="active", sort="expires_at") == [3, 4]
    assert ids(status="expired") == [1]
    assert ids(status="released") == [2]
    assert ids(item_code="BRICK", sort="created_at") == [1, 3, 4]
    assert ids(item_code="BRICK", status="expired") == [1]
    assert ids(warehouse="SHOP") == []
    assert ids(external_ref="CART-0", status="active") == []
    assert ids(external_ref="CART-0", status="expired") == [1]
    for several, found in {
        "active,expired": [4, 3, 1], "released,active": [4, 3, 2], "expired,released": [2, 1],
        "used,active": [4, 3], "active,used,released,expired": [4, 3, 2, 1],
    }.items():  # fmt: skip
        for sort in ("created_at", "updated_at", "expires_at"):
            # the release of the second one is the last change
            last = [2] if sort == "updated_at" and 2 in found else []
            order = [*(one for one in reversed(found) if one not in last), *last]
            assert ids(status=several, sort=sort) == order, (several, sort)
            assert ids(status=several, sort=f"-{sort}", per_page="1") == order[::-1]
            page = yard.erp.get("/holds", query={"status": several, "sort": sort, "page": 2})
            assert page.json()["meta"]["total"] == len(found)
        assert ids(status=several, item_code="BRICK") == [one for one in found if one != 2]
        assert ids(status=several, ids="1,3,9") == [one for one in found if one in {1, 3}]


def test_hold_in_a_table_that_is_not_upgraded_is_503(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    set_version("acme", 3)

    answer = _hold(yard, ("BRICK", 1))

    assert (answer.status, answer.code) == (503, "service_unavailable")
    assert yard.erp.walk("/holds") == []
