"""Stock moves from shelf to shelf and from warehouse to warehouse."""

from typing import Any

import pytest

from tests.faults import Wire
from tests.floor import Floor
from tests.gateway import Erp, Response
from tests.stack import Stack
from tests.stock_proof import prove

PATH = "/transfers"
LINE = {"item_code": "BRICK", "qty": 4, "from_bin": "A-01", "to_bin": "B-01"}
KINDS = ("transfer.created", "transfer.completed")


@pytest.fixture
def floor(erp: Erp) -> Floor:
    """YARD and SHOP, furnished, with some of everything at A-01 of YARD."""
    floor = Floor.furnished(erp, "YARD", "SHOP")
    floor.stock("BRICK", 10)
    floor.stock("CEMENT", 5, batch="L1", expiry_date="2030-01-31")
    for serial in ("S1", "S2", "S3"):
        floor.stock("DRILL", 1, serial=serial)
    return floor


def body(*lines: dict[str, Any], **more: object) -> dict[str, Any]:
    """Write a transfer inside YARD; of 4 bricks unless lines are given."""
    shown = [{**LINE, **line} for line in lines] or [LINE]
    return {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": shown, **more}


def where(floor: Floor, item_code: str) -> dict[tuple[str, str, str], float]:
    """Tell where an item lies: warehouse, position, inventory status."""
    rows = floor.erp.walk("/stocks", item_code=item_code, status="in")
    found: dict[tuple[str, str, str], float] = {}
    for row in rows:
        place = (row["position"]["whs_code"], row["position"]["bin_code"], row["inventory_status"])
        found[place] = found.get(place, 0) + row["qty"]
    return found


def events(stack: Stack) -> list[str]:
    return [event["type"]["S"] for event in stack.events() if event["type"]["S"] in KINDS]


def problems(answer: Response) -> dict[str, str]:
    assert answer.status == 422, answer.text
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def unchanged(stack: Stack) -> list[Any]:
    """All that is stored but the numbers drawn for what was not made."""
    return [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]


def test_a_transfer_inside_a_warehouse_is_done_at_once(floor: Floor, stack: Stack) -> None:
    answer = floor.erp.post(PATH, body(reason="Tidy up", comments="Aisle A", operator_id=7))

    assert answer.status == 201, answer.text
    shown = answer.data
    number = shown["id"]
    assert answer.headers["Location"].endswith(f"{PATH}/{number}")
    assert shown == {
        "id": number,
        "status": "transferred",
        "wms_status": "transferred",
        "sap_status": None,
        "from_whs_code": "YARD",
        "to_whs_code": "YARD",
        "doc_entry": None,
        "message": None,
        "user_id": None,
        "operator": {"id": 7, "name": None},
        "created_at": shown["created_at"],
        "updated_at": shown["created_at"],
        "lines": [
            {
                "product_id": 1,
                "item_code": "BRICK",
                "qty": 4,
                "batch_num": None,
                "serials": [],
                "from_bin": "A-01",
                "to_bin": "B-01",
                "inventory_status": "available",
            }
        ],
    }
    assert floor.erp.get(f"{PATH}/{number}").data == shown
    assert where(floor, "BRICK") == {
        ("YARD", "A-01", "available"): 6, ("YARD", "B-01", "available"): 4,
    }  # fmt: skip
    [moved] = floor.erp.get("/stock-movements", query={"type": "transfer"}).data
    assert (moved["qty"], moved["from"]["bin_code"], moved["to"]["bin_code"], moved["reason"]) == (
        4, "A-01", "B-01", "Tidy up",
    )  # fmt: skip
    assert moved["document"] == {"type": "transfer", "id": number}
    assert events(stack) == list(KINDS)
    told = [event for event in stack.events() if event["type"]["S"] in KINDS]
    assert {event["object"]["S"] for event in told} == {"transfer"}
    prove(stack.store())


def test_goods_of_every_kind_change_the_warehouse(floor: Floor, stack: Stack) -> None:
    answer = floor.erp.post(
        PATH,
        body(
            {},
            {"item_code": "CEMENT", "qty": 5, "batch": "L1", "to_bin": "A-01"},
            {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S3"], "to_bin": "F-01"},
            to_warehouse="SHOP",
        ),
    )

    assert answer.status == 201, answer.text
    assert where(floor, "BRICK")["SHOP", "B-01", "available"] == 4
    assert where(floor, "CEMENT") == {("SHOP", "A-01", "available"): 5}
    assert where(floor, "DRILL") == {
        ("YARD", "A-01", "available"): 1, ("SHOP", "F-01", "available"): 2,
    }  # fmt: skip
    [cement] = floor.erp.get("/stocks", query={"item_code": "CEMENT", "status": "in"}).data
    assert (cement["batch_num"], cement["expiry_date"]) == ("L1", "2030-01-31")
    levels = {
        (level["item_code"], level["whs_code"]): level["available"]
        for level in floor.erp.walk("/stock-levels")
    }
    assert (levels["BRICK", "YARD"], levels["BRICK", "SHOP"]) == (6, 4)
    prove(stack.store())


def test_damaged_goods_stay_damaged_wherever_they_go(floor: Floor, stack: Stack) -> None:
    floor.erp.post(
        "/stock-adjustments",
        {
            "item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "to_status": "damaged",
            "qty": 3, "reason": "Broken",
        },
    )  # fmt: skip

    moved = floor.erp.post(PATH, body({"qty": 3, "inventory_status": "damaged"}))
    more = floor.erp.post(PATH, body({"qty": 8}))

    assert moved.status == 201
    assert where(floor, "BRICK") == {
        ("YARD", "A-01", "available"): 7, ("YARD", "B-01", "damaged"): 3,
    }  # fmt: skip
    assert (more.status, more.code) == (409, "conflict")
    prove(stack.store())


def test_a_pending_transfer_waits_for_its_execution(floor: Floor, stack: Stack) -> None:
    made = floor.erp.post(PATH, body(execute=False))
    number = made.data["id"]

    assert (made.status, made.data["status"]) == (201, "pending")
    assert where(floor, "BRICK") == {("YARD", "A-01", "available"): 10}
    early = floor.erp.post(f"{PATH}/{number}/acknowledge", {"sap_status": "sent"})
    assert (early.status, early.code) == (409, "conflict")
    assert "pending" in early.json()["message"]
    done = floor.erp.post(f"{PATH}/{number}/execute")
    assert (done.status, done.data["status"], done.data["message"]) == (200, "transferred", None)
    again = floor.erp.post(f"{PATH}/{number}/execute")
    assert (again.status, again.code) == (409, "conflict")
    assert "transferred" in again.json()["message"]
    assert where(floor, "BRICK")["YARD", "B-01", "available"] == 4
    assert events(stack) == list(KINDS)
    prove(stack.store())


def test_what_is_not_there_is_an_error_that_may_pass(floor: Floor, stack: Stack) -> None:
    number = floor.erp.post(PATH, body({"qty": 12}, execute=False)).data["id"]

    failed = floor.erp.post(f"{PATH}/{number}/execute")

    assert (failed.status, failed.data["status"]) == (200, "error")
    assert failed.data["message"] == "Line 1: only 10 of BRICK is free at YARD A-01."
    assert [row["id"] for row in floor.erp.get(PATH, query={"status": "error"}).data] == [number]
    assert events(stack) == ["transfer.created"]
    floor.stock("BRICK", 2)
    done = floor.erp.post(f"{PATH}/{number}/execute").data
    assert (done["status"], done["message"]) == ("transferred", None)
    assert where(floor, "BRICK") == {("YARD", "B-01", "available"): 12}
    prove(stack.store())


def test_a_shelf_that_was_blocked_meanwhile_takes_nothing(floor: Floor, stack: Stack) -> None:
    number = floor.erp.post(PATH, body(execute=False)).data["id"]
    [shelf] = floor.erp.get(
        "/warehouse-positions", query={"warehouse": "YARD", "bin_code": "B-01"}
    ).data
    floor.erp.patch(f"/warehouse-positions/{shelf['id']}", {"is_blocked": True})

    failed = floor.erp.post(f"{PATH}/{number}/execute").data

    assert (failed["status"], failed["message"]) == ("error", "Line 1: position B-01 is blocked.")
    floor.erp.patch(f"/warehouse-positions/{shelf['id']}", {"is_blocked": False})
    assert floor.erp.post(f"{PATH}/{number}/execute").data["status"] == "transferred"
    prove(stack.store())


def test_all_or_nothing_is_moved(floor: Floor, stack: Stack) -> None:
    floor.erp.post("/pickings", {"document_id": floor.order(("BRICK", 3))})
    before = unchanged(stack)

    answer = floor.erp.post(
        PATH,
        body(
            {"qty": 5},
            {"qty": 3},
            {"item_code": "CEMENT", "qty": 1, "batch": "L2"},
            {"item_code": "DRILL", "qty": 2, "serials": ["S1", "S9"]},
        ),
    )

    assert (answer.status, answer.code) == (409, "conflict")
    assert answer.json()["message"] == (
        "Line 2: only 2 of BRICK is free at YARD A-01; "
        "line 3: only 0 of CEMENT, batch L2 is free at YARD A-01; "
        "line 4: serial S9 of DRILL is not free at YARD A-01."
    )
    assert unchanged(stack) == before
    prove(stack.store())


def test_the_erp_acknowledges_as_often_as_it_has_to(floor: Floor) -> None:
    number = floor.erp.post(PATH, body()).data["id"]

    refused = floor.erp.post(
        f"{PATH}/{number}/acknowledge", {"sap_status": "rejected", "message": "Period closed"}
    ).data
    taken = floor.erp.post(
        f"{PATH}/{number}/acknowledge", {"sap_status": "sent", "doc_entry": "0815"}
    ).data

    facts = ("status", "sap_status", "doc_entry", "message")
    assert [refused[fact] for fact in facts] == ["transferred", "rejected", None, "Period closed"]
    assert [taken[fact] for fact in facts] == ["transferred", "sent", "0815", None]
    whole = floor.erp.post(f"{PATH}/{number}/acknowledge", {"sap_status": "sent", "doc_entry": 7})
    assert whole.data["doc_entry"] == 7


WRONG_ANSWERS: list[tuple[dict[str, object], str]] = [
    ({}, "sap_status"),
    ({"sap_status": "sent", "doc_entry": 1.5}, "doc_entry"),
    ({"sap_status": "sent", "doc_entry": True}, "doc_entry"),
    ({"sap_status": "sent", "doc_entry": -1}, "doc_entry"),
    ({"sap_status": "sent", "doc_entry": "\x00"}, "doc_entry"),
    ({"sap_status": "sent", "doc_entry": "9" * 101}, "doc_entry"),
    ({"sap_status": "sent", "message": 5}, "message"),
]


def test_a_wrong_field_of_an_answer_is_named(floor: Floor) -> None:
    number = floor.erp.post(PATH, body()).data["id"]

    for answer, field in WRONG_ANSWERS:
        told = problems(floor.erp.post(f"{PATH}/{number}/acknowledge", answer))
        assert list(told) == [field], answer


WRONG_LINES: list[tuple[dict[str, object], str]] = [
    ({"item_code": "NONE"}, "item_code"),
    ({"item_code": "HAULAGE"}, "item_code"),
    ({"item_code": 7}, "item_code"),
    ({"qty": 0}, "qty"),
    ({"qty": -1}, "qty"),
    ({"qty": 1e30}, "qty"),
    ({"qty": 0.0000001}, "qty"),
    ({"qty": "4"}, "qty"),
    ({"from_bin": "Z-99"}, "from_bin"),
    ({"to_bin": "Z-99"}, "to_bin"),
    ({"to_bin": "X-01"}, "to_bin"),
    ({"to_bin": "D-01"}, "to_bin"),
    ({"to_bin": "A-01"}, "to_bin"),
    ({"batch": "L1"}, "batch"),
    ({"serials": ["S1"]}, "serials"),
    ({"item_code": "CEMENT"}, "batch"),
    ({"item_code": "DRILL", "qty": 1}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1"]}, "serials"),
    ({"item_code": "DRILL", "qty": 2, "serials": ["S1", "S1"]}, "serials.1"),
    ({"item_code": "DRILL", "qty": 41, "serials": [f"S{n}" for n in range(41)]}, "serials"),
    ({"inventory_status": "staged"}, "inventory_status"),
]


def test_a_wrong_line_is_named_and_moves_nothing(floor: Floor, stack: Stack) -> None:
    before = unchanged(stack)

    for line, field in WRONG_LINES:
        told = problems(floor.erp.post(PATH, body({}, line)))
        assert f"lines.1.{field}" in told, line
        assert all(name.startswith("lines.1.") for name in told), line
    assert unchanged(stack) == before


def test_every_problem_is_told_at_once(floor: Floor) -> None:
    told = problems(
        floor.erp.post(
            PATH,
            body(
                {"item_code": "NONE", "qty": 0},
                {"item_code": "DRILL", "qty": 1, "serials": ["S1"]},
                {"item_code": "DRILL", "qty": 1, "serials": ["S1"], "to_bin": "X-01"},
                to_warehouse="MOON",
                operator_id=0,
                execute="now",
                reason="",
            ),
        )
    )

    assert set(told) == {
        "to_warehouse", "operator_id", "execute", "reason", "lines.0.item_code", "lines.0.qty",
        "lines.2.serials.0",
    }  # fmt: skip
    assert set(problems(floor.erp.post(PATH, {}))) == {"from_warehouse", "to_warehouse", "lines"}
    assert set(problems(floor.erp.post(PATH, body() | {"lines": []}))) == {"lines"}


def test_more_than_one_transaction_holds_is_refused(floor: Floor, stack: Stack) -> None:
    shelves = ("A-01", "B-01", "F-01")
    codes = [f"P-{number}" for number in range(13)]
    for code in codes:
        assert floor.erp.post("/products", {"item_code": code, "name": code}).status == 201
        floor.stock(code, 2)
    moves = [
        {"item_code": code, "qty": 1, "to_bin": shelves[1 + at % 2]}
        for at, code in enumerate(codes)
    ]

    inside = floor.erp.post(PATH, body(*moves[:12]))
    across = floor.erp.post(PATH, body(*moves[:8], to_warehouse="SHOP"), key="across")
    too_many = [
        floor.erp.post(PATH, body(*moves)),
        floor.erp.post(PATH, body(*moves[:9], to_warehouse="SHOP")),
    ]

    assert (inside.status, across.status) == (201, 201)
    assert [list(problems(answer)) for answer in too_many] == [["lines"], ["lines"]]
    prove(stack.store())


def test_forty_serials_move_at_once(floor: Floor, stack: Stack) -> None:
    serials = [f"N{number}" for number in range(40)]
    for serial in serials:
        floor.stock("DRILL", 1, serial=serial)

    line = {"item_code": "DRILL", "qty": 40, "serials": serials}
    answer = floor.erp.post(PATH, body(line, to_warehouse="SHOP"), key="forty")

    assert answer.status == 201, answer.text
    assert where(floor, "DRILL")["SHOP", "B-01", "available"] == 40
    prove(stack.store())


def test_what_a_pending_transfer_names_stays(floor: Floor, stack: Stack) -> None:
    floor.erp.post("/products", {"item_code": "SAND", "name": "Sand"})
    move = {"item_code": "SAND", "qty": 1, "to_bin": "F-01"}
    number = floor.erp.post(PATH, body(move, to_warehouse="SHOP", execute=False)).data["id"]
    product = floor.erp.get("/products", query={"item_code": "SAND"}).data[0]["id"]
    [shelf] = floor.erp.get(
        "/warehouse-positions", query={"warehouse": "SHOP", "bin_code": "F-01"}
    ).data

    for path in (f"/products/{product}", f"/warehouse-positions/{shelf['id']}"):
        refused = floor.erp.delete(path)
        assert (refused.status, refused.code) == (409, "conflict")
    renamed = floor.erp.patch(f"/products/{product}", {"item_code": "GRIT"})
    assert (renamed.status, renamed.code) == (409, "conflict")

    floor.stock("SAND", 1)
    assert floor.erp.post(f"{PATH}/{number}/execute").data["status"] == "transferred"
    floor.erp.post(
        "/stock-adjustments",
        {
            "item_code": "SAND", "warehouse": "SHOP", "bin_code": "F-01", "counted_qty": 0,
            "reason": "Sold",
        },
    )  # fmt: skip
    assert floor.erp.delete(f"/products/{product}").status == 200
    assert floor.erp.delete(f"/warehouse-positions/{shelf['id']}").status == 200
    prove(stack.store())


def test_the_transfers_of_others_are_not_there(floor: Floor, beta: Erp, stack: Stack) -> None:
    number = floor.erp.post(PATH, body(execute=False)).data["id"]
    before = unchanged(stack)

    for action in ("execute", "acknowledge"):
        for caller, wanted in ((beta, number), (floor.erp, number + 1)):
            answer = caller.post(f"{PATH}/{wanted}/{action}", {"sap_status": "sent"})
            assert (answer.status, answer.code) == (404, "not_found")
    assert unchanged(stack) == before


def test_a_transfer_waits_six_times(floor: Floor, wire: Wire) -> None:
    for key in ("k1", "k2"):
        with wire.recorded() as seen:
            assert floor.erp.post(PATH, body({"qty": 1}), key=key).status == 201

    assert seen.round_trips <= 6
