"""Sign-in, second factor, renewal and sign-out."""

import re

import httpx
from playwright.sync_api import Route, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person


def test_wrong_password_says_so_and_the_right_one_leads_home(person: Person) -> None:
    person.open()
    person.sign_in(password="wrong")
    expect(person.page.get_by_role("alert")).to_contain_text("is wrong")
    person.sign_in()
    expect(person.heading()).to_have_text("Today")
    person.page.reload()
    expect(person.heading()).to_have_text("Today")


def test_sign_out_revokes_the_session(person: Person) -> None:
    person.start()
    token = person.page.evaluate("sessionStorage.getItem('stowage.refresh_token')")
    person.press("Sign out")
    expect(person.page.get_by_label("User name")).to_be_visible()
    form = {"grant_type": "refresh_token", "refresh_token": token}
    base = person.address.removesuffix("/console/")
    refused = httpx.post(f"{base}/oauth/token", data=form)
    assert refused.json()["error"] == "invalid_grant"


def test_what_a_person_may_not_do_is_not_offered(new_person: NewPerson) -> None:
    packer = new_person("exits.manage")
    packer.start("products")
    expect(packer.heading()).to_have_text("Products")
    expect(packer.page.get_by_role("link", name="Waves")).to_be_visible()
    for name in ("Users", "Webhooks", "Settings", "Imports", "New"):
        expect(packer.page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    packer.open("products/new")
    expect(packer.page.get_by_text("no permission")).to_be_visible()


def test_session_that_ends_keeps_what_was_written(person: Person, run: str) -> None:
    person.start("products/new")
    person.page.get_by_label("Name", exact=False).first.fill(f"Box {run}")
    ended = {"n": 0}

    def refuse(route: Route) -> None:
        ended["n"] += 1
        error = {"code": "unauthenticated", "message": "Expired.", "request_id": "r"}
        route.fulfill(status=401, json={"error": error, "errors": [], "message": "Expired."})

    person.page.route(re.compile(r"/products$"), refuse, times=1)
    person.page.evaluate("sessionStorage.removeItem('stowage.refresh_token')")
    person.page.get_by_label("Item code", exact=False).first.fill(f"BOX-{run}")
    person.press("Save")
    dialog = person.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Your session ended")
    person.sign_in()
    expect(dialog).to_have_count(0)
    assert ended["n"] == 1
    person.page.get_by_role("button", name=re.compile("Save|Try again")).click()
    expect(person.heading()).to_have_text(f"BOX-{run}")
