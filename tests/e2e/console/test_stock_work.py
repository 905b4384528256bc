"""What people do with the stock: they count it, replenish pick faces, and put goods away."""

import re

import httpx
from playwright.sync_api import Locator, expect

from tests.e2e.console.person import Person, fill
from tests.e2e.console.test_work import started_receipt


def stock(acme: httpx.Client, goods: str, bin_code: str, qty: int) -> None:
    """Put goods at a position of their warehouse, which is created if it is not `A-1`."""
    place = {"whs_code": f"W-{goods}", "bin_code": bin_code, "is_pickable": True}
    if bin_code != "A-1":
        acme.post("/warehouse-positions", json=place).raise_for_status()
    adjusted = {"item_code": goods, "warehouse": f"W-{goods}", "bin_code": bin_code}
    acme.post(
        "/stock-adjustments", json=adjusted | {"counted_qty": qty, "reason": "first count"}
    ).raise_for_status()


def on_hand(acme: httpx.Client, goods: str) -> float:
    """Return how much there is of a product."""
    level = acme.get("/stock-levels", params={"item_code": goods}).json()["data"][0]
    return float(level["on_hand"])


def count_of(acme: httpx.Client, goods: str) -> int:
    """Create a count of the product, and return its id."""
    draft = {"warehouse_code": f"W-{goods}", "item_codes": [goods]}
    made: int = acme.post("/counts", json=draft).raise_for_status().json()["data"]["id"]
    return made


def line_at(person: Person, bin_code: str) -> Locator:
    """Return the line of a position."""
    cell = person.page.get_by_role("cell", name=bin_code, exact=True)
    return person.rows().filter(has=cell)


def count_line(person: Person, bin_code: str, qty: str) -> None:
    """Count the line of a position, and wait until it is shown as counted."""
    line_at(person, bin_code).get_by_role("button", name="Count", exact=True).click()
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_label("Position (required)")).to_have_value(bin_code)
    fill(dialog, {"Quantity": qty})
    dialog.get_by_role("button", name="Count", exact=True).click()
    expect(dialog).to_have_count(0)
    again = line_at(person, bin_code).get_by_role("button", name="Count again")
    expect(again).to_be_visible()


def test_positions_are_counted_and_their_difference_is_posted(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    for bin_code, qty in (("A-1", 10), ("A-2", 5), ("A-10", 3), ("B-1", 1)):
        stock(acme, goods, bin_code, qty)
    person.start("counts/new")
    page = person.page
    fill(page, {"Warehouse": f"W-{goods}", "From": "A-1", "To": "A-10"})
    person.press("Add the range")
    expect(page.get_by_label(re.compile("^Positions"))).to_have_value("A-1\nA-2\nA-10")
    person.press("Save")
    expect(person.heading()).to_have_text(re.compile(r"^CN-\d+$"))
    expect(person.shown("Progress")).to_contain_text("Lines: 3")
    number = int(page.url.rpartition("/")[2])

    # Somebody else counts another line: it does not refuse this one.
    other = {"bin_code": "A-10", "item_code": goods, "qty": 3}
    acme.post(f"/counts/{number}/lines", json=other).raise_for_status()
    count_line(person, "A-1", "7")
    count_line(person, "A-2", "6")
    line_at(person, "A-2").get_by_role("button", name="Count again").click()
    count_line(person, "A-2", "5")
    person.press("Finish")
    expect(person.shown("Status")).to_have_text("Counted")
    expect(person.rows()).to_have_count(1)
    expect(page.get_by_role("columnheader", name="Moved since")).to_be_visible()
    moved = (
        person.rows()
        .get_by_role("cell")
        .nth([one.inner_text() for one in page.locator("thead th").all()].index("Moved since"))
    )
    expect(moved).to_have_text("0")

    stock(acme, goods, "A-1", 9)  # one was taken after the count
    person.open(f"counts/{number}")
    expect(moved).to_have_text("-1")
    person.press("Post")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"{goods}: -3")
    dialog.get_by_role("button", name="Post", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(person.shown("Status")).to_have_text("Posted")
    assert on_hand(acme, goods) == 6 + 5 + 3 + 1


def test_sheet_of_a_count_is_printed_without_what_is_expected(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    stock(acme, goods, "A-1", 4711)
    number = count_of(acme, goods)
    page = person.page
    page.add_init_script("globalThis.print = () => undefined")
    person.start(f"counts/{number}")
    expect(page.get_by_role("cell", name="4,711", exact=True)).to_be_visible()
    person.press("Count sheet")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name=f"Count sheet CN-{number}")).to_be_visible()
    sheet = page.locator(".sheet")
    expect(sheet.get_by_role("cell", name=goods, exact=True)).to_be_visible()
    expect(sheet).not_to_contain_text("4,711")
    expect(page.get_by_role("cell", name="4,711", exact=True)).to_be_hidden()
    expect(page.get_by_role("navigation", name="Menu")).to_be_hidden()
    assert page.pdf().startswith(b"%PDF-")


def test_pick_faces_below_minimum_are_replenished(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    stock(acme, goods, "R-1", 25)
    acme.post(
        "/warehouse-positions", json={"whs_code": f"W-{goods}", "bin_code": "A-2"}
    ).raise_for_status()
    for bin_code in ("A-1", "A-2"):
        face = {"item_code": goods, "warehouse_code": f"W-{goods}", "bin_code": bin_code}
        acme.post("/pick-faces", json=face | {"minimum": 5, "maximum": 15}).raise_for_status()
    person.start(f"replenishments?warehouse=W-{goods}")
    expect(person.rows()).to_have_count(2)
    line_at(person, "A-1").get_by_label("Choose").check()
    person.press("Create the chosen ones (1)")
    expect(line_at(person, "A-1")).to_contain_text("Transfer of 15 created")
    expect(person.page.get_by_text("1 transfer created")).to_be_visible()
    person.press("Create all")
    expect(line_at(person, "A-2")).to_contain_text("Transfer of 10 created · 5 not in stock")
    asked = {"from_warehouse": f"W-{goods}", "status": "pending"}
    moves = acme.get("/transfers", params=asked).json()["data"]
    assert len(moves) == 2


def test_suggested_position_is_taken(person: Person, acme: httpx.Client, goods: str) -> None:
    receipt = started_receipt(acme, goods)
    place = {"whs_code": f"W-{goods}", "bin_code": "S-1", "type": "storage", "capacity_units": 6}
    acme.post("/warehouse-positions", json=place).raise_for_status()
    person.start(f"receipts/{receipt}")
    person.rows().get_by_role("button", name="Receive").click()
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_role("button", name="S-1 · Empty, fits 6").click()
    expect(dialog.get_by_label("Position")).to_have_value("S-1")
    fill(dialog, {"Quantity": "6"})
    dialog.get_by_role("button", name="Receive goods", exact=True).click()
    expect(dialog).to_have_count(0)
    lines = person.page.get_by_role("region", name="Lines", exact=True)
    expect(lines.get_by_role("cell", name="S-1", exact=True)).to_be_visible()
