"""Every screen in both languages and appearances: no violation of WCAG 2.2 AA.

Words depend on the language only, and colors on the appearance only: two runs have both of each.
"""

import pytest
from playwright.sync_api import expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import violations

SCREENS = (
    "",
    "products",
    "products/new",
    "products/1",
    "products/999999999",
    "stocks",
    "entry-documents/1",
    "exit-documents/1",
    "exit-documents/new",
    "receipts/1",
    "pickings/1",
    "approvals",
    "warehouses/1",
    "map",
    "warehouse-positions/new?as=POST+%2Fwarehouse-positions%2Fbulk",
    "imports/new",
    "counts",
    "counts/1",
    "counts/new",
    "replenishments",
    "exports",
    "exports/new?objects=product",
    "users",
    "api-clients",
    "request-log",
    "webhooks",
    "audit-log",
    "settings",
    "account",
    "products/1/nothing",
    "nothing",
)

_NARROW = """() => [...document.querySelectorAll("main .field select")]
    .filter(element => element.offsetWidth > 0 && element.offsetWidth < 80)
    .map(element => `${element.name} is too narrow for a word`)"""


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_screens_are_accessible(new_person: NewPerson, language: str, theme: str) -> None:
    person = new_person(language=language, theme=theme)
    person.open()
    found = violations(person.page)
    person.page.locator("input[name=username]").fill(person.username)
    person.page.locator("input[name=password]").fill(person.password)
    person.page.locator("form.sign-in button").click()
    signed_in = person.page.locator("nav.menu")
    signed_in.wait_for()
    for screen in SCREENS:
        person.open(screen)
        expect(signed_in, screen).to_be_visible()
        shown = violations(person.page) + person.page.evaluate(_NARROW)
        found += [f"{screen}: {one}" for one in shown]
    assert not found, "\n".join(found)
