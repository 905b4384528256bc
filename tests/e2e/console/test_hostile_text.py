"""Text of the interface is text on every screen, whatever it has."""

from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.console.hostile import HostileResources
from tests.e2e.console.person import Person

LISTS_ONLY = ("stocks", "stock-levels", "stock-movements", "audit-log")
"""Lists whose rows come from work on others."""


def test_hostile_text_is_shown_as_text(person: Person, acme: httpx.Client, run: str) -> None:
    began = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    ids = HostileResources(acme, run).make()
    screens = [f"{name}/{number}" for name, number in ids.items() if name != "api-clients"]
    for name in (*ids, *LISTS_ONLY):
        found = acme.get(f"/{name}", params={"updated_since": began}).json()["data"]
        screens.append(f"{name}?updated_since={began}&columns={','.join(found[0])}")
    page = person.page
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    person.start()
    wrong = []
    for screen in screens:
        person.go(screen)
        expect(page.locator("main")).to_contain_text(run)
        if page.locator("main").locator("img, a[href^=javascript]").count():
            wrong.append(f"{screen} has an element")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong.append(f"{screen} is wider than the window")
    person.go(f"users/{ids['users']}")
    person.press("Change")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("group", name="Roles")).to_contain_text(run)
    if dialog.evaluate("element => element.scrollWidth > element.clientWidth"):
        wrong.append("the roles of a user are wider than their dialog")
    assert not wrong
