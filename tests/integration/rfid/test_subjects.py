"""What the tags of a reader are compared with: the goods of five kinds of work."""

from tests.epc_encoding import sscc_tag_of
from tests.gateway import Erp
from tests.receiving_scenario import ReceivingScenario
from tests.return_scenario import ReturnScenario
from tests.rfid_scenario import PATH, RESULT, RfidScenario, bricks, cases, drills, passed
from tests.stack import Stack, event_attributes


def test_a_packing_order_expects_what_is_packed_and_before_what_is_to_be_packed(
    gate: RfidScenario, stack: Stack
) -> None:
    packing = gate.packing
    order = packing.staged_order(("BRICK", 13))
    subject = {"packing_order_id": order}
    assert gate.result(subject, *cases(1), *bricks(1)) == passed(13)
    found = gate.erp.get(f"{PATH}/1").data
    assert {name: found[name] for name in RESULT} == passed(13)
    packing.done(packing.put(packing.unit(order), "BRICK", 2))
    before = stack.event_count()

    answer = gate.validate(subject, *bricks(1, 1, 3), "30-40")

    shown = answer.data
    row = {
        "object": "rfid_validation", "id": 2, "code": "RV-2", "status": "completed",
        "result": "failed", "subject": {"object": "packing_order", "id": order},
        "reader": "Gate 1", "read": 4, "unique": 3, "expected": 2, "matched": 2,
        "created_at": shown["created_at"],
    }  # fmt: skip
    lists = {"missing": [], "unexpected": [], "unknown": [], "unreadable": ["30-40"]}
    assert (answer.status, shown) == (201, row | lists)
    assert answer.headers["Location"].endswith(f"{PATH}/2")
    assert gate.erp.get(f"{PATH}/2").data == shown
    assert gate.erp.get(PATH, query={"subject": f"packing_order:{order}"}).data[0] == row
    assert stack.event_count() == before + 1
    event = stack.events()[-1]
    assert (event["type"]["S"], event_attributes(event)) == ("rfid_validation.completed", row)
    assert event["status"]["S"] == row["status"]


def test_a_handling_unit_expects_the_goods_of_the_units_in_it(gate: RfidScenario) -> None:
    gate.yard.change_settings(gs1_company_prefix="4006381")
    packing = gate.packing
    order = packing.staged_order(("BRICK", 10))
    pallet = packing.unit(order, "pallet")
    tote = packing.unit(order, "tote", parent_id=pallet)
    carton = packing.unit(order, parent_id=tote)
    other = packing.unit(order)
    for unit, qty in ((pallet, 1), (tote, 2), (carton, 3), (other, 4)):
        packing.done(packing.put(unit, "BRICK", qty))
    tags = [sscc_tag_of(one["sscc"]) for one in packing.shown(order)["handling_units"]]

    def validate(unit: int, *epcs: str) -> dict[str, object]:
        return gate.result({"handling_unit_id": unit}, *epcs)

    assert validate(pallet, *bricks(*range(6)), *tags[:3]) == passed(6)
    assert validate(tote, *bricks(*range(5)), *tags[1:3]) == passed(5)
    assert validate(carton, *bricks(1, 2, 3)) == passed(3)
    foreign = validate(tote, *bricks(*range(5)), tags[0], tags[3])
    assert (foreign["result"], foreign["unknown"]) == ("failed", [tags[0], tags[3]])
    assert gate.result({"packing_order_id": order}, *bricks(*range(10)), *tags) == passed(10)


def test_a_picking_expects_what_is_picked_and_before_what_is_to_be_picked(
    gate: RfidScenario,
) -> None:
    yard = gate.yard
    yard.stock("BRICK", 5)
    yard.stock_serials("S1", "S2")
    number = yard.started(yard.order(("BRICK", 5), ("DRILL", 2)))
    subject = {"picking_id": number}
    assert gate.result(subject, *bricks(1, 2, 3, 4, 5), *drills("S7", "S8")) == passed(7)
    assert yard.pick(number, "BRICK", 3).status == 200
    assert yard.pick(number, "DRILL", 2, serials=["S1", "S2"]).status == 200

    assert gate.result(subject, *bricks(1, 2, 3), *drills("S1", "S2")) == passed(5)
    wrong = gate.result(subject, *bricks(1, 2, 3), *drills("S1", "S7"))

    assert (wrong["missing"], wrong["unexpected"]) == (
        [{"item_code": "DRILL", "qty": 1, "serials": ["S2"]}],
        [{"item_code": "DRILL", "qty": 1, "serials": ["S7"]}],
    )
    assert yard.act(number, "cancel").status == 200
    assert gate.result(subject, *bricks(1))["expected"] == 0


def test_a_receipt_expects_what_is_received_and_before_what_is_announced(
    gate: RfidScenario,
) -> None:
    receiving = ReceivingScenario(gate.erp, gate.yard)
    order = receiving.order({"qty": 3}, {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S2"]})
    number = receiving.started(order)
    subject = {"receipt_id": number}
    assert gate.result(subject, *bricks(1, 2, 3), *drills("S1", "S2")) == passed(5)
    wrong = gate.result(subject, *bricks(1, 2, 3), *drills("S1", "S7"))
    assert wrong["missing"] == [{"item_code": "DRILL", "qty": 1, "serials": ["S2"]}]
    assert receiving.receive(number, 2).status == 200

    assert gate.result(subject, *bricks(1, 2)) == passed(2)
    short = gate.result(subject, *bricks(1))
    assert short["missing"] == [{"item_code": "BRICK", "qty": 1, "serials": []}]
    assert receiving.act(number, "cancel").status == 200
    assert gate.result(subject, *bricks(1))["expected"] == 0


def test_any_serial_counts_for_the_rest_of_a_line_with_serials(gate: RfidScenario) -> None:
    receiving = ReceivingScenario(gate.erp, gate.yard)
    order = receiving.order({"item_code": "DRILL", "qty": 2, "serials": ["S1", "S2"]})
    first = receiving.started(order)
    receiving.receive(first, 1, item_code="DRILL", serials=["S1"]).ok()
    second = {"receipt_id": receiving.started(order)}

    assert gate.result(second, *drills("S9")) == passed(1)


def test_a_return_expects_what_is_received_and_before_what_is_announced(erp: Erp) -> None:
    returns = ReturnScenario(erp)
    gate = RfidScenario(erp, returns.yard)
    number = returns.expected(("BRICK", 4))
    subject = {"return_id": number}
    assert gate.result(subject, *bricks(1, 2, 3, 4)) == passed(4)
    assert returns.receive(number, {"qty": 1}).status == 200
    assert gate.result(subject, *bricks(1)) == passed(1)
    returns.done(number, "finish")
    assert gate.result(subject, *bricks(1)) == passed(1)
    cancelled = returns.expected(("BRICK", 4))
    returns.done(cancelled, "cancel")
    assert gate.result({"return_id": cancelled}, *bricks(1))["expected"] == 0
