"""How many clicks and typed values whole jobs take, and that they end as they should."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.console.person import Person, fill, violations


@dataclass
class Hand:
    """A person whose clicks and typed values are counted. A choice of a list is a click."""

    person: Person
    clicks: int = 0
    typed: int = 0

    def click(self, name: str, within: Locator | None = None) -> None:
        """Click a button or a link."""
        place = within or self.person.page.locator("main")
        control = place.get_by_role("button", name=name, exact=True)
        control.or_(place.get_by_role("link", name=name, exact=True)).first.click()
        self.clicks += 1

    def fill(self, place: Locator, fields: Mapping[str, str]) -> None:
        """Fill in fields by their labels."""
        fill(place, fields)
        self.typed += len(fields)

    def choose(self, place: Locator, label: str, value: str) -> None:
        """Choose from a list."""
        fill(place, {label: value})
        self.clicks += 1

    def confirm(self, name: str) -> None:
        """Press the button of a dialog; the dialog closes."""
        self.click(name, self.dialog.locator("form"))
        expect(self.dialog).to_have_count(0)

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.person.page.get_by_role("dialog")

    def line(self, table: str, item: str) -> Locator:
        """Return a row of a table with buttons."""
        rows = self.person.page.get_by_role("region", name=table, exact=True).locator("tbody tr")
        return rows.filter(has_text=item)

    def expect_status(self, status: str) -> None:
        """Wait for the status of the resource."""
        expect(self.person.shown("Status")).to_have_text(status)


@pytest.fixture
def hand(person: Person) -> Hand:
    """A user with every permission."""
    return Hand(person)


@pytest.fixture
def items(acme: httpx.Client, run: str) -> list[str]:
    """Codes of three products, of each of which 10 are at `A-1` of the warehouse `W-{run}`."""
    acme.post("/warehouses", json={"whs_code": f"W-{run}", "name": run}).raise_for_status()
    bin_ = {"whs_code": f"W-{run}", "bin_code": "A-1"}
    acme.post("/warehouse-positions", json=bin_).raise_for_status()
    codes = [f"{run}-{number}" for number in range(3)]
    for code in codes:
        acme.post("/products", json={"item_code": code, "name": code}).raise_for_status()
        stock = {"warehouse": f"W-{run}", "bin_code": "A-1", "item_code": code, "counted_qty": 10}
        acme.post("/stock-adjustments", json=stock | {"reason": "count"}).raise_for_status()
    return codes


def create(acme: httpx.Client, run: str, path: str, items: list[str], **more: object) -> int:
    """Create a document with 4 of each product, and return its id."""
    draft = {
        "external_ref": run, "doc_date": "2026-03-01", "partner_code": "C-1",
        "warehouse_code": f"W-{run}",
        "lines": [{"item_code": code, "qty": 4} for code in items],
    }  # fmt: skip
    key = {"Idempotency-Key": f"{path} {more.get('external_ref', run)}"}
    made = acme.post(path, json=draft | more, headers=key)
    assert made.is_success, made.text
    return int(made.json()["data"]["id"])


def test_three_lines_are_received_with_two_receipts(
    hand: Hand, acme: httpx.Client, run: str, items: list[str]
) -> None:
    order = create(acme, run, "/entry-documents", items, type="purchase_order")
    hand.person.start(f"entry-documents/{order}")
    doc_num = hand.person.heading().inner_text()
    hand.click("Receive")
    hand.expect_status("Started")
    hand.click("Receive", hand.line("Expected", items[0]))
    expect(hand.dialog.get_by_label("Quantity")).to_be_focused()
    expect(hand.dialog.get_by_label("Quantity")).to_have_value("4")
    hand.fill(hand.dialog, {"Quantity": "3", "Position": "A-1"})
    hand.confirm("Receive goods")
    expect(hand.line("Expected", items[0])).to_contain_text("Partial")
    hand.click("Finalize")
    hand.expect_status("Finalized")
    hand.click(doc_num)
    hand.click("Receive")
    hand.expect_status("Started")
    hand.click("Receive all as ordered")
    hand.fill(hand.dialog, {"Position": "A-1"})
    hand.confirm("Receive all as ordered")
    expect(hand.line("Lines", items[2])).to_be_visible()
    hand.click("Finalize")
    hand.expect_status("Finalized")
    received = acme.get(f"/entry-documents/{order}").json()["data"]
    assert [line["received_qty"] for line in received["lines"]] == [4, 4, 4]
    assert (hand.clicks, hand.typed) <= (9, 4)


def test_sales_order_is_picked_packed_and_dispatched(
    hand: Hand, run: str, items: list[str]
) -> None:
    hand.person.start("exit-documents")
    page = hand.person.page
    hand.click("New exit document")
    form = page.locator("main form")
    hand.fill(form, {"Reference": run, "Partner code": "C-1", "Warehouse": f"W-{run}"})
    form.get_by_role("group", name=re.compile("^Lines")).get_by_role(
        "button", name="Add"
    ).last.click()
    hand.clicks += 1
    expect(form.locator(".row").nth(1).get_by_label("Item code")).to_be_focused()
    for at in (0, 1):
        hand.fill(form.locator(".row").nth(at), {"Item code": items[at], "Quantity": "4"})
    hand.click("Save")
    hand.click("Pick")
    hand.expect_status("Started")
    doc_num = hand.person.shown("Document").get_by_role("link").inner_text()
    hand.click("Pick all as allocated")
    expect(hand.line("Lines", items[1])).to_contain_text("Picked")
    hand.click("Finalize")
    hand.expect_status("Finalized")
    hand.click(doc_num)
    hand.click("Pack")
    packing = re.compile("^PK|^PO|^P")
    expect(hand.person.heading()).to_have_text(packing)
    code = hand.person.heading().inner_text()
    hand.click("New carton")
    hand.expect_status("Open")
    hand.click("Pack all that is left")
    expect(hand.line("Contents", items[1])).to_be_visible()
    hand.click("Close")
    hand.fill(hand.dialog, {"Weight (kg)": "2"})
    hand.confirm("Close")
    hand.expect_status("Closed")
    with page.expect_response(re.compile("/label")):
        hand.click("Label (PDF)")
    hand.click(code)
    expect(hand.person.heading()).to_have_text(code)
    hand.click("Complete")
    hand.expect_status("Packed")
    with page.expect_response(re.compile("packing-slip")):
        hand.click("Packing slip (PDF)")
    hand.click(doc_num)
    hand.click("Dispatch")
    hand.expect_status("Closed")
    assert (hand.clicks, hand.typed) <= (18, 8)


def test_return_of_two_lines_with_two_dispositions(
    hand: Hand, acme: httpx.Client, run: str, items: list[str]
) -> None:
    settings = acme.get("/settings").json()["data"]["blind_returns"]
    acme.patch("/settings", json={"blind_returns": True}).raise_for_status()
    back = {
        "partner_code": "C-1", "warehouse_code": f"W-{run}",
        "lines": [{"item_code": code, "qty": 2, "reason": "other"} for code in items[:2]],
    }  # fmt: skip
    # a function may know the settings of 10 seconds ago
    created = acme.post("/returns", json=back)
    for _ in range(30):
        if created.status_code != httpx.codes.UNPROCESSABLE_ENTITY:
            break
        time.sleep(1)
        created = acme.post("/returns", json=back)
    made = created.json()["data"]["id"]
    acme.patch("/settings", json={"blind_returns": settings}).raise_for_status()
    hand.person.start(f"returns/{made}")
    hand.click("Receive goods")
    rows = hand.dialog.locator(".row")
    expect(rows).to_have_count(2)
    for at in (0, 1):
        hand.fill(rows.nth(at), {"Position": "A-1"})
    hand.confirm("Receive goods")
    hand.click("Finish receiving")
    hand.expect_status("Received")
    hand.click("Decide on the goods")
    hand.choose(rows.nth(0), "Action", "Restock")
    hand.fill(rows.nth(0), {"Position": "A-1"})
    hand.choose(rows.nth(1), "Action", "Scrap")
    hand.confirm("Decide on the goods")
    lines = acme.get(f"/returns/{made}").json()["data"]["lines"]
    assert [(one["restocked_qty"], one["scrapped_qty"]) for one in lines] == [(2, 0), (0, 2)]
    assert (hand.clicks, hand.typed) <= (7, 3)


def test_wave_of_five_orders_is_released(
    hand: Hand, acme: httpx.Client, run: str, items: list[str]
) -> None:
    lines = [{"item_code": items[0], "qty": 2}]
    orders = [
        create(acme, run, "/exit-documents", [], type="sale_order", external_ref=ref, lines=lines)
        for ref in (f"{run}-{at}" for at in range(5))
    ]
    hand.person.start(f"exit-documents?search={run}&status=open")
    page = hand.person.page
    expect(hand.person.rows()).to_have_count(5)
    page.get_by_role("checkbox", name="Choose all on this page").press("Space")
    hand.clicks += 1
    hand.click("New wave")
    expect(hand.dialog.get_by_label("Warehouse")).to_have_value(f"W-{run}")
    hand.confirm("New wave")
    hand.expect_status("Planned")
    assert violations(page) == []
    hand.click("Release")
    hand.expect_status("Released")
    assert hand.clicks <= 4
    assert hand.typed == 0
    wave = acme.get(f"/waves/{page.url.rsplit('/', 1)[1]}").json()["data"]
    pickings = [acme.get(f"/pickings/{one['picking_id']}").json()["data"] for one in wave["orders"]]
    assert {one["document"]["id"] for one in pickings} == {*orders}

    hand.person.open(f"pickings?search={run}&status=pending")
    expect(hand.person.rows()).to_have_count(5)
    started = pickings[0]["id"]
    acme.post(f"/pickings/{started}/start").raise_for_status()
    page.get_by_role("checkbox", name="Choose all on this page").check()
    hand.click("Start")
    results = page.locator(".many")
    expect(results).to_contain_text("4 done, 1 refused")
    expect(results).to_contain_text(f"{pickings[0]['code']}: ")


def test_order_is_found_by_the_reference_of_its_customer(
    hand: Hand, acme: httpx.Client, run: str, items: list[str]
) -> None:
    order = create(
        acme, run, "/exit-documents", items[:1], type="sale_order", external_ref=f"SO-{run}"
    )
    picking = acme.post("/pickings", json={"document_id": order})
    assert picking.is_success, picking.text
    hand.person.start()
    page = hand.person.page
    field = page.get_by_role("combobox", name="Find anything")
    expect(field).to_be_visible()
    page.keyboard.press("/")
    expect(field).to_be_focused()
    hand.fill(page.locator("header"), {"Find anything": f"so-{run.lower()}"})
    field.press("Enter")
    expect(hand.person.heading()).to_have_text(f"EX-{order}")
    assert (hand.clicks, hand.typed) <= (1, 1)


def test_what_an_action_gives_up_is_said_before_it(
    hand: Hand, acme: httpx.Client, run: str, items: list[str]
) -> None:
    order = create(acme, run, "/exit-documents", items[:1], type="sale_order")
    hand.person.start(f"exit-documents/{order}")
    hand.click("Pick")
    hand.expect_status("Started")
    hand.click("Pick", hand.line("Lines", items[0]))
    expect(hand.dialog.get_by_label("Position")).to_have_value("A-1")
    hand.fill(hand.dialog, {"Quantity": "1"})
    hand.confirm("Pick goods")
    expect(hand.line("Lines", items[0])).to_contain_text("Partial")
    hand.click("Finalize")
    expect(hand.dialog.locator(".danger")).to_contain_text(f"{items[0]}: 3")
    hand.choose(hand.dialog, "Reason for the shortage", "Damaged")
    hand.confirm("Finalize")
    hand.expect_status("Finalized")

    entry = create(acme, run, "/entry-documents", items[:1], type="purchase_order")
    hand.person.open(f"entry-documents/{entry}")
    hand.click("Receive")
    hand.expect_status("Started")
    hand.click("Receive", hand.line("Expected", items[0]))
    hand.fill(hand.dialog, {"Quantity": "400", "Position": "A-1"})
    hand.click("Receive goods", hand.dialog.locator("form"))
    expect(hand.dialog.get_by_role("alert")).to_contain_text("396 more than is open")
    pending = acme.get("/approvals", params={"status": "pending", "per_page": 100})
    assert items[0] not in pending.text
    hand.fill(hand.dialog, {"Quantity": "4"})
    hand.confirm("Receive goods")
    hand.click("Undo", hand.line("Lines", items[0]))
    hand.confirm("Undo received goods")
    expect(hand.line("Expected", items[0])).to_contain_text("Open")
