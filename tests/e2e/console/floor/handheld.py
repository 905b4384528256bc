"""A person with a handheld scanner in front of the floor."""

from dataclasses import dataclass
from typing import Any, Self

from playwright.sync_api import Locator, Page, expect

from tests.e2e.console.person import Person

PIN = "246813"
TIMES = "\N{MULTIPLICATION SIGN}"

_BURST = """code => {
    for (const key of [...code, "Enter"]) {
        const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        (document.activeElement ?? document.body).dispatchEvent(event);
    }
}"""


@dataclass
class Handheld:
    """A device: its page is as wide as that of a small phone."""

    person: Person
    page: Page

    @classmethod
    def of(cls, person: Any) -> Self:
        """Return the device of a person who is not signed in yet."""
        person.page.set_viewport_size({"width": 320, "height": 480})
        return cls(person, person.page)

    @property
    def address(self) -> str:
        """Address of the floor, with a slash at its end."""
        return f"{self.person.address}floor/"

    def open(self, path: str = "") -> None:
        """Load a page of the floor; a PIN or a sign-in may be asked for."""
        self.page.goto(self.address + path)
        self.page.locator("#floor > *").first.wait_for()

    def go(self, path: str) -> None:
        """Show another screen of the open page, as a link does."""
        self.person.go(f"floor/{path}")

    def take(self, task: str) -> None:
        """Open a task, and wait until it can be worked on."""
        self.go(task)
        expect(self.page.locator(".task .scan")).to_be_visible()

    def wait_until_kept(self) -> None:
        """Wait until the browser can open the floor without a network."""
        self.page.evaluate("navigator.serviceWorker.ready.then(() => null)")

    def reopen(self, path: str = "") -> None:
        """Close the page, as a phone does that needs memory, and open another one."""
        self.wait_until_kept()
        self.page.close()
        self.page = self.person.context.new_page()
        self.page.set_viewport_size({"width": 320, "height": 480})
        self.person.page = self.page
        self.open(path)

    def sign_in(self, pin: str | None) -> None:
        """Open the floor, sign in with the password, and choose a PIN."""
        self.open()
        self.sign_in_again(pin)

    def sign_in_again(self, pin: str | None) -> None:
        """Sign in with the password, and choose a PIN."""
        self.person.sign_in()
        if pin is None:
            self.press("Continue without a PIN")
        else:
            for label in ("New PIN of six digits", "The same PIN again"):
                self.page.get_by_label(label).fill(pin)
                self.press("Continue")
        expect(self.heading("Tasks")).to_be_visible()

    def unlock(self, pin: str = PIN) -> None:
        """Open the session of the device with the PIN."""
        self.page.get_by_label("PIN", exact=True).fill(pin)
        self.press("Continue")

    def scan(self, code: str) -> None:
        """Scan a code: a burst of keys that ends with Enter, however slow this machine is."""
        self.page.evaluate(_BURST, code)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def press_twice(self, name: str) -> None:
        """Press a button twice, faster than the page can change."""
        button = self.page.get_by_role("button", name=name, exact=True)
        button.evaluate("element => { element.click(); element.click(); }")

    def heading(self, text: str) -> Locator:
        """Return the heading of a screen."""
        return self.page.get_by_role("heading", level=1, name=text)

    def expect_right(self, text: str) -> None:
        """Wait for a scan to be shown as right."""
        expect(self.page.locator(".result.right")).to_contain_text(text)

    def expect_wrong(self, text: str) -> None:
        """Wait for a scan to be shown as wrong."""
        expect(self.page.locator(".result.wrong")).to_contain_text(text)

    def confirm(self, qty: str | None = None) -> None:
        """Confirm the quantity."""
        if qty is not None:
            self.page.get_by_label("Quantity").fill(qty)
        self.press("Confirm")

    @property
    def status(self) -> Locator:
        """What is said of the connection, and of scans that wait."""
        return self.page.get_by_role("banner").get_by_role("status")

    def expect_nothing_waits(self) -> None:
        """Wait until everything is sent."""
        expect(self.status).not_to_contain_text("wait")
