"""Returns from the announcement to the disposition of the last unit."""

from shared.kernel.references import UNUSED
from shared.warehouse.warehouses.repository import warehouse_key
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.conftest import BeforeNextCommit
from tests.people import PICKER
from tests.return_scenario import SERIALS, ReturnScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants


def test_everything_comes_back_and_is_decided_on(scenario: ReturnScenario, stack: Stack) -> None:
    made = scenario.draft(
        ("BRICK", 4), ("CEMENT", 5), ("DRILL", 2), external_ref="RMA-1", reason="Wrong address"
    )
    number = made.id
    assert made.headers["Location"].endswith(f"/returns/{number}")
    assert made.data == {
        "object": "return",
        "id": number,
        "code": f"RT-{number}",
        "status": "expected",
        "status_label": "Expected",
        "external_ref": "RMA-1",
        "exit_document_id": scenario.order,
        "exit_doc_num": f"EX-{scenario.order}",
        "card_code": "C-1",
        "card_name": None,
        "warehouse_code": "YARD",
        "source": "api",
        "reason": "Wrong address",
        "metadata": {},
        "operator": None,
        "lines": made.data["lines"],
        "differences": [],
        "actions": ["lines", "cancel"],
        "received_at": None,
        "dispositioned_at": None,
        "created_at": made.data["created_at"],
        "updated_at": made.data["created_at"],
    }
    assert made.data["lines"][0] == {
        "id": made.data["lines"][0]["id"],
        "line_num": 1,
        "external_ref": None,
        "product_id": made.data["lines"][0]["product_id"],
        "item_code": "BRICK",
        "product_name": "Brick",
        "reason": "other",
        "qty": 4,
        "unit": None,
        "unit_qty": None,
        "received_qty": 0,
        "restocked_qty": 0,
        "quarantined_qty": 0,
        "scrapped_qty": 0,
        "lost_qty": 0,
        "returned_to_provider_qty": 0,
        "batch_num": None,
        "serial_numbers": [],
        "status": "open",
        "metadata": {},
    }

    shown = scenario.receive(
        number,
        {"qty": 3},
        {"qty": 5, "item_code": "CEMENT", "batch": "L1"},
        {"qty": 2, "item_code": "DRILL", "serials": [*SERIALS[:2]]},
    ).ok()
    assert shown["status"] == "receiving"
    assert [line["status"] for line in shown["lines"]] == ["partial", "received", "received"]
    assert scenario.stock("BRICK") == [("B-01", "quarantine", 3)]
    assert scenario.yard.level("CEMENT") == (5, 0, 0)

    finished = scenario.done(number, "finish")
    assert (finished["status"], finished["received_at"]) == ("received", finished["updated_at"])
    assert [line["status"] for line in finished["lines"]] == ["short", "received", "received"]

    shown = scenario.decide(
        number,
        {"qty": 2, "action": "restock", "bin_code": "A-01"},
        {"qty": 1, "action": "scrap"},
        {"qty": 5, "item_code": "CEMENT", "batch": "L1", "action": "quarantine"},
        {"qty": 1, "item_code": "DRILL", "serials": ["S-1"], "action": "restock"},
    ).ok()
    assert shown["status"] == "received"
    assert scenario.stock("BRICK") == [("A-01", "available", 2)]
    assert scenario.stock("CEMENT") == [("B-01", "quarantine", 5)]
    ended = scenario.decide(
        number, {"qty": 1, "item_code": "DRILL", "serials": ["S-2"], "action": "return_to_provider"}
    ).ok()
    assert (ended["status"], ended["dispositioned_at"]) == ("dispositioned", ended["updated_at"])
    assert {line["status"] for line in ended["lines"]} == {"dispositioned"}
    assert [
        (
            line["restocked_qty"], line["quarantined_qty"], line["scrapped_qty"],
            line["returned_to_provider_qty"],
        )
        for line in ended["lines"]
    ] == [(2, 0, 1, 0), (0, 5, 0, 0), (1, 0, 0, 1)]  # fmt: skip

    events = [event["type"]["S"] for event in stack.events()]
    assert [kind for kind in events if kind.startswith("return.")] == [
        "return.received",
        "return.dispositioned",
    ]
    moved = scenario.erp.walk("/stock-movements", document_type="return", document_id=number)
    assert {row["type"] for row in moved} == {"return_receipt", "return_restock", "return_scrap"}
    assert_invariants(stack.store())


def test_goods_go_back_to_their_provider(scenario: ReturnScenario, stack: Stack) -> None:
    erp = scenario.erp
    erp.post("/providers", {"name": "Drill Works", "code": "P-9"}).ok(201)
    number = scenario.received(
        {"qty": 4}, {"qty": 2, "item_code": "DRILL", "serials": ["S-1", "S-3"]}
    )
    scenario.decide(
        number,
        {"qty": 3, "action": "return_to_provider"},
        {"qty": 2, "item_code": "DRILL", "serials": ["S-1", "S-3"], "action": "return_to_provider"},
        partner_code="P-9",
    ).ok()
    [document] = erp.get("/exit-documents", query={"external_ref": f"RT-{number}/1"}).data
    assert (document["type"], document["card_code"]) == ("return_to_provider", "P-9")
    assert document["card_name"] == "Drill Works"
    assert document["status"] == "assigned"
    assert [(line["item_code"], line["qty"]) for line in document["lines"]] == [
        ("BRICK", 3), ("DRILL", 2)
    ]  # fmt: skip
    [picking] = erp.get("/pickings", query={"document_id": document["id"]}).data
    assert picking["status"] == "pending"
    assert scenario.yard.level("BRICK") == (4, 3, 0)

    scenario.yard.act(picking["id"], "start").ok()
    scenario.yard.pick(picking["id"], "BRICK", 3, "B-01").ok()
    scenario.yard.pick(picking["id"], "DRILL", 2, "B-01", serials=["S-1", "S-3"]).ok()
    scenario.yard.act(picking["id"], "finalize").ok()
    assert erp.post(f"/exit-documents/{document['id']}/dispatch").status == 200

    answer = scenario.decide(number, {"qty": 1, "action": "return_to_provider"})
    assert answer.data["status"] == "dispositioned"
    [second] = erp.get("/exit-documents", query={"external_ref": f"RT-{number}/2"}).data
    assert second["card_code"] == "PROVIDER"
    assert_invariants(stack.store())


def test_user_who_receives_is_the_operator(scenario: ReturnScenario, stack: Stack) -> None:
    number = scenario.expected(("BRICK", 1))
    user = Erp(stack.gateway, stack.user_token(permissions="entries.manage", sub=str(PICKER)))
    answer = user.post(
        f"/returns/{number}/lines",
        {"lines": [{"item_code": "BRICK", "qty": 1, "bin_code": "B-01"}]},
    )
    assert answer.data["operator"]["id"] == PICKER


def test_master_data_is_in_use_until_the_return_ends(
    scenario: ReturnScenario, stack: Stack
) -> None:
    erp = scenario.erp
    for number, code in enumerate(("PIPE", "VALVE"), start=1):
        assert erp.post("/products", {"item_code": code, "name": code}).status == 201
        body = {"whs_code": "SHOP", "bin_code": f"N-{number}", "type": "storage"}
        assert erp.post("/warehouse-positions", body).status == 201
    scenario.yard.change_settings(blind_returns=True)
    blind = {"exit_document_id": None, "warehouse_code": "SHOP", "partner_code": "C-9"}
    client = {"name": "Plumber", "document_id": 9, "code": "C-9"}
    scenario.erp.post("/clients", client).ok(201)
    cancelled, ended = (scenario.expected((code, 1), **blind) for code in ("PIPE", "VALVE"))
    assert scenario.shown(ended)["card_name"] == "Plumber"
    assert not _unused(stack, "PIPE", "VALVE")
    assert _registered(stack) == {f"return#{cancelled}", f"return#{ended}"}

    scenario.done(cancelled, "cancel")
    goods = {"item_code": "VALVE", "qty": 1}
    assert scenario.receive(ended, {**goods, "bin_code": "N-1"}).status == 200
    scenario.done(ended, "finish")
    assert _registered(stack) == {f"return#{ended}"}
    line = {**goods, "action": "restock", "bin_code": "N-2"}
    assert scenario.decide(ended, line).status == 200

    assert _registered(stack) == set()
    assert not _unused(stack, "SHOP\x1fN-1", "SHOP\x1fN-2")


def _registered(stack: Stack) -> set[str]:
    """Return the returns in the register of open work."""
    names = {item["SK"]["S"] for item in stack.items() if item["PK"]["S"] == "open"}
    return {name for name in names if name.startswith("return#")}


def _unused(stack: Stack, *codes: str) -> set[str]:
    """Return which of these codes no document and no movement has named so far."""
    aliases = [item["PK"]["S"] for item in stack.items() if "unused" in item]
    return {code for code in codes for alias in aliases if alias.endswith(f"#{code}")}


def test_returned_cases_count_their_units(scenario: ReturnScenario, aws_faults: AwsFaults) -> None:
    case = "14006381333938"
    body = {"gtins": [{"gtin": case, "units": 4}]}
    assert scenario.erp.put("/products/1/packaging", body).status == 200
    lines = [{"gtin": case, "qty": 2}, {"item_code": "CEMENT", "qty": 1}]
    number = scenario.expected(lines=lines, external_ref="RMA-1")
    again = scenario.draft(lines=lines, external_ref="RMA-1")
    assert (again.status, again.data["id"], again.json().get("warning")) == (200, number, None)
    arrived = {"qty": 1, "bin_code": "B-01"}
    with aws_faults.recorded() as by_code:
        scenario.done(number, "lines", lines=[{**arrived, "item_code": "BRICK", "qty": 4}])
    with aws_faults.recorded() as by_gtin:
        shown = scenario.done(number, "lines", lines=[{**arrived, "gtin": case}])

    assert by_gtin.round_trips == by_code.round_trips + 1
    assert [(line["qty"], line["received_qty"]) for line in shown["lines"]] == [(8, 8), (1, 0)]
    scenario.done(number, "finish")
    decided = [{"gtin": case, "qty": 1.5, "action": "restock"},
               {"item_code": "BRICK", "qty": 2, "action": "scrap"}]  # fmt: skip
    line, _ = scenario.done(number, "dispositions", lines=decided)["lines"]
    assert (line["restocked_qty"], line["scrapped_qty"]) == (6, 2)
    refused = scenario.draft(lines=[{"gtin": case, "qty": 1}])
    assert refused.code == "rule_blocked", refused.text


def test_goods_that_another_return_takes_before_the_commit_are_returned_once(
    scenario: ReturnScenario, before_next_commit: BeforeNextCommit
) -> None:
    scenario.expected(("BRICK", 1))
    other = before_next_commit(lambda: scenario.draft(("BRICK", 7)))

    refused = scenario.draft(("BRICK", 7))

    assert (other[0].status, refused.status) == (201, 422)
    assert refused.code == "rule_blocked"


def test_goods_come_back_to_their_warehouse_under_its_present_code(
    scenario: ReturnScenario, stack: Stack
) -> None:
    erp = scenario.erp
    for position in erp.walk("/warehouse-positions", warehouse="YARD"):
        erp.delete(f"/warehouse-positions/{position['id']}").ok()
    erp.patch("/warehouses/1", {"whs_code": "DEPOT"}).ok()

    assert scenario.draft(("BRICK", 1), reason=5).invalid_fields == ["reason"]
    number = scenario.expected(("BRICK", 1))

    assert scenario.shown(number)["warehouse_code"] == "DEPOT"
    [alias] = stack.store().get_many([warehouse_key("DEPOT")]).values()
    assert UNUSED not in alias
    erp.post("/warehouse-positions", {"whs_code": "DEPOT", "bin_code": "B-01"}).ok(201)
    scenario.receive(number, {"qty": 1}).ok()


def test_lost_goods_end_the_return_and_leave_the_stock_if_they_are_there(
    scenario: ReturnScenario, stack: Stack
) -> None:
    number = scenario.received({"qty": 5}, {"qty": 1, "item_code": "DRILL", "serials": ["S-1"]})
    found = {"inventory_status": "quarantine", "to_status": "damaged"}
    scenario.yard.adjust("BRICK", "B-01", **found, qty=2).ok(201)
    scenario.yard.adjust("DRILL", "B-01", **found, serial="S-1").ok(201)
    drill = {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}
    with stack.unchanged():
        kept = {"qty": 4, "action": "quarantine"}
        assert scenario.decide(number, kept).code == "conflict"
        assert scenario.decide(number, {"qty": 6, "action": "lost"}).invalid_fields == [
            "lines.0.qty"
        ]

    shown = scenario.decide(
        number,
        {"qty": 3, "action": "lost"},
        {"qty": 2, "action": "quarantine"},
        {**drill, "action": "lost"},
    ).ok()

    assert shown["status"] == "dispositioned"
    assert [(line["quarantined_qty"], line["lost_qty"]) for line in shown["lines"]] == [
        (2, 3), (0, 1)
    ]  # fmt: skip
    assert scenario.stock("BRICK") == [("B-01", "damaged", 2), ("B-01", "quarantine", 2)]
    assert scenario.stock("DRILL") == [("B-01", "damaged", 1)]
    [moved] = scenario.erp.walk("/stock-movements", type="return_scrap")
    assert (moved["qty"], moved["reason"]) == (1, "lost")
    assert_invariants(stack.store())


def test_restocked_goods_are_as_old_as_their_batch_or_serial(
    scenario: ReturnScenario,
) -> None:
    scenario.yard.stock("CEMENT", 5, batch="L2", expiry_date="2030-12-31")
    scenario.yard.stock_serials("S-9")
    cement = {"item_code": "CEMENT", "qty": 1, "batch": "L1"}
    drill = {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}
    number = scenario.received(cement, drill)
    restock = {"action": "restock", "bin_code": "A-01"}
    scenario.decide(number, {**cement, **restock}, {**drill, **restock}).ok()

    picking = scenario.yard.picking(scenario.yard.order(("CEMENT", 1), ("DRILL", 1)))

    assert [(line["batch_num"], line["serials"]) for line in picking["lines"]] == [
        ("L1", []), (None, ["S-1"])
    ]  # fmt: skip
