"""Every screen of the floor in both languages and appearances: accessible, and for gloves.

Words depend on the language only, and colors on the appearance only: two runs have both of each.
"""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.site import Site
from tests.e2e.console.person import violations

_SMALL = """() => [...document.querySelectorAll("button, .button, summary, input, a.card")]
    .map(element => [element, element.getBoundingClientRect()])
    .filter(([element, { width, height }]) => width && (element.closest(".choice")
        ? element.closest(".choice").getBoundingClientRect().height < 48
        : width < 48 || height < 48))
    .map(([element, { width, height }]) => `${element.outerHTML}: ${width} by ${height} px`)"""
"""What is smaller than a finger in a glove; the target of a choice is its label."""

_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


class _Screens:
    """What is wrong with the screens that were looked at."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def look(self, page: Page, name: str) -> None:
        """Look at what a page shows."""
        found = violations(page)
        found += page.evaluate(_SMALL)
        if page.evaluate(_WIDE):
            found.append("wider than the screen")
        self.problems += [f"{name}: {one}" for one in found]


def _receive(handheld: Handheld, site: Site, screens: _Screens, receipt: int) -> None:
    """Show each question of a receipt of goods with batches."""
    page = handheld.page
    handheld.take(f"receipts/{receipt}")
    screens.look(page, "product")
    handheld.scan("nothing-of-that-name")
    expect(page.locator(".result.wrong")).to_be_visible()
    screens.look(page, "wrong")
    handheld.scan(site.item("GLUE"))
    expect(page.locator(".result.right")).to_be_visible()
    screens.look(page, "batch")
    handheld.scan("L-1")
    expect(page.locator("input[type=date]")).to_be_visible()
    screens.look(page, "expiry date")
    page.locator("input[type=date]").fill("2030-01-31")
    page.locator(".quantity button.main").click()
    expect(page.locator("input[name=qty]")).to_be_visible()
    screens.look(page, "quantity")
    page.locator(".quantity button").click()
    expect(page.locator("input[name=qty]")).to_be_hidden()
    screens.look(page, "target")


def _pick(handheld: Handheld, site: Site, screens: _Screens, picking: int) -> None:
    """Show each question of a picking, its end, and a refused scan."""
    page = handheld.page
    handheld.take(f"pickings/{picking}")
    screens.look(page, "position")
    page.locator("summary").click()
    handheld.scan("A-1")
    expect(page.locator(".place.next")).to_be_hidden()
    screens.look(page, "product at a position")
    handheld.scan(site.item("BOLT"))
    expect(page.locator("input[name=qty]")).to_be_visible()
    site.post(f"/pickings/{picking}/cancel")
    page.locator(".quantity button").click()
    decisions = page.locator("a[href$='floor/decisions']")
    decisions.click()
    expect(page.get_by_role("article")).to_be_visible()
    screens.look(page, "decisions")


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_screens_are_accessible_and_have_large_targets(
    new_person: NewPerson, site: Site, language: str, theme: str
) -> None:
    site.stock("BOLT", 20)
    order = site.order("/entry-documents", site.line("GLUE", 3))
    receipt = int(site.post("/receipts", document_id=order)["id"])
    sale = site.order("/exit-documents", site.line("BOLT", 6))
    picking = int(site.post("/pickings", document_id=sale)["id"])
    count = site.post("/counts", warehouse_code=site.warehouse, positions=["A-1"])["id"]
    handheld = Handheld.of(new_person(language=language, theme=theme))
    page, screens = handheld.page, _Screens()

    handheld.open()
    screens.look(page, "sign-in")
    page.locator("input[name=username]").fill(handheld.person.username)
    page.locator("input[name=password]").fill(handheld.person.password)
    page.locator("form.sign-in button").click()
    for _ in range(2):
        expect(page.locator("input[name=pin]")).to_have_value("")
        screens.look(page, "new PIN")
        page.locator("input[name=pin]").fill(PIN)
        page.locator("form.sign-in button").click()
    expect(page.locator(".cards").first).to_be_visible()
    screens.look(page, "tasks")
    _receive(handheld, site, screens, receipt)
    _pick(handheld, site, screens, picking)
    handheld.take(f"counts/{count}")
    screens.look(page, "count")
    handheld.take(f"moves/{site.warehouse}")
    screens.look(page, "moves")
    for screen in ("menu", "kept", f"look-up/{site.item('BOLT')}", "nothing/1"):
        handheld.go(screen)
        screens.look(page, screen)
    handheld.reopen()
    page = handheld.page
    expect(page.locator("input[name=pin]")).to_be_visible()
    screens.look(page, "PIN")
    page.locator("input[name=pin]").fill("000000")
    page.locator("form.sign-in button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    screens.look(page, "wrong PIN")

    assert not screens.problems, "\n".join(screens.problems)
