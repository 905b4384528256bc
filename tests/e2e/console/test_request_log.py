"""The request log of an API client: where it is, when it is off, its filters and pages."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Deployed, client_of, token_of_tenant
from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import fill

_SLUG = "request-log"
"""A company of its own, because the setting holds for all of its requests."""


@pytest.fixture
def company(stack: Deployed) -> Iterator[httpx.Client]:
    """A client that may do everything in the company, whose setting is off."""
    with client_of(stack.base_url, token_of_tenant(stack, _SLUG)) as client:
        client.patch("/settings", json={"request_log": False}).raise_for_status()
        yield client


def _fill_log(company: httpx.Client, base_url: str, name: str) -> str:
    """Make an API client of which two requests are logged, and return its id."""
    draft = {"name": name, "scopes": ["stocks:read"]}
    made = company.post("/api-clients", json=draft).json()["data"]
    form = {"grant_type": "client_credentials"}
    secret = (made["id"], made["client_secret"])
    grant = httpx.post(f"{base_url}/oauth/token", data=form, auth=secret, timeout=60)
    company.patch("/settings", json={"request_log": True}).raise_for_status()
    with client_of(base_url, grant.json()["access_token"]) as shop:
        for _ in range(100):  # functions know a setting for seconds
            shop.get("/stock-levels/999999999")
            logged = company.get("/request-log", params={"client": made["id"]}).json()["data"]
            if len(logged) > 1:
                break
        shop.get("/stock-levels").raise_for_status()
    company.patch("/settings", json={"request_log": False}).raise_for_status()
    client: str = made["id"]
    return client


def test_request_log_leads_from_an_api_client_to_its_requests(
    new_person: NewPerson, stack: Deployed, company: httpx.Client, run: str
) -> None:
    client = _fill_log(company, stack.base_url, f"Shop {run}")
    person = new_person(company=(_SLUG, company))
    page = person.page
    person.start("request-log")
    expect(page.get_by_role("link", name=f"Shop {run}")).to_be_visible()
    expect(person.rows()).to_have_count(0)

    person.open(f"api-clients/{client}")
    page.locator("main").get_by_role("link", name="Request log").click()
    expect(person.rows().first).to_contain_text("/stock-levels")
    is_off = page.get_by_text("The setting “Keep a log of requests” is off")
    expect(is_off.get_by_role("link", name="Settings")).to_be_visible()

    person.press("Filters")
    dialog = page.get_by_role("dialog")
    fill(dialog, {"Status": "404"})
    dialog.get_by_role("button", name="Apply").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Status: 404")).to_be_visible()
    expect(person.rows().first).to_contain_text("not_found")
    expect(person.rows().filter(has_text="200")).to_have_count(0)

    company.patch("/settings", json={"request_log": True}).raise_for_status()
    person.open(f"request-log?client={client}&per_page=1")
    first = person.rows().inner_text()
    expect(page.get_by_role("button", name="First page")).to_be_disabled()
    expect(is_off).to_have_count(0)
    person.press("Next page")
    expect(page.get_by_role("button", name="First page")).to_be_enabled()
    expect(person.rows()).not_to_have_text(first)
    expect(person.rows()).to_have_count(1)
