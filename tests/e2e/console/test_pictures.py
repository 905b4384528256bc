"""The screens of docs/guides/console.md: `make pictures` takes pictures, other runs visit them."""

import os
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Literal, NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Deployed
from tests.e2e.console.company import PASSWORD, USERNAME, Company, new_company
from tests.e2e.console.person import PATIENCE_MS

PICTURES = os.environ.get("PICTURES")
"""Folder of the pictures, if they are to be taken."""
LARGEST = 60_000
"""Bytes of a picture."""


class Look(NamedTuple):
    """A language and an appearance."""

    language: str = "en-GB"
    theme: Literal["light", "dark"] = "light"


@pytest.fixture(scope="module")
def company(stack: Deployed, acme: httpx.Client) -> Iterator[Company]:
    """The company of the pictures; without pictures acme, which has the same data and more."""
    with new_company(stack) if PICTURES else nullcontext(Company(acme, "acme")) as made:
        made.prepare()
        yield made


def screens_of(company: Company) -> Mapping[Look, Mapping[str, tuple[str, str]]]:
    """Return the name of each picture → the address of its screen, and a text that it shows."""
    receipt = company.number("/receipts", external_ref="PO-2026-04103")
    approval = company.number("/approvals", status="pending")
    warehouse = company.number("/warehouses", whs_code="CEN")
    open_orders = "exit-documents?status=open&type=sale_order"
    return {
        Look(): {
            "home": ("", "Today"),
            "list": (open_orders, "SO-2026-07322"),
            "detail": (f"receipts/{receipt}", "History"),
            "approval": (f"approvals/{approval}", "What is requested"),
            "map": (f"map?warehouse={warehouse}", "RACK"),
            "import": (f"imports/{company.import_ids()[0]}", "WEB-118204"),
            "settings": ("settings", "Time zone"),
        },
        Look("es", "dark"): {"list-dark": (open_orders, "SO-2026-07322")},
    }


def test_screens_of_the_pictures(browser: Browser, stack: Deployed, company: Company) -> None:
    address = f"{stack.base_url}/console/"
    for look, screens in screens_of(company).items():
        with browser.new_context(
            locale=look.language,
            color_scheme=look.theme,
            viewport={"width": 1280, "height": 800},
        ) as context:
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            if PICTURES:
                page.route(re.compile("/api/v1/(?!console|oauth)"), company.answer_steadily)
            page.goto(address)
            page.locator("input[name=username]").fill(f"{USERNAME}@{company.slug}")
            if look == Look():
                take(page, "sign-in")
            page.locator("input[name=password]").fill(PASSWORD)
            page.locator("form.sign-in button").click()
            expect(page.locator(".figures").first).to_be_visible()
            for name, (path, text) in screens.items():
                page.goto(address + path)
                expect(page.locator("main").get_by_text(text).first).to_be_visible()
                take(page, name)


def take(page: Page, name: str) -> None:
    """Wait until a screen shows everything, and take its picture if it is asked for."""
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("alert")).to_have_count(0)
    if not PICTURES:
        return
    session = page.context.new_cdp_session(page)
    for quality in range(80, 0, -10):
        asked = {"format": "webp", "quality": quality}
        content = b64decode(session.send("Page.captureScreenshot", asked)["data"])
        if len(content) <= LARGEST:
            break
    path = Path(PICTURES) / f"{name}.webp"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
