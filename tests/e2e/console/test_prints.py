"""Labels and packing slips, to print."""

import base64
import re
from pathlib import Path

import httpx
from playwright.sync_api import Route, expect

from tests.e2e.console.person import Person
from tests.e2e.responses import walk

_KEEP = """() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = file => { globalThis.lastFile = file; return make(file); };
}"""
_ACTIVATION = """isActive =>
    Object.defineProperty(navigator, "userActivation", {value: {isActive}, configurable: true})
"""
_READ = """async () => {
    const data = new Uint8Array(await lastFile.slice(0, 1000).arrayBuffer());
    return btoa(String.fromCharCode(...data));
}"""


def opened(person: Person, name: str) -> bytes:
    """Press the button of a file that opens in a tab, and return how the file begins."""
    with person.context.expect_page() as tab:
        person.press(name)
    assert tab.value.url.startswith("blob:")
    tab.value.close()
    return base64.b64decode(person.page.evaluate(_READ))


def test_label_is_asked_for_once(person: Person) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    person.start("products/1")
    person.page.route(re.compile(r"/labels\?"), hold, times=1)
    label = person.page.get_by_role("button", name="Label (ZPL)")
    with person.page.expect_download():
        with person.page.expect_request(re.compile(r"/labels\?")):
            label.click()
        expect(label).to_be_disabled()
        held.pop().continue_()
    expect(label).to_be_enabled()


def test_labels_and_packing_slips_open_or_are_saved(person: Person, acme: httpx.Client) -> None:
    unit = next(
        one for one in walk(acme, "/handling-units", sort="created_at")
        if one["sscc"] and one["contents"]
    )  # fmt: skip
    person.start(f"handling-units/{unit['id']}")
    person.page.evaluate(_KEEP)
    person.page.evaluate(_ACTIVATION, True)
    assert opened(person, "Label (PDF)").startswith(b"%PDF-")
    with person.page.expect_download() as download:
        person.press("Label (ZPL)")
    assert download.value.suggested_filename == f"{unit['code']}.zpl"
    assert unit["sscc"] in Path(download.value.path()).read_text()
    person.go(f"packing-orders/{unit['packing_order_id']}")
    assert opened(person, "Packing slip (PDF)").startswith(b"%PDF-")
    person.go("products/1")
    person.page.get_by_label("Size of the label").select_option("small")
    with person.page.expect_download() as download:
        person.press("Label (ZPL)")
    assert download.value.suggested_filename == "products.zpl"
    assert "^PW480^LL240" in Path(download.value.path()).read_text()
    person.go(f"packing-orders/{unit['packing_order_id']}")
    expect(person.heading()).to_have_text(re.compile("^PK-"))
    person.page.evaluate(_ACTIVATION, False)  # the click was long ago: browsers open no tab
    with person.page.expect_download() as download:
        person.press("Packing slip (PDF)")
    assert download.value.suggested_filename.endswith(".pdf")


def test_label_is_a_file_for_callers_without_an_accept_header(acme: httpx.Client) -> None:
    request = acme.build_request("GET", "/products/1/label")
    del request.headers["Accept"]
    assert acme.send(request).content.startswith(b"%PDF-")
