"""Actions at lines: what is expected, several writes in turn, and what can be done meanwhile."""

import json
import re

import httpx
from playwright.sync_api import Request, Route, expect

from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill
from tests.e2e.console.test_stock_work import count_line, count_of, line_at, stock
from tests.e2e.console.test_work import document, gateway_timeout, started_receipt


def empty_unit(acme: httpx.Client, goods: str, other: str) -> int:
    """Pick an order of two products, and return an empty handling unit of its packing order."""
    acme.post("/products", json={"item_code": other, "name": other}).raise_for_status()
    for code in (goods, other):
        place = {"warehouse": f"W-{goods}", "bin_code": "A-1"}
        counted = {"item_code": code, "counted_qty": 10, "reason": "first count"}
        acme.post("/stock-adjustments", json=place | counted).raise_for_status()
    ordered = [{"item_code": goods, "qty": 2}, {"item_code": other, "qty": 3}]
    order = document(acme, goods, "exit", 0, lines=ordered)
    picking = acme.post("/pickings", json={"document_id": order["id"]}).json()["data"]["id"]
    for action, body in (("start", {}), ("picks", {"as_allocated": True}), ("finalize", {})):
        acme.post(f"/pickings/{picking}/{action}", json=body).raise_for_status()
    packing = acme.post("/packing-orders", json={"exit_document_id": order["id"]})
    path = f"/packing-orders/{packing.json()['data']['id']}/handling-units"
    made: int = acme.post(path, json={"type": "carton"}).raise_for_status().json()["data"]["id"]
    return made


def test_several_writes_go_on_after_a_change_of_others_and_a_lost_answer(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    other = f"Z{goods}"
    unit = empty_unit(acme, goods, other)
    person.start(f"handling-units/{unit}")
    expected = person.page.get_by_role("region", name="Expected", exact=True)
    row = expected.locator("tbody tr").filter(has_text=other)
    expect(row).to_be_visible()
    packed = {"item_code": other, "qty": 1}
    acme.post(f"/handling-units/{unit}/contents", json=packed).raise_for_status()
    person.press("Pack all that is left")
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_be_visible()  # somebody else has packed something
    expect(row.get_by_role("cell", name="1", exact=True)).to_be_visible()
    sent: list[tuple[object, ...]] = []

    def lose_second(route: Route) -> None:
        headers = route.request.headers
        body = json.loads(route.request.post_data or "")
        sent.append((body["item_code"], headers["idempotency-key"], headers["if-match"]))
        if len({key for _, key, _ in sent}) == 1 or len(sent) > 5:
            route.continue_()
        else:
            route.fetch()  # the service does it, and the answer is lost
            gateway_timeout(route)

    person.page.route(re.compile(r"/contents$"), lose_second)
    dialog.get_by_role("button", name="Pack all that is left").click()
    expect(person.page.get_by_role("alert")).to_contain_text("nothing is done twice")
    person.press("Try again")
    expect(dialog).to_have_count(0)
    first, *repeated = sent
    assert len(repeated) == 5
    assert set(repeated) == {repeated[0]} != {first}
    contents = acme.get(f"/handling-units/{unit}").json()["data"]["contents"]
    assert sorted((one["item_code"], one["qty"]) for one in contents) == [(goods, 2), (other, 3)]


def test_action_for_all_lines_says_that_nothing_is_left(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    other = f"Z{goods}"
    unit = empty_unit(acme, goods, other)
    person.start(f"handling-units/{unit}")
    expected = person.page.get_by_role("region", name="Expected", exact=True)
    expect(expected.get_by_role("button", name="Pack")).to_have_count(2)
    for packed in ({"item_code": goods, "qty": 2}, {"item_code": other, "qty": 3}):
        acme.post(f"/handling-units/{unit}/contents", json=packed).raise_for_status()
    person.press("Pack all that is left")
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(expected.get_by_role("button", name="Pack")).to_have_count(0)
    dialog.get_by_role("button", name="Pack all that is left").click()
    expect(dialog).to_have_count(0)
    expect(person.page.locator(".messages")).to_contain_text("Nothing is left to do.")


def test_lines_offer_nothing_while_an_action_is_under_way(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    for bin_code in ("A-1", "A-2"):
        stock(acme, goods, bin_code, 5)
    person.start(f"counts/{count_of(acme, goods)}")
    for bin_code in ("A-1", "A-2"):
        count_line(person, bin_code, "5")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    person.page.route(re.compile(r"/recount$"), hold, times=1)
    again = line_at(person, "A-2").get_by_role("button", name="Count again")
    with person.page.expect_request(re.compile(r"/recount$")):
        line_at(person, "A-1").get_by_role("button", name="Count again").click()
    expect(again).to_be_disabled()
    held.pop().continue_()
    expect(again).to_be_enabled()
    again.click()
    expect(again).to_have_count(0)


def test_expected_lines_are_shown_before_the_start_and_to_all_who_read(
    new_person: NewPerson, acme: httpx.Client, goods: str
) -> None:
    order = document(acme, goods, "entry", 10)
    receipt = acme.post("/receipts", json={"document_id": order["id"]}).json()["data"]["id"]
    reader = new_person("exits.manage")
    reader.start()
    reader.page.route(re.compile(r"/entry-documents/\d+$"), lambda route: route.abort("failed"))
    reader.open(f"receipts/{receipt}")
    alert = reader.page.get_by_role("alert")
    expect(alert).to_contain_text("cannot be reached")
    reader.page.unroute_all()
    alert.get_by_role("button", name="Try again").click()
    expected = reader.page.get_by_role("region", name="Expected", exact=True)
    expect(expected.locator("tbody tr")).to_contain_text(goods)
    expect(reader.page.get_by_role("button", name="Receiving list")).to_be_visible()
    expect(expected.get_by_role("button")).to_have_count(0)


def test_more_cases_than_are_open_are_received_after_a_question(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    [product] = acme.get("/products", params={"item_code": goods}).json()["data"]
    units = {"units": [{"unit": "BOX", "qty": 12}]}
    acme.put(f"/products/{product['id']}/packaging", json=units).raise_for_status()
    receipt = started_receipt(acme, goods)
    person.start(f"receipts/{receipt}")
    sent: list[Request] = []
    person.page.on("request", lambda one: sent.append(one) if one.method == "POST" else None)
    person.press("Receive goods")
    dialog = person.page.get_by_role("dialog")
    fill(dialog, {"Item code": goods, "Quantity": "2", "Unit": "BOX", "Position": "A-1"})
    dialog.get_by_role("button", name="Receive goods").click()
    expect(dialog.get_by_role("alert")).to_contain_text("14 more than is open")
    assert sent == []


def test_granted_request_is_offered_without_a_reload(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    receipt = started_receipt(acme, goods)
    name = person.username.partition("@")[0]
    [user] = acme.get("/users", params={"search": name}).json()["data"]
    body = {"item_code": goods, "qty": 500, "bin_code": "A-1"}
    approval = {
        "id": 1, "message": "500 of 10", "requested_by": {"user_id": user["id"]},
        "resource": {"object": "receipt", "id": receipt},
        "request": {"method": "POST", "path": f"/receipts/{receipt}/lines", "body": body},
    }  # fmt: skip
    granted: list[object] = []

    def answer(route: Route) -> None:
        route.fulfill(json={"data": granted})

    page = person.page
    page.clock.install()
    page.route(re.compile(r"/approvals\?status=granted"), answer)
    person.start()
    for screen in ("", f"receipts/{receipt}"):
        granted.clear()
        with page.expect_response(re.compile(r"/approvals\?status=granted")):
            person.open(screen)
        notice = page.locator(".notice").filter(has_text="Your request was granted")
        expect(notice).to_have_count(0)
        granted.append(approval)
        page.clock.fast_forward(61_000)
        expect(notice.get_by_role("button", name="Receive goods")).to_be_visible()


def test_lists_to_work_with_are_printed(person: Person, acme: httpx.Client, goods: str) -> None:
    stock(acme, goods, "A-1", 10)
    order = document(acme, goods, "exit", 4)
    picking = acme.post("/pickings", json={"document_id": order["id"]}).json()["data"]["id"]
    page = person.page
    page.add_init_script("globalThis.print = () => undefined")
    person.start()
    sheet = page.locator(".sheet")
    for screen, name in (
        (f"pickings/{picking}", "Pick list"),
        (f"receipts/{started_receipt(acme, goods)}", "Receiving list"),
    ):
        person.open(screen)
        person.press(name)
        page.emulate_media(media="print")
        expect(sheet.get_by_role("heading", name=re.compile(f"^{name} "))).to_be_visible()
        expect(sheet.locator("tbody tr")).to_contain_text(goods)
        page.emulate_media(media="screen")


def test_goods_of_a_transfer_order_are_picked_and_received_at_their_line(
    person: Person, acme: httpx.Client, goods: str
) -> None:
    stock(acme, goods, "A-1", 10)
    other = f"X-{goods}"
    acme.post("/warehouses", json={"whs_code": other, "name": other}).raise_for_status()
    place = {"whs_code": other, "bin_code": "X-1"}
    acme.post("/warehouse-positions", json=place).raise_for_status()
    moved = {"from_warehouse": f"W-{goods}", "to_warehouse": other}
    lines = [{"item_code": goods, "qty": 4}]
    order = acme.post("/transfer-orders", json=moved | {"lines": lines}).json()["data"]["id"]
    path = f"/transfer-orders/{order}"
    person.start(path[1:])
    person.press("Release")
    expect(person.shown("Status")).to_have_text("Released")
    dialog = person.page.get_by_role("dialog")
    for action in ("Pick", "Undo", "Pick"):
        person.rows().get_by_role("button", name=action, exact=True).click()
        dialog.get_by_role("button", name="A-1 · 4", exact=True).click()
        expect(dialog.get_by_label("Position")).to_have_value("A-1")
        dialog.get_by_role("button", name=re.compile(f"^{action} ")).click()
        expect(dialog).to_have_count(0)
    person.press("Dispatch")
    expect(dialog).to_contain_text("The picked goods leave the warehouse")
    dialog.get_by_role("button", name="Dispatch", exact=True).click()
    expect(person.shown("Status")).to_have_text("In transit")
    person.rows().get_by_role("button", name="Receive").click()
    expect(dialog.get_by_label("Quantity")).to_have_value("4")
    fill(dialog, {"Position": "X-1"})
    dialog.get_by_role("button", name=re.compile("^Receive")).click()
    expect(dialog).to_have_count(0)
    found = acme.get("/stocks", params={"item_code": goods, "bin_code": "X-1"}).json()["data"]
    assert [one["qty"] for one in found] == [4]
