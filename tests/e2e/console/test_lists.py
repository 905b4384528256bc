"""Lists, details and the address that holds their state."""

import re
from pathlib import Path

import httpx
from playwright.sync_api import expect

from tests.e2e.console.person import Person, violations


def test_address_of_a_list_holds_search_filter_order_columns_and_page(
    person: Person, acme: httpx.Client, run: str
) -> None:
    for number in range(27):
        draft = {"item_code": f"{run}-{number:02}", "name": f"Crate {run}", "barcode": f"B{number}"}
        assert acme.post("/products", json=draft).status_code == httpx.codes.CREATED
    person.start("products")
    page = person.page
    page.get_by_role("searchbox", name="Search").fill(f"crate {run}")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.get_by_text("1 to 25 of 27")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.get_by_role("button", name=re.compile("^Name")).click()
    page.get_by_role("button", name=re.compile("^Item code")).click()
    page.get_by_role("button", name=re.compile("^Item code")).click()
    expect(person.rows().first).to_contain_text(f"{run}-26")
    person.press("Next page")
    expect(page.get_by_text("26 to 27 of 27")).to_be_visible()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Barcode").uncheck()
    expect(page.get_by_role("columnheader", name="Barcode")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("columnheader", name="Barcode")).to_have_count(0)
    expect(page.get_by_text("1 to 25 of 27")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("26 to 27 of 27")).to_be_visible()
    chosen = page.get_by_role("spinbutton", name="Page")
    expect(chosen).to_have_value("2")
    chosen.fill("1")
    chosen.press("Enter")
    expect(page.get_by_text("1 to 25 of 27")).to_be_visible()
    expect(chosen).to_be_focused()

    person.press("Filters")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Item code").fill(f"{run}-03")
    dialog.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()
    with page.expect_download() as download:
        person.press("CSV of the rows shown (1)")
    saved = Path(download.value.path()).read_text("utf-16").splitlines()
    assert saved[0].startswith("item_code\tname")
    assert saved[1].startswith(f"{run}-03\tCrate {run}")
    page.get_by_role("link", name=f"{run}-03").click()
    expect(person.heading()).to_have_text(f"{run}-03")


def test_list_is_remembered_refreshed_and_saved_whole(
    person: Person, acme: httpx.Client, run: str
) -> None:
    page = person.page
    page.clock.install()

    def add(numbers: range) -> None:
        for number in numbers:
            draft = {"item_code": f"{run}-{number:02}", "name": f"Crate {run}"}
            assert acme.post("/products", json=draft).status_code == httpx.codes.CREATED

    add(range(29))
    person.start("products")
    page.get_by_role("searchbox", name="Search").fill(f"crate {run}")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.get_by_text("1 to 25 of 29")).to_be_visible()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Barcode").uncheck()
    page.get_by_text("Columns", exact=True).click()
    page.get_by_text("Saved filters", exact=True).click()
    page.get_by_label("Name for these filters").fill("Crates")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Crates")).to_be_visible()
    assert violations(page) == []
    page.get_by_text("Saved filters", exact=True).click()

    choice = page.get_by_role("checkbox", name=f"Choose {run}-03")
    choice.focus()
    add(range(29, 30))
    page.clock.fast_forward("00:31")
    expect(page.get_by_text("1 to 25 of 30")).to_be_visible()
    expect(choice).to_be_focused()

    with page.expect_download() as download:
        person.press("CSV of all (30)")
    saved = Path(download.value.path()).read_text("utf-16").splitlines()
    assert len(saved) == 31
    choice.press("Space")
    with page.expect_download() as download:
        person.press("CSV of the rows chosen (1)")
    saved = Path(download.value.path()).read_text("utf-16").splitlines()
    assert [line.split("\t")[0] for line in saved] == ["item_code", f"{run}-03"]

    page.get_by_role("checkbox", name=f"Choose {run}-04").check()
    with page.expect_download() as download:
        person.press("Label (ZPL)")
    assert Path(download.value.path()).read_text().count("^XA") == 2
    assert violations(page) == []

    page.get_by_role("link", name="Clients", exact=True).click()
    expect(person.heading()).to_have_text("Clients")
    page.get_by_role("link", name="Products", exact=True).click()
    expect(page.get_by_text("1 to 25 of 30")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Barcode")).to_have_count(0)
    page.get_by_role("searchbox", name="Search").fill("")
    page.get_by_role("searchbox", name="Search").press("Enter")
    expect(page.get_by_text("1 to 25 of 30")).to_have_count(0)
    page.get_by_text("Saved filters", exact=True).click()
    page.get_by_role("link", name="Crates").click()
    expect(page.get_by_text("1 to 25 of 30")).to_be_visible()


def test_order_that_a_list_refuses_is_cleared_and_signing_out_forgets_filters(
    person: Person, goods: str
) -> None:
    page = person.page
    refused = page.get_by_text("The list cannot be shown with these filters")
    person.start("products?sort=color")
    expect(refused).to_be_visible()
    search = page.get_by_role("searchbox", name="Search")
    search.fill(f"person {goods}")
    search.press("Enter")
    expect(page).to_have_url(re.compile("search="))
    page.get_by_role("link", name="Clients", exact=True).click()
    page.get_by_role("link", name="Products", exact=True).click()
    expect(refused).to_be_visible()
    person.press("Clear")
    expect(person.rows().first).to_be_visible()
    page.get_by_role("link", name="Clients", exact=True).click()
    page.get_by_role("link", name="Products", exact=True).click()
    expect(person.rows().first).to_be_visible()

    search.fill(f"person {goods}")
    search.press("Enter")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    person.sign_out()
    assert goods not in page.evaluate("JSON.stringify(localStorage)")


def test_wave_of_two_warehouses_creates_nothing_and_a_refused_one_no_second_pickings(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    acme.post("/warehouses", json={"whs_code": f"X-{goods}", "name": "Other"}).raise_for_status()
    for at, warehouse in enumerate(("W", "W", "X")):
        draft = {
            "type": "sale_order", "external_ref": f"{goods}-{at}", "doc_date": "2026-03-01",
            "partner_code": "C-1", "warehouse_code": f"{warehouse}-{goods}",
            "lines": [{"item_code": goods, "qty": 1}],
        }  # fmt: skip
        key = {"Idempotency-Key": f"{goods}-{at}"}
        acme.post("/exit-documents", json=draft, headers=key).raise_for_status()
    page = person.page
    person.start(f"exit-documents?search={goods}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("checkbox", name="Choose all on this page").check()
    person.choose("New wave")
    expect(dialog.get_by_text("Of another warehouse: EX-").first).to_be_visible()
    assert acme.get("/pickings", params={"search": goods}).json()["meta"]["total"] == 0
    dialog.get_by_role("button", name="Go back").click()

    person.rows().filter(has_text=f"{goods}-2").get_by_role("checkbox").uncheck()
    answer = '{"error": {"code": "conflict", "message": "Not now."}}'
    page.route("**/waves", lambda route: route.fulfill(status=409, body=answer), times=1)
    person.choose("New wave")
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Go back").click()
    person.choose("New wave")
    expect(person.heading()).to_contain_text("WV-")
    pickings = acme.get("/pickings", params={"search": goods}).json()["data"]
    assert {one["wave_id"] for one in pickings} == {int(page.url.rsplit("/", 1)[1])}
    assert len(pickings) == 2

    person.open(f"pickings?search={goods}&status=pending")
    page.get_by_role("checkbox", name="Choose all on this page").check()
    page.route("**/pickings/*/start", lambda _: None)
    with page.expect_request("**/pickings/*/start"):
        person.press("Start")
    page.get_by_role("link", name="Clients", exact=True).click()
    expect(person.heading()).to_have_text("Clients")
    page.unroute("**/pickings/*/start")  # which lets them go on
    expect(page.get_by_text(re.compile("Start: . done, . refused"))).to_be_visible()


def test_tablet_shows_status_and_quantity(person: Person, acme: httpx.Client, goods: str) -> None:
    stock = {"warehouse": f"W-{goods}", "bin_code": "A-1", "item_code": goods, "counted_qty": 4711}
    acme.post("/stock-adjustments", json=stock | {"reason": "count"}).raise_for_status()
    page = person.page
    page.set_viewport_size({"width": 768, "height": 1024})
    person.start(f"stocks?item_code={goods}")
    row = person.rows().first
    for text in (goods, "Available", "4,711"):
        expect(row.get_by_text(text, exact=True).first).to_be_in_viewport(ratio=1)
    table = page.get_by_role("region", name="Stock", exact=True)
    table.evaluate("table => { table.scrollLeft = table.scrollWidth; }")
    expect(row.get_by_text(goods, exact=True).first).to_be_in_viewport(ratio=1)
    assert violations(page) == []


def test_addresses_that_show_nothing_say_why(person: Person) -> None:
    person.start("products/999999999")
    expect(person.page.get_by_role("alert")).to_contain_text("nothing at this address")
    person.open("stock-levels/new")
    expect(person.page.get_by_text("nothing at this address")).to_be_visible()
    person.open("products?page=999999")
    expect(person.page.get_by_text("This page has no rows")).to_be_visible()
    person.press("Last page")
    expect(person.rows().first).to_be_visible()
    person.open("exit-documents?due_to=soon")
    expect(person.page.get_by_text("cannot be shown with these filters")).to_be_visible()
    expect(person.page.get_by_role("alert")).to_contain_text("Due until")
    person.page.get_by_role("button", name=re.compile("^Due until")).click()
    expect(person.rows().first).to_be_visible()
    person.open("products?sort=color")
    expect(person.page.get_by_role("alert")).to_contain_text("Sort: must be one of")
    expect(person.page.get_by_role("alert")).to_contain_text("Request ")


def test_screens_are_used_with_the_keyboard(person: Person) -> None:
    person.start("products")
    page = person.page
    expect(person.rows().first).to_be_visible()
    expect(page).to_have_title("Products | Stowage")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    expect(page.locator("main")).to_be_focused()
    expect(person.heading()).to_have_text("Products")
    person.rows().first.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(person.shown("Item code")).to_be_visible()
    expect(person.heading()).to_be_focused()
    expect(page).to_have_title(f"{person.heading().inner_text()} | Stowage")
    person.page.get_by_role("button", name="Change", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Change", exact=True)).to_be_focused()


def test_form_leads_back_to_the_screen_before_or_to_its_list(person: Person) -> None:
    person.start("clients/new")
    person.press("Go back")
    expect(person.heading()).to_have_text("Clients")
    person.page.get_by_role("link", name="Settings", exact=True).click()
    person.press("Go back")
    expect(person.heading()).to_have_text("Clients")


def test_menu_folds_on_a_narrow_screen(person: Person) -> None:
    person.start("stocks")
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    link = page.get_by_role("link", name="Products", exact=True)
    expect(link).to_be_hidden()
    person.press("☰ Menu")
    link.click()
    expect(person.heading()).to_have_text("Products")
    expect(link).to_be_hidden()
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
