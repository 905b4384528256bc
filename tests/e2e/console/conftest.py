"""Fixtures of the browser tests."""

import shutil
from collections.abc import Callable, Iterator
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.e2e.conftest import Deployed
from tests.e2e.console.person import PATIENCE_MS, Person

PERMISSIONS = (
    "approvals.grant",
    "entries.manage",
    "exits.manage",
    "imports.run",
    "inventory.manage",
    "transfer-orders.manage",
    "users.manage",
)
PASSWORD = "eleven green bottles"

REPORT_VIOLATIONS = """
    addEventListener("securitypolicyviolation", event =>
        report(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));
"""

type NewPerson = Callable[..., Person]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is missing. Run tools/chromium.sh.")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # in a container there is no user namespace for the sandbox; the pages are our own
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def new_person(
    browser: Browser, stack: Deployed, acme: httpx.Client, run: str
) -> Iterator[NewPerson]:
    """Make a user with permissions, in a browser of their own.

    An error of a page fails the test, and so does what its Content-Security-Policy refuses.

    `company` is the slug of the user's company and a client that may create users in it.
    """
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def make(
        *permissions: str,
        language: str = "en",
        theme: Literal["light", "dark"] = "light",
        company: tuple[str, httpx.Client] = ("acme", acme),
    ) -> Person:
        slug, client = company
        name = f"{run.lower()}-{len(contexts)}"
        role = client.post("/roles", json={"name": name, "permissions": permissions or PERMISSIONS})
        draft = {"username": name, "name": f"Person {name}", "password": PASSWORD}
        made = client.post("/users", json=draft | {"roles": [role.json()["data"]["id"]]})
        assert made.status_code == httpx.codes.CREATED, made.text
        context = browser.new_context(locale=language, color_scheme=theme, accept_downloads=True)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        context.expose_binding("report", lambda _page, problem: problems.append(problem))
        context.add_init_script(REPORT_VIOLATIONS)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        return Person(page, f"{stack.base_url}/console/", f"{name}@{slug}", PASSWORD)

    yield make
    for context in contexts:
        context.close()
    assert not problems


@pytest.fixture
def person(new_person: NewPerson) -> Person:
    """A user with every permission."""
    return new_person()


@pytest.fixture
def goods(acme: httpx.Client, run: str) -> str:
    """Code of a product, a warehouse `W-{run}` and its position `A-1`."""
    for path, draft in (
        ("/products", {"item_code": run, "name": f"Crate {run}"}),
        ("/warehouses", {"whs_code": f"W-{run}", "name": f"Warehouse {run}"}),
        ("/warehouse-positions", {"whs_code": f"W-{run}", "bin_code": "A-1"}),
    ):
        assert acme.post(path, json=draft).status_code == httpx.codes.CREATED
    return run
