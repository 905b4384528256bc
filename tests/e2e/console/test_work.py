"""What people decide and do: documents, receipts, pickings, approvals."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Response, Route, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill


def document(acme: httpx.Client, run: str, kind: str, qty: int, **more: object) -> dict[str, Any]:
    """Create a document of one line, and return it."""
    line = {"item_code": run, "qty": qty}
    types = {"entry": "purchase_order", "exit": "sale_order"}
    draft = {"type": types[kind], "external_ref": f"{kind}-{run}", "doc_date": "2026-03-01"}
    made = acme.post(
        f"/{kind}-documents",
        json=draft | {"partner_code": "C-1", "warehouse_code": f"W-{run}", "lines": [line], **more},
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )
    assert made.status_code == httpx.codes.CREATED, made.text
    created: dict[str, Any] = made.json()["data"]
    return created


def started_receipt(acme: httpx.Client, goods: str) -> int:
    """Create an entry document of 10, start a receipt of it, and return the id of the receipt."""
    order = document(acme, goods, "entry", 10)
    receipt: int = acme.post("/receipts", json={"document_id": order["id"]}).json()["data"]["id"]
    acme.post(f"/receipts/{receipt}/start")
    return receipt


def gateway_timeout(route: Route) -> None:
    """Answer as a gateway that does not wait any longer for the service."""
    route.fulfill(status=504, body="")


def test_figures_of_home_lead_to_what_they_count(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    document(acme, goods, "exit", 4, due_date="2026-03-02")
    answers: list[Response] = []

    def keep(answer: Response) -> None:  # playwright takes no method of a list
        answers.append(answer)

    person.page.on("response", keep)
    with person.page.expect_response(lambda answer: "/webhooks?per_page=" in answer.url):
        person.start()
    cards = person.page.locator(".figures a")
    overdue = cards.filter(has_text="Exit documents").filter(has_text="Overdue")
    expect(overdue).to_be_visible()
    expect(cards.nth(9)).to_be_visible()  # each figure is shown as soon as it is counted
    figures = {
        card.get_attribute("href"): card.locator("strong").inner_text() for card in cards.all()
    }
    counted = {
        answer.url.partition("/v1/")[2].replace("&per_page=1", ""): answer.json()["meta"]["total"]
        for answer in answers
        if "&per_page=1" in answer.url and answer.ok
    }
    (webhooks,) = (answer.json() for answer in answers if "/webhooks?per_page=" in answer.url)
    inactive = [one for one in webhooks["data"] if not one["is_active"]]
    counted["webhooks?is_active=false"] = len(inactive)
    for answer in answers:
        if "/replenishments?" in answer.url:
            counted[answer.url.partition("/v1/")[2]] = len(answer.json()["data"])
    for address, count in figures.items():
        assert address
        assert count == f"{counted[address]:,}"  # others may have changed the list since
        person.open(address)
        expect(person.page.locator(".tools")).to_be_visible()
    person.open("exit-documents?status=open,assigned")
    expect(person.page.get_by_role("button", name="Status: Open, Assigned")).to_be_visible()
    person.press("Filters")
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_label("Assigned").uncheck()
    dialog.get_by_label("Closed").check()
    dialog.get_by_role("button", name="Apply").click()
    expect(person.page.get_by_role("button", name="Status: Open, Closed")).to_be_visible()


def test_order_shows_what_can_be_sold(person: Person, acme: httpx.Client, goods: str) -> None:
    place = {"warehouse": f"W-{goods}", "bin_code": "A-1"}
    counted = {"item_code": goods, **place, "counted_qty": 10, "reason": "first count"}
    assert acme.post("/stock-adjustments", json=counted).status_code == httpx.codes.CREATED
    order = document(acme, goods, "exit", 4)
    person.start(f"exit-documents/{order['id']}")
    lines = person.page.get_by_role("region", name="Lines")
    expect(lines.get_by_role("columnheader", name="Can be sold")).to_be_visible()
    expect(lines.get_by_role("cell", name="6", exact=True)).to_be_visible()

    person.open("exit-documents/new")
    fill(person.page, {"Item code": goods, "Warehouse": f"W-{goods}"})
    sellable = person.page.get_by_text("Can be sold: 6")
    expect(sellable).to_be_visible()
    person.page.route(re.compile("/stock-levels"), lambda route: route.abort())
    fill(person.page, {"Item code": "other"})
    expect(sellable).to_have_count(0)  # it is that of the goods before


def test_goods_are_held_and_released(person: Person, acme: httpx.Client, goods: str) -> None:
    place = {"warehouse": f"W-{goods}", "bin_code": "A-1"}
    counted = {"item_code": goods, **place, "counted_qty": 10, "reason": "first count"}
    assert acme.post("/stock-adjustments", json=counted).status_code == httpx.codes.CREATED
    person.start("holds/new")
    page = person.page
    held = {"Warehouse": f"W-{goods}", "Reference": f"cart-{goods}"}
    fill(page, {**held, "Item code": goods, "Quantity": "11", "For seconds": "900"})
    expect(page.get_by_text("Can be sold: 10")).to_be_visible()
    person.press("Save")
    expect(page.get_by_label("Quantity")).to_have_attribute("aria-invalid", "true")
    fill(page, {"Quantity": "4"})
    person.press("Save")
    expect(person.shown("Status")).to_have_text("Active")

    level = {"item_code": goods}
    assert acme.get("/stock-levels", params=level).json()["data"][0]["sellable"] == 6
    expires = person.shown("Expires").inner_text()
    person.choose("Extend", {"For seconds": "3600"})
    expect(person.shown("Expires")).not_to_have_text(expires)  # the next action is on this state
    person.choose("Release")
    expect(person.shown("Status")).to_have_text("Released")
    assert acme.get("/stock-levels", params=level).json()["data"][0]["sellable"] == 10


def test_quantities_of_a_file_are_compared(
    person: Person, acme: httpx.Client, goods: str, tmp_path: Path
) -> None:
    place = {"warehouse": f"W-{goods}", "bin_code": "A-1"}
    counted = {"item_code": goods, **place, "counted_qty": 10, "reason": "first count"}
    assert acme.post("/stock-adjustments", json=counted).status_code == httpx.codes.CREATED
    sheet = tmp_path / "erp.csv"
    sheet.write_text(f"item_code,warehouse_code,qty\n{goods},W-{goods},12\n")
    person.start("stock-levels")
    person.page.get_by_role("link", name="Compare a file of quantities").click()
    person.page.locator("input[type=file]").set_input_files(sheet)
    person.press("Save")
    expect(person.shown("Status")).to_have_text("Completed")
    differences = person.page.get_by_role("region", name="Differences")
    expect(differences.get_by_role("cell", name="-2", exact=True)).to_be_visible()


def test_receipt_from_its_document_to_the_end(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    order = document(acme, goods, "entry", 10)
    person.start(f"entry-documents/{order['id']}")
    page = person.page
    person.press("New receipt")
    person.press("Save")
    person.press("Start")
    expect(person.shown("Status")).to_have_text("Started")
    expect(person.heading()).to_be_focused()  # the button is gone

    person.press("Receive goods")
    dialog = page.get_by_role("dialog")
    fill(dialog, {"Item code": goods, "Quantity": "many", "Position": "A-1"})
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog.get_by_label("Quantity")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("Quantity")).to_be_focused()
    fill(dialog, {"Quantity": "10"})
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog).to_have_count(0)
    expect(person.rows().first).to_contain_text(goods)
    person.press("Finalize")
    expect(person.shown("Status")).to_have_text("Finalized")
    expect(page.locator(".history li").filter(has_text=goods).first).to_be_visible()
    person.rows().first.get_by_role("link", name=goods).click()
    expect(person.shown("Item code")).to_have_text(goods)
    page.go_back()
    person.shown("Document").get_by_role("link").click()
    expect(person.heading()).to_have_text(order["doc_num"])
    found = acme.get("/stocks", params={"item_code": goods}).json()["data"]
    assert [(row["qty"], row["position"]["bin_code"]) for row in found] == [(10, "A-1")]


def test_everything_is_received_and_picked_in_one_step(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    receipt = started_receipt(acme, goods)
    person.start(f"receipts/{receipt}")
    person.choose("Receive all as ordered", {"Position": "A-1"})
    everything = person.page.get_by_role("button", name="Receive all as ordered")
    expect(everything).to_have_count(0)  # the next action is on this state
    person.press("Finalize")
    expect(person.shown("Status")).to_have_text("Finalized")

    order = document(acme, goods, "exit", 4)
    picking = acme.post("/pickings", json={"document_id": order["id"]}).json()["data"]["id"]
    person.open(f"pickings/{picking}")
    person.press("Start")
    person.press("Pick all as allocated")
    person.press("Finalize")
    expect(person.shown("Status")).to_have_text("Finalized")
    [line] = acme.get(f"/pickings/{picking}").json()["data"]["lines"]
    assert (line["qty"], line["picked_qty"], line["bin_code"]) == (4, 4, "A-1")


def test_approval_is_asked_for_seen_next_to_the_goods_granted_and_carried_out(
    new_person: NewPerson, acme: httpx.Client, goods: str
) -> None:
    receipt = started_receipt(acme, goods)
    worker = new_person("entries.manage", "inventory.manage")
    worker.start(f"receipts/{receipt}")
    line = {"Item code": goods, "Quantity": "500", "Position": "A-1"}
    worker.choose("Receive goods", line)
    dialog = worker.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("490 more than is open")
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog.get_by_role("alert")).to_contain_text("needs an approval")
    expect(dialog.get_by_label("Approve receiving more than ordered")).to_have_count(0)
    address = dialog.get_by_role("link", name="See the approval").get_attribute("href")
    assert address

    supervisor = new_person("approvals.grant")
    supervisor.start(address)
    expect(supervisor.shown("Code")).to_have_text("More received than ordered")
    asked = supervisor.page.locator(".asked")
    expect(asked).to_contain_text("Receive goods")
    expect(asked).to_contain_text("Quantity: 500")
    ordered = supervisor.page.get_by_role("heading", name="Entry document ").locator("xpath=..")
    expect(ordered.locator("tbody tr")).to_contain_text([goods])
    expect(ordered.locator("td.number").nth(1)).to_have_text("10")
    grant = supervisor.page.get_by_role("button", name=re.compile("grant", re.IGNORECASE)).first
    grant.click()
    asked = supervisor.page.get_by_role("dialog")
    asked.get_by_label("Comment").fill("Counted twice.")
    asked.get_by_role("button", name=re.compile("grant", re.IGNORECASE)).click()
    expect(supervisor.shown("Status")).to_have_text("Granted")
    expect(supervisor.shown("Comment")).to_have_text("Counted twice.")

    name = worker.username.partition("@")[0]
    expect(supervisor.shown("Requested by")).to_have_text(f"Person {name}")
    expect(supervisor.page.get_by_role("button", name="Receive goods")).to_have_count(0)

    worker.page.once("dialog", lambda question: question.accept())  # what was written is lost
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)
    worker.open(address)
    expect(worker.page.get_by_role("button", name="Receive goods")).to_be_visible()
    worker.open()
    granted = worker.page.locator(".notice").filter(has_text="Your request was granted")
    expect(granted.get_by_role("button", name="Receive goods")).to_be_visible()
    worker.open(f"receipts/{receipt}")
    granted.get_by_role("button", name="Receive goods").click()
    expect(granted).to_have_count(0)
    expect(worker.page.get_by_role("region", name="Lines").locator("tbody tr")).to_contain_text(
        ["500"]
    )
    assert acme.get(address.removeprefix("/")).json()["data"]["status"] == "used"


def test_two_people_at_one_picking(new_person: NewPerson, acme: httpx.Client, goods: str) -> None:
    stock = {"warehouse": f"W-{goods}", "bin_code": "A-1", "item_code": goods, "counted_qty": 10}
    made = acme.post("/stock-adjustments", json=stock | {"reason": "count"})
    assert made.status_code == httpx.codes.CREATED, made.text
    order = document(acme, goods, "exit", 4)
    picking = acme.post("/pickings", json={"document_id": order["id"]}).json()["data"]["id"]
    one, other = new_person("exits.manage"), new_person("exits.manage")
    one.start(f"pickings/{picking}")
    other.start(f"pickings/{picking}")
    expect(other.page.get_by_role("button", name="Start")).to_be_visible()
    one.press("Start")
    expect(one.shown("Status")).to_have_text("Started")
    other.press("Start")
    dialog = other.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this meanwhile")
    dialog.get_by_role("button", name="Go back").click()
    expect(other.shown("Status")).to_have_text("Started")
    assert acme.get(f"/pickings/{picking}").json()["data"]["status"] == "started"


def test_goods_that_somebody_else_receives_meanwhile_cost_nobody_what_was_written(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    receipt = started_receipt(acme, goods)
    person.start(f"receipts/{receipt}")
    person.press("Receive goods")
    line = {"item_code": goods, "qty": 2, "bin_code": "A-1"}
    acme.post(f"/receipts/{receipt}/lines", json=line).raise_for_status()
    dialog = person.page.get_by_role("dialog")
    fill(dialog, {"Item code": goods, "Quantity": "3", "Position": "A-1"})
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this meanwhile")
    received = person.page.get_by_role("region", name="Lines").locator("tbody tr")
    expect(received).to_have_count(1)
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog).to_have_count(0)
    expect(received).to_have_count(2)


def test_form_shows_what_others_changed_and_keeps_what_was_written(
    person: Person, acme: httpx.Client, run: str
) -> None:
    draft = {"item_code": run, "name": f"Crate {run}"}
    product = acme.post("/products", json=draft).json()["data"]["id"]
    person.start(f"products/{product}")
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    fill(dialog, {"Name": f"Box {run}"})
    acme.patch(f"/products/{product}", json={"barcode": "B-1"}).raise_for_status()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this meanwhile")
    expect(dialog.get_by_label("Name")).to_have_value(f"Box {run}")
    expect(dialog.get_by_text("Barcode: B-1")).to_be_visible()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(person.heading()).to_have_text(run)
    expect(person.shown("Name")).to_have_text(f"Box {run}")
    changed = acme.get(f"/products/{product}").json()["data"]
    assert (changed["name"], changed["barcode"]) == (f"Box {run}", "B-1")

    path = f"/products/{product}/packaging"
    person.press("Change the packaging")
    fill(dialog, {"Weight (kg)": "2"})
    acme.put(path, json={"length_mm": 300}).raise_for_status()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Length (mm): 300")).to_be_visible()
    expect(dialog.get_by_label("Weight (kg)")).to_have_value("2")
    dialog.get_by_role("button", name="Save").click()
    expect(person.shown(re.escape("Weight (kg)"))).to_have_text("2")
    packaging = acme.get(path).json()["data"]
    assert (packaging["weight_kg"], packaging["length_mm"]) == (2, 300)


def test_metadata_is_a_row_for_each_name(person: Person, acme: httpx.Client, run: str) -> None:
    draft = {"item_code": run, "name": f"Crate {run}", "metadata": {"erp.key": "47", "old": "x"}}
    product = acme.post("/products", json=draft).json()["data"]["id"]
    person.start(f"products/{product}")
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Remove", exact=True).last.click()
    dialog.get_by_role("button", name="Add", exact=True).click()
    added = dialog.locator(".row").last
    fill(added, {"Name": "cost center", "Value": "B-7"})
    dialog.get_by_role("button", name="Save").click()
    expect(added.locator(".problem")).to_be_visible()
    fill(added, {"Name": "cost.center"})
    dialog.get_by_role("button", name="Save").click()
    expect(person.shown("Metadata").locator("tr")).to_have_text(["erp.key47", "cost.centerB-7"])
    changed = acme.get(f"/products/{product}").json()["data"]["metadata"]
    assert changed == {"erp.key": "47", "cost.center": "B-7"}


def test_lines_of_an_order_are_changed_and_added(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    [product] = acme.get("/products", params={"item_code": goods}).json()["data"]
    units = {"units": [{"unit": "BOX", "qty": 12}]}
    acme.put(f"/products/{product['id']}/packaging", json=units).raise_for_status()
    ordered = [{"item_code": goods, "qty": 2, "unit": "BOX"}, {"item_code": goods, "qty": 5}]
    order = document(acme, goods, "entry", 0, lines=ordered)
    receipt = acme.post("/receipts", json={"document_id": order["id"]}).json()["data"]["id"]
    acme.post(f"/receipts/{receipt}/start")
    received = {"item_code": goods, "qty": 10, "bin_code": "A-1"}
    acme.post(f"/receipts/{receipt}/lines", json=received).raise_for_status()
    acme.post(f"/receipts/{receipt}/finalize").raise_for_status()
    person.start(f"entry-documents/{order['id']}")
    expect(person.rows().first).to_contain_text("24 (2 BOX)")
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    lines = dialog.locator(".row")
    fill(lines.nth(0), {"Quantity": "9"})
    fill(lines.nth(1), {"Quantity": "0"})
    dialog.get_by_role("button", name="Add", exact=True).last.click()
    fill(lines.nth(2), {"Item code": goods, "Quantity": "3", "Unit": "BOX"})
    dialog.get_by_role("button", name="Save").click()
    expect(lines.nth(0).locator(".problem")).to_contain_text("10 received already")
    expect(dialog.locator(".problem")).to_have_count(1)
    fill(lines.nth(0), {"Quantity": "12"})
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(person.rows().nth(2)).to_contain_text("36 (3 BOX)")
    changed = acme.get(f"/entry-documents/{order['id']}").json()["data"]["lines"]
    assert [(line["qty"], line["unit"]) for line in changed] == [(12, None), (0, None), (36, "BOX")]


def test_an_address_loses_a_part_and_a_short_dispatch_keeps_its_rest(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    stock = {"warehouse": f"W-{goods}", "bin_code": "A-1", "item_code": goods, "counted_qty": 2}
    acme.post("/stock-adjustments", json=stock | {"reason": "count"}).raise_for_status()
    address = {"line1": "7 Quay Street", "city": "Bristol", "country": "GB"}
    order = document(acme, goods, "exit", 4, ship_to_address=address)
    path = f"/exit-documents/{order['id']}"
    picking = acme.post("/pickings", json={"document_id": order["id"]}).json()["data"]["id"]
    for action, body in (
        ("start", {}),
        ("picks", {"item_code": goods, "qty": 2, "bin_code": "A-1"}),
        ("finalize", {"shortage_reason": "other"}),
    ):
        acme.post(f"/pickings/{picking}/{action}", json=body).raise_for_status()
    person.start(path[1:])
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_text("A quantity of 0 gives up a line.")).to_be_visible()
    fill(dialog, {"City": ""})
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    left = acme.get(path).json()["data"]["ship_to_address"]
    assert {name: text for name, text in left.items() if text} == {
        "line1": "7 Quay Street", "country": "GB",
    }  # fmt: skip

    person.press("Dispatch")
    expect(dialog.locator(".danger")).to_contain_text(f"{goods}: 2")
    fill(dialog, {"Rest": "Keep it open"})
    dialog.get_by_role("button", name="Dispatch", exact=True).click()
    messages = person.page.get_by_role("status")  # the field Status is the same as before
    expect(messages).to_contain_text("Done: Dispatch (Partly completed)")
    expect(dialog).to_have_count(0)
    person.press("New picking")
    person.press("Save")
    expect(person.page.get_by_role("button", name="Start")).to_be_visible()


@pytest.mark.parametrize("end", [Route.abort, gateway_timeout])
def test_answer_that_is_lost_does_nothing_twice(
    person: Person, acme: httpx.Client, run: str, end: Callable[[Route], None]
) -> None:
    keys: list[str | None] = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers.get("idempotency-key"))
        route.fetch()  # the service does it, and the answer is lost
        end(route)

    person.start("clients/new")
    fill(person.page, {"Document number": str(int(run, 16)), "Name": f"Shop {run}"})
    person.page.route(re.compile(r"/v1/clients$"), lose, times=4)
    person.press("Save")
    expect(person.page.get_by_role("alert")).to_contain_text("nothing is done twice")
    expect(person.page.get_by_label("Name")).to_be_disabled()
    person.press("Try again")
    expect(person.heading()).to_have_text(f"Shop {run}")
    assert len(set(keys)) == 1
    found = acme.get("/clients", params={"document_id": int(run, 16)}).json()
    assert found["meta"]["total"] == 1


def test_date_without_a_year_is_not_sent_as_none(person: Person) -> None:
    sent: list[str] = []
    person.start("entry-documents/new")
    person.page.on("request", lambda request: sent.append(request.method))
    due = person.page.get_by_label("Due date")
    due.press_sequentially("031")
    person.press("Save")
    expect(due).to_be_focused()
    due.fill("2026-03-01")
    person.press("Save")
    expect(person.page.locator("[aria-invalid=true]").first).to_be_focused()
    assert sent.count("POST") == 1


def test_problems_of_a_long_form_come_into_view(person: Person) -> None:
    person.start("entry-documents/new")
    for _ in range(3):
        person.page.get_by_role("button", name="Add", exact=True).last.click()
    person.press("Save")
    first = person.page.locator("[aria-invalid=true]").first
    expect(first).to_be_focused()
    expect(first).to_be_in_viewport()
    problems = person.page.locator("[name^=lines][aria-invalid=true]")
    expect(problems).not_to_have_count(0)
    person.page.get_by_role("button", name="Remove").first.click()
    expect(problems).to_have_count(0)  # they name the rows by their numbers before


def test_answer_that_comes_late_does_not_lead_away_from_another_screen(
    person: Person, run: str
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    person.start("clients/new")
    fill(person.page, {"Document number": str(int(run, 16)), "Name": f"Shop {run}"})
    person.page.route(re.compile(r"/v1/clients$"), hold)
    person.press("Save")
    person.page.get_by_role("link", name="Providers", exact=True).click()
    expect(person.heading()).to_have_text("Providers")
    held[0].continue_()
    expect(person.page.get_by_text("Done: New client")).to_be_visible()
    expect(person.heading()).to_have_text("Providers")
