"""A person in front of the console: what they do, in the words of the screen."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, expect

NODE = Path(__file__).parents[3] / ".local" / "node" / "node_modules"

PATIENCE_MS = 60_000
"""Longest wait for what a page shows: slow machines are no failure."""

_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass
class Person:
    """A page of the console."""

    page: Page
    address: str
    """Address of the console, with a slash at its end."""
    username: str
    password: str

    @property
    def context(self) -> BrowserContext:
        """The browser of this person."""
        return self.page.context

    def open(self, path: str = "") -> None:
        """Open a screen; the session continues.

        A page that is left while it renews its token ends the session, so this waits for the page.
        """
        self.page.goto(self.address + path)
        self.page.locator("#console > *").first.wait_for()

    def go(self, path: str) -> None:
        """Show another screen of the open page, as a link does."""
        self.page.evaluate(
            "path => { history.pushState(null, '', path); dispatchEvent(new Event('popstate')); }",
            path,
        )

    def sign_in(self, code: str = "", *, password: str | None = None) -> None:
        """Fill in the sign-in and send it."""
        self.page.get_by_label("User name").fill(self.username)
        self.page.get_by_label("Password", exact=True).fill(password or self.password)
        self.page.get_by_label("Code of the authenticator app").fill(code)
        self.page.get_by_role("button", name="Sign in", exact=True).click()

    def start(self, path: str = "") -> None:
        """Sign in and go to a screen."""
        self.open()
        self.sign_in()
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()
        if path:
            self.open(path)

    def sign_out(self, button: str = "Sign out") -> None:
        """Sign out; the page is loaded again and asks for a sign-in."""
        with self.page.expect_navigation():
            self.press(button)
        expect(self.page.get_by_label("User name")).to_be_visible()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def choose(self, name: str, fields: Mapping[str, str] | None = None) -> None:
        """Press the button of an action, fill in its dialog, and confirm."""
        self.press(name)
        dialog = self.page.get_by_role("dialog")
        fill(dialog, fields or {})
        dialog.get_by_role("button", name=name, exact=True).click()

    def heading(self) -> Locator:
        """Return the heading of the screen."""
        return self.page.get_by_role("heading", level=1)

    def shown(self, field: str) -> Locator:
        """Return the value of a field of a detail."""
        term = self.page.locator("dt").filter(has_text=re.compile(f"^{field}$")).first
        return term.locator("xpath=following-sibling::dd")

    def secret(self, name: str) -> str:
        """Return a secret that is shown once."""
        block = self.page.locator(".secret").filter(has=self.page.get_by_text(name, exact=True))
        return block.locator("pre").inner_text()

    def rows(self) -> Locator:
        """Return the rows of the tables."""
        return self.page.locator("tbody tr")


def fill(form: Locator | Page, fields: Mapping[str, str]) -> None:
    """Fill in the fields of a form by their labels."""
    for label, value in fields.items():
        field = form.get_by_label(re.compile(rf"^{re.escape(label)}( \(required\))?$")).first
        if field.evaluate("element => element.tagName") == "SELECT":
            field.select_option(label=value)
        else:
            field.fill(value)


def violations(page: Page) -> list[str]:
    """Return what axe finds against WCAG 2.2 AA on the page."""
    page.wait_for_load_state("networkidle")
    page.get_by_role("heading", level=1).wait_for()  # a slow machine may pause between requests
    page.evaluate((NODE / "axe-core" / "axe.min.js").read_text())
    found: dict[str, Any] = page.evaluate("rules => axe.run({runOnly: rules})", _RULES)
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
