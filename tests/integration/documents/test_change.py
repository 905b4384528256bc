"""Changes of documents with PATCH: fields, quantities of lines, new lines, and their pickings."""

from typing import Any

import pytest

from shared.kernel.db.transaction import Transaction
from shared.warehouse.documents.repository import ENTRIES
from shared.warehouse.picking.repository import PICKINGS
from tests.gateway import Response
from tests.integration.documents.bodies import document_body
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _entry(yard: WarehouseScenario, **more: Any) -> str:
    number = yard.erp.post("/entry-documents", document_body(**more), key="entry").id
    return f"/entry-documents/{number}"


def _lines(answer: Response) -> list[tuple[int, str, float, float, str]]:
    """Return number, item, quantity, open quantity and status of each line."""
    names = ("line_num", "item_code", "qty", "open_qty", "status")
    return [tuple(line[name] for name in names) for line in answer.ok()["lines"]]


def _dispatch(yard: WarehouseScenario, document: int, **body: object) -> Response:
    return yard.erp.post(f"/exit-documents/{document}/dispatch", body or None)


def test_fields_change_until_the_document_is_closed(yard: WarehouseScenario) -> None:
    path = _entry(yard, due_date="2026-03-09", comments="Call before")
    before = yard.erp.get(path)
    fields = {"due_date": "10/03/2026", "partner_name": "Cable Works", "comments": None}

    changed = yard.erp.patch(path, {**fields, "priority": "Alta"}).ok()

    assert (changed["due_date"], changed["card_name"], changed["comments"]) == (
        "2026-03-10", "Cable Works", None,
    )  # fmt: skip
    assert yard.erp.get("/entry-documents", query={"due_to": "2026-03-09"}).data == []
    stale = yard.erp.patch(path, {"comments": "x"}, headers={"If-Match": before.headers["ETag"]})
    assert (stale.status, stale.code) == (409, "stale_state")
    current = yard.erp.get(path)
    same = yard.erp.patch(path, {**fields, "lines": [{"line_num": 1, "qty": 100}]})
    assert (same.ok(), same.headers["ETag"]) == (current.data, current.headers["ETag"])
    assert yard.erp.patch(path, {"due_date": "soon", "lines": [{"qty": -1}]}).problems == {
        "due_date": "must be a date, YYYY-MM-DD or, day first, dd/mm/yyyy",
        "lines.0.qty": "must be at least 0",
        "lines.0.item_code": "is required without line_num",
    }

    yard.erp.post(f"{path}/close").ok()

    late = yard.erp.patch(path, {"comments": "Late"})
    assert (late.status, late.code) == (409, "stale_state")
    assert yard.erp.patch("/exit-documents/1", {}).code == "not_found"


def test_lines_follow_the_order_of_the_erp(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    order = receiving.order({"qty": 10}, {"qty": 5, "item_code": "CEMENT"})
    path, new = f"/entry-documents/{order}", {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}
    receipt = receiving.started(order)
    receiving.receive(receipt, 6).ok()
    receiving.act(receipt, "finalize").ok()

    assert _lines(yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 8}, new]})) == [
        (1, "BRICK", 8, 2, "partial"), (2, "CEMENT", 5, 5, "open"), (3, "DRILL", 1, 1, "open"),
    ]  # fmt: skip
    done = yard.erp.patch(
        path, {"lines": [{"line_num": at, "qty": qty} for at, qty in ((1, 6), (2, 0), (3, 0))]}
    )
    assert done.ok()["status"] == "completed"
    assert _lines(done) == [
        (1, "BRICK", 6, 0, "complete"), (2, "CEMENT", 0, 0, "closed"), (3, "DRILL", 0, 0, "closed"),
    ]  # fmt: skip
    assert yard.erp.post("/receipts", {"document_id": order}).code == "stale_state"
    # Nobody refers to the product of the completed document; then a line does again.
    revived = yard.erp.patch(path, {"lines": [{"line_num": 2, "qty": 2}]})
    assert revived.problems == {"lines.0": "line 2 was given up: add another line"}
    again = yard.erp.patch(path, {"lines": [{"item_code": "CEMENT", "qty": 2}, new]}).ok()
    assert again["status"] == "partial-complete"
    assert again["actions"] == ["receive", "close"]
    assert yard.erp.delete("/products/3").code == "conflict"
    # What is received fills no line that was given up.
    second = receiving.started(order)
    drill = receiving.receive(second, 1, item_code="DRILL", serials=["S-1"], bin_code="A-01").ok()
    assert drill["differences"] == []
    assert receiving.progress(order)[2:] == [
        (0, 0, "closed"), (0, 2, "open"), (1, 0, "complete"),
    ]  # fmt: skip


def test_a_completed_document_orders_no_more_of_what_was_renamed_or_deleted(
    yard: WarehouseScenario,
) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    order = receiving.order({"qty": 10}, {"qty": 5, "item_code": "CEMENT"})
    path = f"/entry-documents/{order}"
    receipt = receiving.started(order)
    receiving.receive(receipt, 10).ok()
    receiving.act(receipt, "finalize").ok()
    yard.erp.patch(path, {"lines": [{"line_num": 2, "qty": 0}]}).ok()
    yard.adjust("BRICK", decrease=10).ok(201)
    brick = yard.erp.get("/products", query={"item_code": "BRICK"}).data[0]["id"]
    yard.erp.patch(f"/products/{brick}", {"item_code": "TILE"}).ok()

    more = yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 11}]})

    assert more.problems == {"lines.0": "product BRICK has another code now, or was deleted"}
    added = yard.erp.patch(path, {"lines": [{"item_code": "TILE", "qty": 1}]}).ok()
    assert added["lines"][2]["open_qty"] == 1


def test_a_line_that_was_given_up_names_no_batch(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    lot = {"item_code": "CEMENT", "batch": "L1"}
    order = receiving.order({"qty": 2}, {**lot, "qty": 5, "expiry_date": "2030-01-01"})
    corrected = {**lot, "qty": 5, "expiry_date": "2031-01-01", "metadata": {"memo": "new"}}

    lines = [{"line_num": 2, "qty": 0}, corrected]
    assert yard.erp.patch(f"/entry-documents/{order}", {"lines": lines}).ok()["differences"] == []


def test_a_change_of_a_line_keeps_what_it_names(yard: WarehouseScenario) -> None:
    order = ReceivingScenario(yard.erp, yard).order({"qty": 2, "metadata": {"a": "1", "b": "2"}})
    path = f"/entry-documents/{order}"
    others = {
        "batch": "L1", "expiry_date": "2030-01-01", "serials": ["S"], "destination_bin": "A-02",
    }  # fmt: skip

    refused = yard.erp.patch(
        path,
        {
            "lines": [
                {"line_num": 1, "qty": 3, "external_ref": "9", **others},
                {"item_code": "BRICK", "qty": 1, "metadata": {"a": None}},
            ]
        },
    )

    kept = "must not be sent with line_num, as it does not change"
    assert refused.problems == {
        **{f"lines.0.{name}": kept for name in others},
        "lines.0.external_ref": "line 1 keeps its reference",
        "lines.1.metadata.a": "must be a text",
    }
    merged = [{"line_num": 1, "qty": 2, "metadata": {"a": None, "c": "3"}}]
    (line,) = yard.erp.patch(path, {"lines": merged}).ok()["lines"]
    assert line["metadata"] == {"b": "2", "c": "3"}


def test_all_problems_of_changed_and_new_lines_are_reported(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 4)
    yard.stock("CEMENT", 4, batch="L1", expiry_date="2030-01-31")
    drills = [{"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"]}]
    document = yard.order(
        ("BRICK", 5),
        head={"lines": [{"item_code": "BRICK", "qty": 5, "external_ref": "10"}, *drills]},
    )
    yard.picked(document, qty=3)
    path = f"/exit-documents/{document}"
    dated = {"item_code": "CEMENT", "qty": 1, "batch": "L1", "expiry_date": "2030-02-01"}

    refused = yard.erp.patch(
        path,
        {
            "lines": [
                {"line_num": 1, "qty": 2},
                {"line_num": 7, "qty": 1},
                {"line_num": 1, "qty": 4},
                {"line_num": 2, "qty": 1},
                {"item_code": "BRICK", "qty": 0, "external_ref": "10"},
                {"qty": 1},
                {"item_code": "NONE", "qty": 1},
                {"item_code": "DRILL", "qty": 1, "serials": ["S-2"]},
                {"item_code": "HAULAGE", "qty": 1},
                dated,
                {"line_num": "one", "qty": 1},
                {"line_num": 0, "qty": 1},
                {"line_num": 10**12, "qty": 1},
                {"line_num": -1e308, "qty": 1},
                "BRICK",
            ]
        },
    )  # fmt: skip

    assert refused.problems == {
        "lines.0": "qty 2 of line 1: 3 picked already",
        "lines.1": f"EX-{document} has no line 7",
        "lines.2": "line 1 is changed in lines.0 already",
        "lines.3": "qty 1 of line 2: the line names 2 serials",
        "lines.4.qty": "must be more than 0",
        "lines.4.external_ref": "is on the document already, at line 1",
        "lines.5.item_code": "is required without line_num",
        "lines.6.item_code": "no product has the code NONE",
        "lines.7.serials.0": "is on the document already, at line 2",
        "lines.8.item_code": "product HAULAGE is not kept in stock",
        "lines.9.expiry_date": "batch L1 of CEMENT is in stock with the expiry date 2030-01-31,"
        " 2030-02-01 given",
        "lines.10.line_num": "must be a whole number",
        "lines.11": f"EX-{document} has no line 0",
        "lines.12": f"EX-{document} has no line with this number",
        "lines.13": f"EX-{document} has no line with this number",
        "lines.14": "must be an object",
    }
    blocked = yard.erp.patch(path, {"lines": [{"item_code": "HAULAGE", "qty": 1}]})
    assert blocked.blocked == {"lines.0.item_code": "product HAULAGE is not kept in stock"}
    # With its line given up, a serial may be named by another.
    moved = [{"line_num": 2, "qty": 0}, {"item_code": "DRILL", "qty": 1, "serials": ["S-2"]}]
    assert _lines(yard.erp.patch(path, {"lines": moved}))[1:] == [
        (2, "DRILL", 0, 0, "closed"), (3, "DRILL", 1, 1, "open"),
    ]  # fmt: skip
    half = yard.erp.patch(path, {"lines": [{"line_num": 2, "qty": 0.5, "item_code": "BRICK"}]})
    assert half.problems == {
        "lines.0": "line 2 was given up: add another line",
        "lines.0.item_code": "line 2 is of DRILL",
        "lines.0.qty": "must be a whole number: product DRILL is managed by serial",
    }


def test_a_document_has_at_most_1000_lines(yard: WarehouseScenario) -> None:
    path = _entry(yard, lines=[{"item_code": "BRICK", "qty": 1}] * 999)
    new = {"item_code": "BRICK", "qty": 2}

    assert yard.erp.patch(path, {"lines": [new, new]}).problems == {
        "lines": "1001 lines; a document has at most 1000"
    }
    assert len(yard.erp.patch(path, {"lines": [new]}).ok()["lines"]) == 1000


def test_lines_do_not_change_while_work_has_not_ended(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    document = yard.order(("BRICK", 5))
    path = f"/exit-documents/{document}"
    number = yard.started(document)
    more = {"lines": [{"line_num": 1, "qty": 6}], "comments": "More"}

    refused = yard.erp.patch(path, more)

    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.json()["message"] == (
        f"Document SO-1 has work in progress: picking {number}; end or cancel it first."
    )
    assert yard.document(document)["comments"] is None
    yard.erp.patch(path, {"comments": "Same", "lines": [{"line_num": 1, "qty": 5}]}).ok()
    yard.act(number, "cancel").ok()
    assert _lines(yard.erp.patch(path, more)) == [(1, "BRICK", 6, 6, "open")]


def test_priority_and_due_date_reach_the_pickings_that_have_not_ended(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 9)
    head = {"priority": "Normal", "due_date": "2026-03-09"}
    first, other, ended = (yard.order(("BRICK", 1), head=head) for _ in range(3))
    yard.picked(ended, qty=1)
    number: int = yard.picking(first, other)["id"]
    WaveScenario(yard).wave([number], "plan")
    events = len(stack.events())

    for document in (first, ended):
        yard.erp.patch(
            f"/exit-documents/{document}", {"priority": "Alta", "due_date": "2026-03-12"}
        ).ok()

    shown = yard.erp.get(f"/pickings/{number}").ok()
    assert shown["priority"] == 1
    assert yard.erp.get("/pickings", query={"sort": "priority"}).data[0]["id"] == number
    yard.erp.patch(f"/exit-documents/{first}", {"priority": None}).ok()
    assert yard.erp.get(f"/pickings/{number}").data["priority"] == 2
    assert len(stack.events()) == events
    assert PICKINGS.get(stack.store(), number).entity.due_date == "2026-03-09"


def test_a_picking_keeps_the_priority_and_carrier_of_its_own_body(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 9)
    head = {"priority": "Normal", "carrier_code": "DHL", "due_date": "2026-03-09"}
    documents = [yard.order(("BRICK", 1), head=head) for _ in range(2)]
    own = yard.picking(documents[0], priority=7, carrier_code="UPS")["id"]
    follows = yard.picking(documents[1])["id"]
    changed = {"priority": "Alta", "carrier_code": "SEUR", "due_date": "2026-03-12"}

    for body in (changed, {"priority": None, "carrier_code": None}):
        for number in documents:
            yard.erp.patch(f"/exit-documents/{number}", body).ok()

    pickings = [one.entity for one in PICKINGS.get_many(stack.store(), [own, follows])]
    assert [(one.priority, one.carrier_code, one.due_date) for one in pickings] == [
        (7, "UPS", "2026-03-12"), (None, None, "2026-03-12"),
    ]  # fmt: skip


def test_address_carrier_and_metadata_change(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 9)
    head = {
        "carrier_code": "DHL",
        "service_code": "EXPRESS",
        "ship_to_address": {"name": "Ana", "city": "Bath"},
        "metadata": {f"n{number}": "x" for number in range(50)},
    }
    document, first, other = (yard.order(("BRICK", 1), head=head) for _ in range(3))
    path = f"/exit-documents/{document}"
    both = yard.erp.post("/pickings", {"document_ids": [first, other], "carrier_code": "UPS"}).id
    ended = yard.started(document)
    yard.act(ended, "cancel").ok()
    alone = yard.picking(document)["id"]

    changed = yard.erp.patch(
        path,
        {
            "ship_to_address": {"city": "Bristol", "country": "GB"},
            "carrier_code": "SEUR",
            "service_code": None,
            "metadata": {"n0": None, "n1": None, "new": "y"},
            "lines": [],
        },
    ).ok()

    address = {name: text for name, text in changed["ship_to_address"].items() if text}
    assert address == {"city": "Bristol", "country": "GB"}
    assert (changed["carrier_code"], changed["service_code"]) == ("SEUR", None)
    assert changed["metadata"] == {f"n{number}": "x" for number in range(2, 50)} | {"new": "y"}
    assert yard.erp.get(path).data == changed
    yard.erp.patch(f"/exit-documents/{first}", {"carrier_code": "SEUR"}).ok()
    pickings = PICKINGS.get_many(stack.store(), [both, alone, ended])
    carriers = [record.entity.carrier_code for record in pickings]
    assert carriers == ["UPS", "SEUR", "DHL"]
    refused = yard.erp.patch(
        path,
        {
            "ship_to_address": {"country": "Spain"},
            "carrier_code": "X" * 21,
            "metadata": {"n0": "", "n1": ""},
        },
    )
    assert refused.invalid_fields == ["ship_to_address.country", "carrier_code", "metadata"]
    too_large = {"metadata": {f"n{number}": "x" * 500 for number in range(20)}}
    assert yard.erp.patch(path, too_large).invalid_fields == ["metadata"]
    yard.erp.patch(path, {"metadata": {f"n{at}": "x" * 500 for at in range(2, 11)}}).ok()
    more = {f"n{at}": "x" * 500 for at in range(11, 20)}
    assert yard.erp.patch(path, {"metadata": more}).invalid_fields == ["metadata"]
    cleared = yard.erp.patch(path, {"ship_to_address": None, "carrier_code": None}).ok()
    assert (cleared["ship_to_address"], cleared["carrier_code"]) == (None, None)
    assert PICKINGS.get(stack.store(), alone).entity.carrier_code is None


def test_a_repeated_creation_is_compared_with_the_changed_document(
    yard: WarehouseScenario,
) -> None:
    both = [{"item_code": "BRICK", "qty": 100}, {"item_code": "CEMENT", "qty": 2}]
    path = _entry(yard, lines=both)
    given_up = [{"line_num": 1, "qty": 90}, {"line_num": 2, "qty": 0}]
    yard.erp.patch(path, {"lines": given_up, "comments": "Less"}).ok()

    def warning(**more: Any) -> object:
        answer = yard.erp.post("/entry-documents", document_body(**more), key=str(more))
        answer.ok(200)
        return answer.json().get("warning")

    assert warning(lines=[{"item_code": "BRICK", "qty": 90}], comments="Less") is None
    assert "lines" in str(warning(lines=both, comments="Less"))
    assert "comments" in str(warning(lines=[{"item_code": "BRICK", "qty": 90}]))


def test_a_repeated_creation_is_compared_with_the_changed_address(
    yard: WarehouseScenario,
) -> None:
    body = document_body(
        type="sale_order", ship_to_address={"city": "Bath", "country": "GB"}, carrier_code="DHL"
    )
    number = yard.erp.post("/exit-documents", body, key="first").id
    sent = {"ship_to_address": {"city": "Bristol"}, "carrier_code": None}
    yard.erp.patch(f"/exit-documents/{number}", sent).ok()

    again = yard.erp.post("/exit-documents", body, key="again").json()
    same = yard.erp.post("/exit-documents", {**body, **sent}, key="same").json()

    differing = again["warning"].partition("differs in: ")[2]
    assert differing == "ship_to_address.city, ship_to_address.country, carrier_code."
    assert "warning" not in same


def test_a_document_stored_without_ids_of_what_it_names_is_reopened(
    yard: WarehouseScenario, stack: Stack
) -> None:
    path = _entry(yard, lines=[{"item_code": code, "qty": 2} for code in ("BRICK", "CEMENT")])
    number = int(path.rpartition("/")[2])
    given_up = [{"line_num": 1, "qty": 0}, {"line_num": 2, "qty": 0}]
    assert yard.erp.patch(path, {"lines": given_up}).ok()["status"] == "completed"
    tx = Transaction(stack.store())
    record = ENTRIES.get(tx.store, number)
    ENTRIES.save(tx, record, record.entity, named={})  # as early releases stored it
    tx.commit()

    again = yard.erp.patch(path, {"lines": [{"item_code": "BRICK", "qty": 3}]}).ok()

    assert (again["status"], again["lines"][2]["open_qty"]) == ("open", 3)
    assert yard.erp.delete("/products/1").code == "conflict"


def test_an_order_reduced_to_what_has_left_is_closed(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    document = yard.order(("BRICK", 5), ("CEMENT", 1))
    path = f"/exit-documents/{document}"
    yard.picked(document, qty=2)
    _dispatch(yard, document, rest="keep").ok()
    below = yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 1}]})
    assert below.problems == {"lines.0": "qty 1 of line 1: 2 picked already"}

    less = yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 2}]}).ok()
    assert (less["status"], less["actions"]) == ("partial-complete", ["pick", "close"])
    closed = yard.erp.patch(path, {"lines": [{"line_num": 2, "qty": 0}]}).ok()

    assert (closed["status"], closed["actions"]) == ("closed", [])


def test_new_lines_count_their_unit_and_changed_quantities_base_units(
    yard: WarehouseScenario,
) -> None:
    yard.erp.put("/products/1/packaging", {"units": [{"unit": "BOX", "qty": 12}]}).ok()
    path = _entry(yard, lines=[{"item_code": "BRICK", "qty": 2, "unit": "BOX"}])
    new = {"item_code": "BRICK", "qty": 3, "unit": "box", "metadata": {"erp": "20"}}

    def units(answer: Response) -> list[tuple[float, str | None, float | None]]:
        return [(line["qty"], line["unit"], line["unit_qty"]) for line in answer.ok()["lines"]]

    added = yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 24}, new]})
    assert units(added) == [(24, "BOX", 2), (36, "box", 3)]
    assert [line["metadata"] for line in added.data["lines"]] == [{}, {"erp": "20"}]
    assert units(yard.erp.patch(path, {"lines": [{"line_num": 1, "qty": 30}]}))[0] == (
        30, None, None,
    )  # fmt: skip
    both = [{"line_num": 1, "qty": 3, "item_code": "BRICK", "unit": "BOX"}, {**new, "unit": "BAG"}]
    refused = yard.erp.patch(path, {"lines": both}).problems
    assert refused["lines.0.unit"] == "must not be sent with line_num: qty counts base units"
    assert "lines.1.unit" in refused


def test_a_repeated_creation_may_write_a_unit_in_another_case(yard: WarehouseScenario) -> None:
    yard.erp.put("/products/1/packaging", {"units": [{"unit": "Box", "qty": 12}]}).ok()
    body = document_body(lines=[{"item_code": "BRICK", "qty": 2, "unit": "BOX"}])
    yard.erp.post("/entry-documents", body, key="first").ok(201)

    for unit, differs in (("box", False), (None, True)):
        body["lines"][0]["unit"] = unit
        again = yard.erp.post("/entry-documents", body, key=f"again-{unit}").json()
        assert ("warning" in again) == differs
