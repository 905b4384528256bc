"""A device that several people share, and that keeps the floor as an application."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from barcode.codex import Gs1_128
from playwright.sync_api import expect

from tests.e2e.console.floor.conftest import NewHandheld
from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.site import Site

_CAMERA = """(modules) => {
    delete globalThis.BarcodeDetector;
    const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
    const picture = canvas.getContext("2d");
    const draw = () => {
        picture.fillStyle = "white";
        picture.fillRect(0, 0, 1280, 720);
        picture.fillStyle = "black";
        [...modules].forEach((one, place) => picture.fillRect(100 + 4 * place, 200, 4 * one, 300));
    };
    navigator.mediaDevices.getUserMedia = async () => {
        setInterval(draw, 100);
        return canvas.captureStream(10);
    };
}"""
"""A camera in front of a label, and a browser that reads no codes."""


def test_floor_can_be_installed(handheld: Handheld) -> None:
    handheld.wait_until_kept()
    session = handheld.person.context.new_cdp_session(handheld.page)

    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {one["errorId"] for one in errors} == {"in-incognito"}, "all contexts of tests are"


def test_the_menu_leads_to_the_console_and_the_session_with_it(
    new_person: Callable[..., object],
) -> None:
    handheld = Handheld.of(new_person())
    handheld.sign_in(None)
    handheld.wait_until_kept()
    handheld.go("menu")
    handheld.page.get_by_role("link", name="Console", exact=True).click()
    expect(handheld.page.get_by_role("link", name="Counts Open")).to_be_visible()


def test_supervisor_saves_and_discards_the_scans_of_somebody_who_left(
    handheld: Handheld, new_handheld: NewHandheld, site: Site
) -> None:
    site.stock("BOLT", 9)
    order = site.order("/exit-documents", site.line("BOLT", 9))
    picking = site.post("/pickings", document_id=order)["id"]
    handheld.take(f"pickings/{picking}")
    handheld.page.route("**/picks", lambda route: route.abort())
    handheld.scan("A-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("2")
    # Chromium sends a request that still stands at the route when its page closes.
    expect(handheld.status).to_have_text(re.compile("No network.*1 scan waits"))
    handheld.reopen()
    handheld.press("Sign in as somebody else")
    with handheld.page.expect_navigation():
        handheld.press("End the session")
    supervisor = new_handheld().person
    handheld.person.username, handheld.person.password = supervisor.username, supervisor.password
    handheld.sign_in_again(PIN)

    handheld.go("menu")
    handheld.page.get_by_role("link", name="Scans on this device").click()
    with handheld.page.expect_download() as download:
        handheld.press("Save as a file")
    saved = json.loads(Path(download.value.path()).read_text())
    [scan] = saved["scans"]
    assert scan["request"]["body"]["qty"] == 2
    assert scan["key"]
    handheld.press("Discard 1 scan")
    expect(handheld.page.get_by_text("1 scan is not sent any more then.")).to_be_visible()
    handheld.press("Discard 1 scan")
    expect(handheld.page.get_by_text("No scan waits on this device.")).to_be_visible()
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 0


def test_camera_reads_labels_where_the_browser_cannot_also_without_a_network(
    handheld: Handheld, site: Site
) -> None:
    gtin = site.in_cases("BOLT", 12)
    [modules] = Gs1_128(f"01{gtin}30240").build()
    task = f"moves/{site.warehouse}"

    def scan_by_camera() -> None:
        handheld.take(task)
        handheld.scan("A-1")
        expect(handheld.page.get_by_label("Scan the product")).to_be_visible()
        handheld.page.evaluate(_CAMERA, modules)
        handheld.press("Camera")
        handheld.expect_right(f"{site.item('BOLT')}, A-1")
        expect(handheld.page.get_by_label("Quantity")).to_have_value("2880")

    scan_by_camera()
    handheld.person.context.set_offline(True)
    handheld.reopen()
    handheld.unlock()
    scan_by_camera()
