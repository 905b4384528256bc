"""How the console shows values, choices and problems to the person who reads them."""

import re

import httpx
from playwright.sync_api import expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill, violations


def test_choices_last_and_values_are_those_of_the_region(
    new_person: NewPerson, acme: httpx.Client, run: str
) -> None:
    product = {"item_code": run, "name": f"Crate {run}", "metadata": {}}
    acme.post("/products", json=product).raise_for_status()
    acme.post("/warehouses", json={"whs_code": f"W-{run}", "name": run}).raise_for_status()
    order = {
        "type": "purchase_order", "external_ref": run, "doc_date": "2026-03-01",
        "partner_code": "C-1", "warehouse_code": f"W-{run}",
        "lines": [{"item_code": run, "qty": 1234.5}],
    }  # fmt: skip
    key = {"Idempotency-Key": run}
    number = acme.post("/entry-documents", json=order, headers=key).json()["data"]["id"]
    person = new_person(language="en-GB")
    person.start(f"entry-documents/{number}")
    page = person.page
    expect(person.shown("Document date")).to_have_text("1 Mar 2026")
    expect(person.rows().first).to_contain_text("1,234.5")

    page.get_by_label("Appearance").select_option(label="Dark")
    person.open("nothing")
    expect(person.heading()).to_have_text("There is nothing at this address.")
    expect(page.get_by_label("Appearance")).to_have_value("dark")
    menu = page.get_by_role("navigation", name="Menu")
    oversight = menu.locator("section").filter(has_text="Oversight")
    expect(oversight.get_by_role("link")).to_have_text(["Approvals", "Audit log"])

    person.open("users?sort=-created_at")
    person.rows().filter(has_text=run.lower()).get_by_role("link").first.click()
    expect(person.shown("Roles").get_by_role("link")).to_have_text(run.lower() + "-0")
    person.open("settings")
    outbound = page.get_by_role("group", name="Outbound")
    expect(outbound.get_by_label("Packing required")).to_be_visible()


def test_details_name_what_they_are_about(
    person: Person, acme: httpx.Client, run: str, goods: str
) -> None:
    stock = {"warehouse": f"W-{run}", "bin_code": "A-1", "item_code": goods, "counted_qty": 5}
    acme.post("/stock-adjustments", json=stock | {"reason": "count"}).raise_for_status()
    order = {
        "type": "sale_order", "external_ref": run, "doc_date": "2026-03-01",
        "partner_code": "C-1", "partner_name": "Shop", "warehouse_code": f"W-{run}",
        "lines": [{"item_code": goods, "qty": 2}],
    }  # fmt: skip
    key = {"Idempotency-Key": run}
    number = acme.post("/exit-documents", json=order, headers=key).json()["data"]["id"]
    picking = acme.post("/pickings", json={"document_id": number}).json()["data"]
    person.start(f"pickings/{picking['id']}")
    page = person.page
    person.press("Start")
    person.press("Pick all as allocated")
    history = page.locator(".history")
    expect(history).to_contain_text("Started")
    moved = re.compile(rf"2 {goods} · A-1.* · Person {run.lower()}-0")
    expect(history.get_by_role("link", name=moved)).to_be_visible()
    expect(person.shown("User id")).to_have_count(0)
    expect(person.shown("Comments")).to_have_count(0)
    assert violations(page) == []

    person.shown("Document").get_by_role("link").click()
    expect(person.rows().first).to_contain_text(f"Crate {run}")
    work = page.get_by_role("region", name="Pickings", exact=True)
    expect(work.get_by_role("link", name=picking["code"])).to_be_visible()
    page.get_by_role("link", name="New from this").click()
    expect(page.get_by_label("Partner name")).to_have_value("Shop")
    expect(page.get_by_label("Warehouse")).to_have_value(f"W-{run}")
    expect(page.get_by_label("Quantity").first).to_have_value("2")
    fill(page, {"Reference": f"{run}-2"})
    person.press("Save")
    expect(person.rows().first).to_contain_text(goods)

    person.open(f"stock-movements?item_code={goods}&sort=-created_at&columns=type,user_id")
    who = person.rows().first.get_by_role("link", name=f"Person {run.lower()}-0", exact=True)
    expect(who).to_be_visible()

    product = acme.get("/products", params={"item_code": goods}).json()["data"][0]["id"]
    person.open(f"products/{product}")
    levels = page.get_by_role("region", name="Stock levels", exact=True)
    expect(levels.locator("tbody tr")).to_contain_text(f"W-{run}")
    positions = page.get_by_role("region", name="Stock", exact=True)
    expect(positions.get_by_role("link", name="A-1").first).to_be_visible()
    assert violations(page) == []


def test_problems_have_the_names_of_the_fields(person: Person) -> None:
    person.start("clients/new")
    fill(person.page, {"Name": "Shop"})
    person.press("Save")
    alert = person.page.get_by_role("alert")
    expect(alert).to_contain_text("must be corrected")
    expect(alert).not_to_contain_text("document_id")


def test_draft_goes_before_the_values_of_the_address_until_it_is_cleared(
    person: Person, run: str
) -> None:
    person.start("clients/new?name=Mill")
    page = person.page
    name = page.get_by_label("Name")
    expect(name).to_have_value("Mill")
    name.fill(f"Shop {run}")
    person.go("products")
    page.go_back()
    page.reload()
    expect(name).to_have_value(f"Shop {run}")
    expect(page.get_by_text("This is what you wrote before.")).to_be_visible()
    person.press("Clear")
    expect(name).to_have_value("Mill")
