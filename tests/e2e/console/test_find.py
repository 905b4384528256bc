"""The search over all subjects: what it shows, the keyboard, scans, and what was opened last."""

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, violations

GTIN = "04006381333931"


def field(person: Person) -> Locator:
    """Return the field of the search."""
    return person.page.locator("header input[role=combobox]")


def options(person: Person) -> Locator:
    """Return what the search shows."""
    return person.page.get_by_role("listbox").get_by_role("option")


@pytest.fixture
def crates(acme: httpx.Client, run: str) -> list[int]:
    """Ids of seven products with the name `Crate {run}`."""
    drafts = [{"item_code": f"{run}-{number}", "name": f"Crate {run}"} for number in range(7)]
    made = [acme.post("/products", json=draft).json()["data"]["id"] for draft in drafts]
    acme.post("/clients", json={"document_id": int(run, 36) % 10**9 + 1, "name": f"Crates {run}"})
    return made


def test_results_are_grouped_and_chosen_by_the_keyboard(
    person: Person, run: str, crates: list[int]
) -> None:
    assert crates
    person.start()
    field(person).fill(f"crate {run}")
    groups = person.page.get_by_role("listbox").get_by_role("group")
    expect(groups).to_have_count(2)
    expect(groups.filter(has_text="All 7").get_by_role("option")).to_have_count(6)
    field(person).press("ArrowUp")
    expect(options(person).last).to_have_attribute("aria-selected", "true")
    expect(options(person).last).to_contain_text(f"Crates {run}")
    field(person).press("ArrowDown")
    expect(options(person).first).to_have_attribute("aria-selected", "true")
    field(person).press("ArrowDown")
    chosen = options(person).nth(1)
    expect(chosen).to_have_attribute("aria-selected", "true")
    code = chosen.locator("b").inner_text()
    field(person).press("Enter")
    expect(person.heading()).to_have_text(code)
    expect(options(person)).to_have_count(0)

    field(person).click()
    expect(options(person)).to_have_count(1)
    expect(options(person)).to_contain_text(code)
    field(person).fill("nothing like this")
    expect(person.page.locator(".found")).to_contain_text("Nothing matches.")
    field(person).press("Escape")
    expect(person.page.locator(".found")).to_have_count(0)

    person.sign_out()
    person.sign_in()
    field(person).click()
    expect(options(person)).to_have_count(0)


def test_scan_opens_what_it_names_and_a_slash_in_a_field_is_text(
    person: Person, acme: httpx.Client, run: str
) -> None:
    found = acme.get("/products", params={"barcode": GTIN[1:]}).json()["data"]
    draft = {"item_code": run, "name": f"Drill {run}", "barcode": GTIN[1:]}
    product = found[0] if found else acme.post("/products", json=draft).json()["data"]
    person.start()
    expect(field(person)).to_be_visible()
    person.page.keyboard.press("/")
    expect(field(person)).to_be_focused()
    person.page.keyboard.type(f"(01){GTIN}(10)LOT/7")
    expect(field(person)).to_have_value(f"(01){GTIN}(10)LOT/7")
    person.page.keyboard.press("Enter")
    expect(person.heading()).to_have_text(product["item_code"])
    field(person).fill(f"(01){GTIN[:-1]}0")
    expect(person.page.locator(".found")).to_contain_text("Nothing matches.")


def test_stock_is_found_by_batch_serial_number_and_product(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    place = {"warehouse": f"W-{goods}", "bin_code": "A-1", "reason": "count"}
    number = f"N{goods}"  # no product has it as its code
    for name, managed, counted in (
        ("batch", "man_btch_num", {"batch": number, "counted_qty": 3}),
        ("serial", "man_ser_num", {"serial": number, "counted_qty": 1}),
    ):
        code = f"{name}-{goods}"
        acme.post("/products", json={"item_code": code, "name": code, managed: True})
        stock = {"item_code": code, **place, **counted}
        acme.post("/stock-adjustments", json=stock).raise_for_status()
    person.start()
    field(person).fill(number)
    field(person).press("Enter")
    stocks = person.page.get_by_role("listbox").get_by_role("group", name="Stock", exact=True)
    expect(stocks).to_have_count(1)
    expect(stocks.get_by_role("option")).to_have_count(2)

    names = [one["name"] for one in acme.get("/api-clients").json()["data"]]
    name = next(one for one in names if one.replace(" ", "").isalnum())
    field(person).fill(name)
    field(person).press("Enter")
    opened = person.page.get_by_role("heading", level=1, name=name, exact=True)
    expect(opened.or_(options(person).filter(has_text=name)).first).to_be_visible()

    person.go("stocks")
    box = person.page.get_by_label("Product: code, name, barcode")
    box.fill(f"batch-{goods}")
    box.press("Enter")
    expect(person.page.get_by_role("button", name=f"Item code: batch-{goods}")).to_be_visible()
    expect(person.rows()).to_have_count(1)
    expect(person.rows()).to_contain_text(number)


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_results_are_accessible(
    new_person: NewPerson, run: str, crates: list[int], language: str, theme: str
) -> None:
    assert crates
    person = new_person(language=language, theme=theme)
    person.open()
    page = person.page
    page.locator("input[name=username]").fill(person.username)
    page.locator("input[name=password]").fill(person.password)
    page.locator("input[name=password]").press("Enter")
    field(person).fill(f"crate {run}")
    expect(options(person).first).to_be_visible()
    field(person).press("ArrowDown")
    assert violations(page) == []
