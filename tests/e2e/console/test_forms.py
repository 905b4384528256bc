"""Forms: scans, the Enter key, lines, suggestions, names of ids, and the question on leaving."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Dialog, Locator, Route, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill, violations
from tests.e2e.console.test_find import field, options
from tests.e2e.console.test_work import document, started_receipt


def gtin_of(first: int, run: str) -> str:
    """Return a GTIN of 14 digits, which begins with `first` and is used once."""
    digits = f"{first}{int(run, 16) % 10**12:012}"
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


@pytest.fixture
def gtin(acme: httpx.Client, goods: str) -> str:
    """GTIN of a case of 12 of the product `goods`."""
    code = gtin_of(1, goods)
    [product] = acme.get("/products", params={"item_code": goods}).json()["data"]
    packed = {"gtins": [{"gtin": code, "units": 12}]}
    acme.put(f"/products/{product['id']}/packaging", json=packed).raise_for_status()
    return code


def line(person: Person, at: int) -> Locator:
    """Return a line of the form."""
    return person.page.locator("main form .row").nth(at)


def posted(person: Person) -> list[str]:
    """Return the list to which the writes are added from now on."""
    sent: list[str] = []
    person.page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    return sent


def answer(person: Person, *, leave: bool) -> list[str]:
    """Answer each question; return the list to which the questions are added."""
    asked: list[str] = []

    def decide(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept() if leave else dialog.dismiss()

    person.page.on("dialog", decide)
    return asked


def test_scans_fill_a_line_and_go_on_without_sending_the_form(
    person: Person, goods: str, gtin: str
) -> None:
    person.start("entry-documents/new")
    sent = posted(person)
    keyboard = person.page.keyboard
    first = line(person, 0)
    first.get_by_label("Item code").focus()
    keyboard.type(f"]C101{gtin}17270331302\x1d10L/7")
    keyboard.press("Enter")
    expect(first.get_by_label("Item code")).to_have_value(goods)
    expect(first.get_by_label("Quantity")).to_be_focused()
    expect(first.get_by_label("Quantity")).to_have_value("24")
    expect(first.get_by_label("Batch")).to_have_value("L/7")
    expect(first.get_by_label("Expiry date")).to_have_value("2027-03-31")
    keyboard.press("Enter")
    expect(first.get_by_label("Unit")).to_be_focused()
    last = first.locator("input").last
    last.focus()
    keyboard.press("Enter")
    second = line(person, 1)
    expect(second.get_by_label("Item code")).to_be_focused()
    keyboard.type(gtin[:-1] + str((int(gtin[-1]) + 1) % 10))
    keyboard.press("Enter")
    second.get_by_label("Item code").fill(goods)
    keyboard.press("Enter")
    expect(second.get_by_label("Quantity")).to_be_focused()
    expect(second.get_by_label("Item code")).to_have_value(goods)
    assert sent == []
    keyboard.press("Control+Enter")
    expect(person.page.locator("[aria-invalid=true]").first).to_be_visible()
    assert len(sent) == 1


def test_late_answer_to_a_scan_does_not_bring_its_line_back(person: Person, gtin: str) -> None:
    person.start("entry-documents/new")
    page = person.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"/products\?.*gtin"), hold)
    with page.expect_request(re.compile(r"/products\?.*gtin")):
        line(person, 0).get_by_label("Item code").fill(gtin)
        page.keyboard.press("Enter")
    line(person, 0).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Add", exact=True).last.click()
    line(person, 0).get_by_label("Quantity").fill("7")
    with page.expect_response(re.compile(r"/packaging$")):
        held.pop().continue_()
    page.wait_for_timeout(500)  # the page takes the answer
    expect(line(person, 0).get_by_label("Item code")).to_have_value("")
    expect(line(person, 0).get_by_label("Quantity")).to_have_value("7")


def test_what_takes_scans_is_loaded_before_the_first_one(person: Person) -> None:
    """Otherwise what is typed behind a scan, while it is loaded, becomes a part of the code."""
    person.start("entry-documents/new")
    with person.page.expect_request(re.compile(r"/components/scan\.js")):
        line(person, 0).get_by_label("Item code").focus()


def test_line_shows_its_own_value_after_another_one_is_removed(person: Person) -> None:
    person.start("entry-documents/new")
    page = person.page
    page.get_by_role("button", name="Add", exact=True).last.click()
    for at, written in enumerate(("FIRST", "SECOND")):
        line(person, at).get_by_label("Item code").fill(written)
    line(person, 0).get_by_role("button", name="Remove").click()
    code = line(person, 0).get_by_label("Item code")
    expect(code).to_have_value("SECOND")
    code.focus()
    expect(code).to_have_value("SECOND")


def test_enter_that_ends_a_composition_of_characters_goes_nowhere(person: Person) -> None:
    person.start("entry-documents/new")
    code = line(person, 0).get_by_label("Item code")
    code.fill("A")
    code.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    person.page.wait_for_timeout(500)  # the page takes the key
    expect(code).to_be_focused()


def test_scan_with_a_mistake_is_refused(person: Person, gtin: str) -> None:
    person.start("entry-documents/new")
    wrong = gtin[:-1] + str((int(gtin[-1]) + 1) % 10)
    code = line(person, 0).get_by_label("Item code")
    code.fill(f"(01){wrong}(10)L7")
    code.press("Enter")
    expect(person.page.locator(".messages")).to_contain_text("This barcode has a mistake")
    expect(code).to_be_focused()
    code.fill("nothing-like-this")
    code.press("Enter")
    expect(person.page.locator(".messages")).to_contain_text("nothing-like-this: Nothing matches.")


def test_scans_below_each_other_become_codes(person: Person, goods: str, gtin: str) -> None:
    person.start("counts/new")
    codes = person.page.get_by_label("Products")
    codes.focus()
    for scan in (f"(01){gtin}(10)L7", "other"):
        person.page.keyboard.type(scan)
        person.page.keyboard.press("Enter")
    expect(codes).to_have_value(f"{goods}\nother\n")


def test_dialog_begins_in_its_first_field_and_a_scan_does_not_send_it(
    person: Person, acme: httpx.Client, goods: str, gtin: str
) -> None:
    receipt = started_receipt(acme, goods)
    person.start(f"receipts/{receipt}")
    sent = posted(person)
    person.press("Receive goods")
    dialog = person.page.get_by_role("dialog")
    expect(dialog.locator("input, select").first).to_be_focused()
    dialog.get_by_label("Item code").focus()
    person.page.keyboard.type(f"(01){gtin}")
    person.page.keyboard.press("Enter")
    expect(dialog.get_by_label("Item code")).to_have_value(goods)
    expect(dialog.get_by_label("Quantity")).to_have_value("12")
    dialog.get_by_label("Position").fill("A-1")
    dialog.get_by_label("Position").press("Enter")
    assert sent == []
    dialog.get_by_label("Quantity").fill("10")
    dialog.get_by_label("Quantity").press("Control+Enter")
    expect(dialog).to_have_count(0)
    expect(person.page.get_by_role("region", name="Lines")).to_contain_text(goods)


def test_scan_into_the_batch_of_a_line_fills_its_parts(
    person: Person, acme: httpx.Client, goods: str, gtin: str
) -> None:
    receipt = started_receipt(acme, goods)
    other = {"item_code": f"Z{goods}", "name": "Other", "barcode": gtin_of(2, goods)}
    acme.post("/products", json=other).raise_for_status()
    person.start(f"receipts/{receipt}")
    person.rows().get_by_role("button", name="Receive").click()
    dialog = person.page.get_by_role("dialog")
    batch = dialog.get_by_label("Batch")
    batch.fill(f"(01){gtin_of(2, goods)}(10)L6")
    batch.press("Enter")
    expect(person.page.locator(".messages")).to_contain_text(f"This is Z{goods}")
    batch.fill(f"(01){gtin}(17)270331(10)L7")
    batch.press("Enter")
    expect(batch).to_have_value("L7")
    expect(dialog.get_by_label("Expiry date")).to_have_value("2027-03-31")
    expect(dialog.get_by_label("Quantity")).to_have_value("12")
    batch.fill("L8")
    batch.press("Enter")
    expect(batch).not_to_be_focused()
    expect(batch).to_have_value("L8")


@pytest.mark.parametrize("path", ["entry-documents/new", "transfers/new"])
def test_lines_are_rows_of_a_table_with_names_for_every_input(
    new_person: NewPerson, path: str
) -> None:
    person = new_person(theme="dark")
    person.start(path)
    person.page.get_by_role("button", name="Add", exact=True).last.click()
    table = person.page.get_by_role("region", name="Lines").get_by_role("table")
    expect(table.locator(".row")).to_have_count(2)
    expect(table.get_by_role("columnheader", name="Item code")).to_be_visible()
    expect(line(person, 1).get_by_label("Item code")).to_be_focused()
    assert violations(person.page) == []
    expect(table.get_by_role("columnheader", name="Serial numbers")).to_have_count(0)
    lines = person.page.get_by_role("group", name=re.compile("^Lines"))
    lines.locator("summary").click()
    lines.get_by_role("checkbox", name="Serial numbers").check()
    expect(table.get_by_role("columnheader", name="Serial numbers")).to_be_visible()


def test_partner_of_a_purchase_is_a_provider_and_its_name_is_filled_in(
    person: Person, acme: httpx.Client, run: str
) -> None:
    code = f"P-{run}"
    acme.post("/providers", json={"code": code, "name": f"Mill {run}"}).raise_for_status()
    acme.post("/clients", json={"document_id": int(run, 16), "code": f"C-{run}", "name": "Shop"})
    person.start("entry-documents/new")
    partner = person.page.get_by_label("Partner code")
    partner.fill(run)
    expect(person.page.locator(f"datalist option[value='{code}']")).to_have_count(1)
    expect(person.page.locator(f"datalist option[value='C-{run}']")).to_have_count(0)
    partner.fill(code)
    expect(person.page.get_by_label("Partner name")).to_have_value(f"Mill {run}")

    person.go("exit-documents/new")
    partner.fill(run)
    expect(person.page.locator(f"datalist option[value='C-{run}']")).to_have_count(1)
    fill(person.page, {"Type": "Return to provider"})
    expect(person.page.locator(f"datalist option[value='{code}']")).to_have_count(1)


def test_positions_of_the_chosen_warehouse_are_suggested(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    other = f"X-{goods}"
    acme.post("/warehouses", json={"whs_code": other, "name": other}).raise_for_status()
    place = {"whs_code": other, "bin_code": f"B-{goods}"}
    acme.post("/warehouse-positions", json=place).raise_for_status()
    person.start("transfers/new")
    fill(person.page, {"From warehouse": f"W-{goods}", "To warehouse": other})
    options = person.page.locator("datalist option")
    line(person, 0).get_by_label("From position").click()
    expect(options.and_(person.page.locator("[value='A-1']"))).to_have_count(1)
    line(person, 0).get_by_label("To position").click()
    expect(options.and_(person.page.locator(f"[value='B-{goods}']"))).to_have_count(1)
    expect(options.and_(person.page.locator("[value='A-1']"))).to_have_count(1)


def test_orders_pickings_and_people_are_chosen_by_their_names(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    order = document(acme, goods, "exit", 4)
    page = person.page
    person.start(f"pickings/new?document_id={order['id']}")
    expect(page.get_by_label("Document number")).to_have_value(order["doc_num"])
    operator = page.get_by_label("Operator")
    name = person.username.partition("@")[0]
    operator.fill(name)
    expect(page.locator(f"datalist option[value='{name}']")).to_have_count(1)
    operator.blur()
    expect(operator).to_have_value(name)
    fill(page, {"Priority": "High"})
    person.press("Save")
    expect(person.shown("Operator")).to_contain_text(f"Person {name}")
    expect(person.shown("Priority")).to_have_text("High")
    code = person.heading().inner_text()

    person.open("waves/new")
    fill(page, {"Warehouse": f"W-{goods}"})
    page.get_by_role("checkbox", name=f"{code} · {order['doc_num']}").check()
    page.get_by_label("Strategy").select_option(index=1)
    person.press("Save")
    expect(person.heading()).to_have_text(re.compile("^WV-"))


def test_order_is_chosen_by_its_reference_and_what_names_none_is_not_sent(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    reference = str(10**9 + int(goods, 16) % 10**9)
    order = document(acme, goods, "exit", 4, external_ref=reference)
    person.start("pickings/new")
    sent = posted(person)
    named = person.page.get_by_label("Document number")
    named.fill("999999999")
    person.press("Save")
    expect(named).to_be_focused()
    assert named.evaluate("input => input.validationMessage") == "Choose one that is suggested."
    person.page.get_by_label("Operator").focus()
    expect(named).to_have_value("999999999")
    assert sent == []
    named.fill(reference)
    person.page.get_by_label("Operator").focus()
    expect(named).to_have_value(order["doc_num"])
    person.press("Save")
    expect(person.shown("Document")).to_have_text(order["doc_num"])


def test_form_for_another_order_is_another_form(person: Person) -> None:
    person.start("pickings/new?document_id=999999998")
    operator = person.page.get_by_label("Operator")
    operator.fill("somebody")
    person.go("pickings/new?document_id=999999999")
    expect(person.page.get_by_label("Document number")).to_have_value("999999999")
    expect(operator).to_have_value("")


def by_link(person: Person) -> None:
    """Leave by the menu."""
    person.page.get_by_role("link", name="Providers", exact=True).click()


def by_history(person: Person) -> None:
    """Leave by the back button of the browser; wait until the page has decided about it."""
    person.page.evaluate("""() => new Promise(done => {
        addEventListener("popstate", () => done(), { once: true });
        history.back();
    })""")


def by_button(person: Person) -> None:
    """Leave by the button of the form."""
    person.press("Go back")


@pytest.mark.parametrize("leave", [by_link, by_history, by_button])
def test_form_with_content_asks_before_it_is_left(
    person: Person, leave: Callable[[Person], None]
) -> None:
    person.start("clients")
    page = person.page
    page.get_by_role("link", name="New client", exact=True).click()
    expect(person.heading()).to_have_text("New client")
    asked = answer(person, leave=False)
    page.get_by_label("Name").fill("Shop")
    leave(person)
    expect(person.heading()).to_have_text("New client")
    expect(page.get_by_label("Name")).to_have_value("Shop")
    expect(page).to_have_url(re.compile("clients/new$"))
    page.get_by_label("Name").fill("")
    leave(person)
    expect(person.heading()).not_to_have_text("New client")
    assert asked == ["This is not saved. Leave it?"]


def test_search_asks_before_it_leaves_a_form(person: Person, goods: str) -> None:
    person.start("clients/new")
    page = person.page
    asked = answer(person, leave=False)
    page.get_by_label("Name").fill("Shop")
    field(person).fill(goods)
    field(person).press("Enter")
    expect(options(person).first).to_be_visible()
    field(person).press("ArrowDown")
    field(person).press("Enter")
    expect(person.heading()).to_have_text("New client")
    assert len(asked) == 2


@pytest.mark.parametrize("leave", [by_link, by_button])
def test_draft_is_there_after_the_form_was_left(
    person: Person, leave: Callable[[Person], None]
) -> None:
    person.start("clients/new")
    asked = answer(person, leave=True)
    person.page.get_by_label("Name").fill("Shop")
    leave(person)
    expect(person.heading()).not_to_have_text("New client")
    assert len(asked) == 1
    person.go("clients/new")
    expect(person.page.get_by_label("Name")).to_have_value("Shop")


def test_dialog_with_content_asks_before_it_closes(
    person: Person, acme: httpx.Client, run: str
) -> None:
    made = acme.post("/products", json={"item_code": run, "name": run}).json()["data"]["id"]
    person.start(f"products/{made}")
    asked = answer(person, leave=False)
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    person.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    person.press("Change")
    fill(dialog, {"Name": "Box"})
    for presses in (1, 2, 3):
        person.page.keyboard.press("Escape")
        expect(dialog).to_be_visible()
        assert len(asked) == presses
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(person.shown("Name")).to_have_text("Box")
