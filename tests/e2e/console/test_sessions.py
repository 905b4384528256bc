"""Sign-in, second factor, renewal, sign-out, and what ends a session."""

import base64
import re
import time
from collections.abc import Callable, Iterator
from itertools import cycle

import httpx
import pytest
import zxingcpp
from playwright.sync_api import Locator, Request, Route, expect

from operations import provisioning
from operations.user_unlock import unlock_user
from shared.identity.tenancy.tenant import MODULES
from shared.identity.users.totp import PERIOD, code_at
from tests.e2e.conftest import TIMEOUT, Deployed, client_of, token_of_tenant
from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill
from tests.e2e.console.test_forms import answer

BROWSER = "browser"
"""A company that one test suspends; no other test signs in to it."""


class App:
    """An authenticator app, which shows each code once."""

    def __init__(self, secret: str) -> None:
        self._secret = base64.b32decode(secret)
        self._last = 0

    def code(self) -> str:
        """Return the code of now, or the next one if it was shown."""
        self._last = max(self._last + 1, int(time.time()) // PERIOD)
        return code_at(self._secret, self._last)


def scanned(code: Locator) -> str:
    """Return what a phone reads from a QR code on the screen."""
    side, scale = int(str(code.get_attribute("viewBox")).split()[2]), 4
    pixels = bytearray(b"\xff" * (side * scale) ** 2)
    path = str(code.locator("path").get_attribute("d"))
    for x, y in re.findall(r"M(\d+) (\d+)", path):
        for row in range(int(y) * scale, (int(y) + 1) * scale):
            start = row * side * scale + int(x) * scale
            pixels[start : start + scale] = bytes(scale)
    picture = bytes(pixels)  # kept while the image refers to it
    size = side * scale
    image = zxingcpp.ImageView(picture, size, size, zxingcpp.ImageFormat.Lum)
    (found,) = zxingcpp.read_barcodes(image)
    return found.text


def refresh_token(person: Person) -> str | None:
    """Return the refresh token of the tab; None if another tab has it."""
    token: str | None = person.page.evaluate("sessionStorage.getItem('stowage.refresh_token')")
    return token


@pytest.fixture
def company(stack: Deployed, operator: None) -> Iterator[tuple[str, httpx.Client]]:
    """The company `browser`, active with every module, and a client with every scope."""
    assert operator is None
    with client_of(stack.base_url, token_of_tenant(stack, BROWSER)) as client:
        yield BROWSER, client
    provisioning.set_state(BROWSER, "active")
    provisioning.switch_modules(BROWSER, on=MODULES)


def repeat_until(shown: Locator, step: Callable[[], None]) -> None:
    """Repeat a step until something is shown: what others change takes up to ten seconds."""
    deadline = time.monotonic() + 300
    while True:
        step()
        try:
            return expect(shown).to_be_visible(timeout=5_000)
        except AssertionError:
            if time.monotonic() > deadline:
                raise


def test_wrong_password_says_so_and_the_right_one_leads_home(person: Person) -> None:
    person.open()
    person.sign_in(password="wrong")
    expect(person.page.get_by_role("alert")).to_contain_text("is wrong")
    person.sign_in()
    expect(person.heading()).to_have_text("Today")
    person.page.reload()
    expect(person.heading()).to_have_text("Today")


def test_tabs_share_a_sign_in_until_one_signs_out(person: Person) -> None:
    person.start("products")
    with person.context.expect_page() as opened:  # with the storage of this one
        person.page.evaluate("open(location.href)")
    tabs = [
        Person(page, person.address, person.username, person.password)
        for page in (opened.value, person.context.new_page())
    ]
    tabs[1].open("products")
    for tab in tabs:
        expect(tab.heading()).to_have_text("Products")
        assert refresh_token(tab) is None
    for tab in (person, *tabs):
        tab.page.reload()
        expect(tab.heading()).to_have_text("Products")

    form = {"grant_type": "refresh_token", "refresh_token": refresh_token(person)}
    tabs[0].sign_out()
    for tab in (person, tabs[1]):
        expect(tab.page.get_by_label("User name")).to_be_visible()
    refused = httpx.post(f"{person.address.removesuffix('/console/')}/oauth/token", data=form)
    assert refused.json()["error"] == "invalid_grant"


def test_sign_out_revokes_the_session(person: Person) -> None:
    person.start()
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token(person)}
    person.sign_out()
    base = person.address.removesuffix("/console/")
    refused = httpx.post(f"{base}/oauth/token", data=form)
    assert refused.json()["error"] == "invalid_grant"


def test_what_a_person_may_not_do_is_not_offered(new_person: NewPerson) -> None:
    packer = new_person("exits.manage")
    packer.start("products")
    expect(packer.heading()).to_have_text("Products")
    expect(packer.page.get_by_role("link", name="Waves")).to_be_visible()
    for name in ("Users", "Webhooks", "Settings", "Imports", "New product"):
        expect(packer.page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    packer.open("products/new")
    expect(packer.page.get_by_text("no permission")).to_be_visible()


def refuse_once(person: Person, path: str) -> list[Request]:
    """Refuse the next request to a path, as with an expired token; return all requests to it."""
    requests: list[Request] = []

    def keep(request: Request) -> None:
        if request.url.endswith(path):
            requests.append(request)

    def refuse(route: Route) -> None:
        error = {"code": "unauthenticated", "message": "Expired.", "request_id": "r"}
        route.fulfill(status=401, json={"error": error, "errors": [], "message": "Expired."})

    person.page.on("request", keep)
    person.page.route(re.compile(f"{path}$"), refuse, times=1)
    return requests


def end_session(person: Person) -> list[Request]:
    """Refuse the next request for products, and the renewal; return the requests for products."""
    person.page.evaluate("sessionStorage.removeItem('stowage.refresh_token')")
    return refuse_once(person, r"/v1/products")


def test_token_that_expires_is_renewed_under_a_form(person: Person, run: str) -> None:
    person.start("products/new")
    fill(person.page, {"Item code": f"BOX-{run}", "Name": f"Box {run}"})
    requests = refuse_once(person, "/v1/products")
    before = refresh_token(person)
    person.press("Save")
    expect(person.heading()).to_have_text(f"BOX-{run}")
    refused, repeated = requests
    assert refresh_token(person) != before
    assert refused.headers["authorization"] != repeated.headers["authorization"]
    assert refused.headers["idempotency-key"] == repeated.headers["idempotency-key"]
    assert refused.post_data == repeated.post_data


def test_session_that_ends_keeps_what_was_written(person: Person, run: str) -> None:
    person.start("products/new")
    person.page.get_by_label("Name", exact=False).first.fill(f"Box {run}")
    requests = end_session(person)
    person.page.get_by_label("Item code", exact=False).first.fill(f"BOX-{run}")
    person.press("Save")
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session ended")
    person.sign_in()
    expect(dialog).to_have_count(0)
    assert len(requests) == 1
    person.page.get_by_role("button", name=re.compile("Save|Try again")).click()
    expect(person.heading()).to_have_text(f"BOX-{run}")


def test_escape_does_not_close_the_sign_in_of_an_ended_session(person: Person) -> None:
    person.start()
    end_session(person)
    person.go("products")
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session ended")
    for _ in range(4):
        person.page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    person.sign_in()
    expect(dialog).to_have_count(0)
    expect(person.rows().first).to_be_visible()


def test_somebody_else_who_signs_in_does_not_go_on_with_the_work_of_the_first(
    person: Person, new_person: NewPerson, stack: Deployed, run: str
) -> None:
    slug = "another-company"
    with client_of(stack.base_url, token_of_tenant(stack, slug)) as client:
        other = new_person(company=(slug, client))
    asked = answer(person, leave=True)
    person.start("products/new")
    person.page.get_by_label("Name", exact=False).first.fill(f"Box {run}")
    end_session(person)
    person.press("Save")
    expect(person.page.get_by_role("dialog")).to_contain_text("Your session ended")
    person.username = other.username
    person.sign_in()
    expect(person.heading()).to_have_text("Today")
    name = person.username.partition("@")[0]
    expect(person.page.locator(".top")).to_contain_text(f"Person {name} · {slug}")
    assert asked == []


def test_second_factor_from_its_enrolment_to_a_recovery_code(
    person: Person, acme: httpx.Client
) -> None:
    page = person.page
    alert = page.get_by_role("alert")
    person.start("account")
    off = page.get_by_role("button", name="Switch off two-step verification")
    expect(page.get_by_role("button", name="Enrol an authenticator app")).to_be_visible()
    expect(off).to_have_count(0)
    person.choose("Enrol an authenticator app", {"Password": "not the password"})
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    fill(dialog, {"Password": person.password})
    dialog.get_by_role("button", name="Enrol an authenticator app").click()
    expect(page.get_by_text("shown only once")).to_be_visible()
    secret = person.secret("Secret")
    uri = scanned(page.get_by_role("img", name="QR code for the authenticator app"))
    assert uri == person.secret("QR code for the authenticator app")
    assert secret in uri
    app, recovery = App(secret), person.secret("Recovery codes").split()
    person.press("Close")
    assert recovery[0] not in page.content()
    person.choose("Confirm the authenticator app", {"Code": "000000"})
    expect(dialog.get_by_label("Code")).to_have_attribute("aria-invalid", "true")
    fill(dialog, {"Code": app.code()})
    dialog.get_by_role("button", name="Confirm the authenticator app").click()
    expect(dialog).to_contain_text("Your session ended")
    name = person.username.partition("@")[0]
    (user,) = acme.get("/users", params={"search": name}).json()["data"]
    assert user["two_step"]

    person.sign_in("000000")
    expect(alert).to_contain_text("the code is wrong")
    person.sign_in()
    expect(page.get_by_text("You signed in without a code")).to_be_visible()
    menu = page.get_by_role("navigation", name="Menu")
    expect(menu.get_by_role("link")).to_have_text(["Home", "Products"])
    menu.get_by_role("link", name="Products").click()
    expect(person.rows().first).to_be_visible()
    expect(page.get_by_role("link", name="New product")).to_have_count(0)
    person.open("pickings")
    expect(alert).to_contain_text("You signed in without a code")

    person.sign_out("Sign in with a code")
    person.sign_in(app.code())
    expect(person.heading()).to_have_text("Today")
    expect(menu.get_by_role("link", name="Users")).to_be_visible()
    person.sign_out()
    person.sign_in(recovery[0])
    expect(person.heading()).to_have_text("Today")
    person.open("pickings")
    expect(person.rows().first).to_be_visible()
    person.sign_out()
    person.sign_in(recovery[0])
    expect(alert).to_contain_text("the code is wrong")


@pytest.mark.usefixtures("operator")
def test_name_is_locked_after_wrong_passwords_until_an_operator_unlocks_it(
    person: Person, stack: Deployed
) -> None:
    name, _, slug = person.username.partition("@")
    seconds = 0
    while seconds < 20:  # a limit that ends at once would let the next sign-in pass
        wrong = {"username": person.username, "password": "not the password"}
        refused = stack.tenants[slug].sign_in(**wrong)
        seconds = int(refused.headers.get("Retry-After", 0))
    person.open()
    person.sign_in()
    alert = person.page.get_by_role("alert")
    expect(alert).to_contain_text("Too many requests.")
    expect(alert).to_contain_text(re.compile(r"Try again in \d+ seconds"))
    unlock_user(slug, name)
    person.sign_in()
    expect(person.heading()).to_have_text("Today")


def test_company_without_a_module_and_suspended(
    new_person: NewPerson, company: tuple[str, httpx.Client]
) -> None:
    slug, _ = company
    person = new_person(company=company)
    alert = person.page.get_by_role("alert")

    def look() -> None:
        link = person.page.get_by_role("navigation", name="Menu").get_by_role("link")
        link.filter(has_text=re.compile("^Products$")).click()
        link.filter(has_text=re.compile("^Transfer orders$")).click()

    person.start()
    repeat_until(person.page.get_by_text("There is nothing yet"), look)
    provisioning.switch_modules(slug, off={"transfer_orders"})
    repeat_until(alert.get_by_text("Transfer orders are switched off."), look)
    provisioning.set_state(slug, "suspended")
    repeat_until(alert.get_by_text("The company is suspended."), look)
    person.page.reload()
    expect(alert).to_contain_text("The company is suspended.")
    expect(person.page.get_by_label("User name")).to_be_visible()
    person.sign_in()
    expect(alert).to_contain_text("The company is suspended.")


def test_session_that_somebody_else_ends(person: Person) -> None:
    person.start("products")
    page = person.page
    form = {"token": refresh_token(person)}
    base = person.address.removesuffix("/console/")
    httpx.post(f"{base}/oauth/revoke", data=form, timeout=TIMEOUT).raise_for_status()
    ended = page.get_by_role("dialog").get_by_text("Your session ended")
    sorts = cycle(("name", "-name"))
    repeat_until(ended, lambda: person.go(f"products?sort={next(sorts)}"))
    person.sign_in()
    expect(ended).to_have_count(0)
    expect(page.get_by_role("table")).to_have_attribute("aria-busy", "false")
    expect(person.rows()).not_to_have_count(0)
