"""Scans where the network is weak, or gone: each is carried out once, or shown as a decision."""

import re

from playwright.sync_api import Route, expect

from tests.e2e.console.floor.conftest import NewHandheld
from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.site import Site


def _picking(site: Site) -> int:
    """Return the id of a picking of 9 bolts."""
    site.stock("BOLT", 50)
    order = site.order("/exit-documents", site.line("BOLT", 9))
    return int(site.post("/pickings", document_id=order)["id"])


def _taken(handheld: Handheld, site: Site) -> int:
    """Take such a picking, and return its id."""
    picking = _picking(site)
    handheld.take(f"pickings/{picking}")
    return picking


def _pick_without_answer(handheld: Handheld, site: Site) -> int:
    """Take a picking, pick 2 of its bolts, and wait until that got no answer; return its id."""
    picking = _taken(handheld, site)
    handheld.page.route("**/picks", lambda route: route.abort())
    _pick(handheld, site, "2")
    # Chromium sends a request that still stands at the route when its page closes.
    expect(handheld.status).to_have_text(re.compile("No network.*1 scan waits"))
    return picking


def _pick(handheld: Handheld, site: Site, qty: str) -> None:
    if handheld.page.get_by_label("Scan the position").is_visible():
        handheld.scan("A-1")
    expect(handheld.page.get_by_label("Scan the product")).to_be_visible()
    handheld.scan(site.item("BOLT"))
    handheld.confirm(qty)


def test_task_goes_on_without_a_network_and_after_the_browser_was_closed(
    handheld: Handheld, site: Site
) -> None:
    picking = _taken(handheld, site)
    handheld.wait_until_kept()
    handheld.person.context.set_offline(True)
    _pick(handheld, site, "2")
    expect(handheld.status).to_contain_text("1 scan waits")
    expect(handheld.page.get_by_text("2 of 9 units")).to_be_visible()

    handheld.reopen(f"pickings/{picking}")
    handheld.unlock()
    expect(handheld.page.get_by_text("2 of 9 units")).to_be_visible()
    _pick(handheld, site, "3")
    expect(handheld.status).to_contain_text("2 scans wait")
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 0

    handheld.person.context.set_offline(False)
    handheld.expect_nothing_waits()
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 5


def test_answer_that_is_lost_does_nothing_twice(handheld: Handheld, site: Site) -> None:
    picking = _taken(handheld, site)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if len(lost) < 3:
            lost.append(route.request.headers["idempotency-key"])
            route.fetch()
            route.abort()
        else:
            route.continue_()

    handheld.page.route("**/picks", lose)
    _pick(handheld, site, "2")
    expect(handheld.page.get_by_text("2 of 9 units")).to_be_visible()
    handheld.expect_nothing_waits()

    assert len(lost) == 3
    assert len({*lost}) == 1
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 2


def test_refused_scan_is_a_decision_and_stops_only_its_task(handheld: Handheld, site: Site) -> None:
    picking = _taken(handheld, site)
    handheld.person.context.set_offline(True)
    _pick(handheld, site, "2")
    site.post(f"/pickings/{picking}/cancel")
    handheld.person.context.set_offline(False)
    handheld.page.get_by_role("link", name="1 decision").click()

    expect(handheld.heading("Decisions")).to_be_visible()
    expect(handheld.page.get_by_role("article")).to_contain_text("cancelled")
    handheld.press("Leave to the supervisor")
    expect(handheld.page.get_by_text("Left to the supervisor.")).to_be_visible()
    handheld.press("Discard the scan")
    expect(handheld.page.get_by_text("There is nothing to decide.")).to_be_visible()


def test_wrong_pins_end_the_session_and_lose_no_scan(handheld: Handheld, site: Site) -> None:
    picking = _taken(handheld, site)
    handheld.person.context.set_offline(True)
    _pick(handheld, site, "2")
    expect(handheld.status).to_contain_text("1 scan waits")
    handheld.person.context.set_offline(False)
    handheld.page.route("**/picks", lambda route: route.abort())
    handheld.reopen()
    for left in (4, 3, 2, 1):
        handheld.unlock("000000")
        expect(handheld.page.get_by_text(f"{left} attempt")).to_be_visible()
    handheld.unlock("000000")
    expect(handheld.page.get_by_text("no scan is lost")).to_be_visible()
    expect(handheld.page.get_by_text("1 scan on this device is not sent yet.")).to_be_visible()
    handheld.page.unroute("**/picks")
    handheld.sign_in_again(PIN)

    handheld.expect_nothing_waits()
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 2


def test_signing_out_with_waiting_scans_asks_and_keeps_them(handheld: Handheld, site: Site) -> None:
    picking = _pick_without_answer(handheld, site)
    handheld.go("menu")
    handheld.press("Sign out")
    expect(handheld.page.get_by_text("It stays on this device")).to_be_visible()
    with handheld.page.expect_navigation():
        handheld.press("Sign out")
    expect(handheld.page.get_by_text("1 scan on this device is not sent yet.")).to_be_visible()
    handheld.page.unroute("**/picks")
    handheld.sign_in_again(PIN)

    handheld.expect_nothing_waits()
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 2


def test_end_that_waits_is_the_end_of_the_task_when_it_is_opened_again(
    handheld: Handheld, site: Site
) -> None:
    picking = _taken(handheld, site)
    _pick(handheld, site, "2")
    handheld.expect_nothing_waits()
    handheld.page.route("**/finalize", lambda route: route.abort())
    handheld.press("End the task")
    handheld.page.get_by_label("Not found").check()
    handheld.press("End the task")
    expect(handheld.page.get_by_text("The end of the task is being sent.")).to_be_visible()
    handheld.go("")
    expect(handheld.heading("Tasks")).to_be_visible()
    handheld.go(f"pickings/{picking}")
    expect(handheld.page.get_by_text("The end of the task is being sent.")).to_be_visible()
    handheld.go("")
    own = handheld.page.get_by_role("heading", name="On this device")
    expect(own).to_be_visible()
    handheld.page.unroute("**/finalize")

    expect(own).to_be_hidden(timeout=40_000)
    assert site.get(f"/pickings/{picking}")["status"] == "finalized"


def test_signing_in_as_somebody_else_asks_and_keeps_what_waits(
    handheld: Handheld, site: Site
) -> None:
    _pick_without_answer(handheld, site)
    handheld.reopen()
    handheld.press("Sign in as somebody else")
    expect(handheld.page.get_by_text("1 scan is not sent yet.")).to_be_visible()
    handheld.press("Stay")
    expect(handheld.page.get_by_label("PIN", exact=True)).to_be_visible()
    handheld.press("Sign in as somebody else")
    handheld.press("End the session")

    expect(handheld.page.get_by_text("1 scan on this device is not sent yet.")).to_be_visible()


def test_second_tab_takes_over(handheld: Handheld) -> None:
    other = handheld.person.context.new_page()
    other.goto(handheld.address)

    expect(handheld.page.get_by_text("open in another tab")).to_be_visible()
    expect(other.get_by_label("PIN", exact=True)).to_be_visible()


def test_scans_of_somebody_else_wait_for_their_sign_in(
    handheld: Handheld, new_handheld: NewHandheld, site: Site
) -> None:
    picking = _pick_without_answer(handheld, site)
    handheld.go("menu")
    handheld.press("Sign out")
    with handheld.page.expect_navigation():
        handheld.press("Sign out")
    handheld.page.unroute("**/picks")
    other = new_handheld().person
    handheld.person.username, handheld.person.password = other.username, other.password
    handheld.sign_in_again(PIN)

    expect(handheld.status).to_contain_text("1 scan of somebody else waits")
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 0


def test_task_is_taken_after_the_sign_in_that_it_needed(handheld: Handheld, site: Site) -> None:
    picking = _picking(site)
    page, work, tokens = handheld.page, f"**/pickings/{picking}", "**/oauth/token"
    page.route(work, lambda route: route.fulfill(status=401, json={"message": "Unauthorized"}))
    page.route(tokens, lambda route: route.fulfill(status=400, json={"error": "invalid_grant"}))
    handheld.go(f"pickings/{picking}")
    expect(page.locator(".over")).to_be_visible()
    page.unroute(work)
    page.unroute(tokens)
    handheld.person.sign_in()

    expect(page.get_by_label("Scan the position")).to_be_visible()
