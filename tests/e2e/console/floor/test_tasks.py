"""Whole jobs on the floor: receive, move, pick, count, pack, look up."""

from playwright.sync_api import expect

from tests.e2e.console.floor.conftest import NewHandheld
from tests.e2e.console.floor.handheld import TIMES, Handheld
from tests.e2e.console.floor.site import Site


def test_goods_are_received_by_scans(handheld: Handheld, site: Site) -> None:
    order = site.order("/entry-documents", site.line("BOLT", 24), site.line("GLUE", 3))
    case = site.in_cases("BOLT", 12)
    receipt = site.post("/receipts", document_id=order)["id"]

    handheld.take(f"receipts/{receipt}")
    expect(handheld.page.get_by_text("0 of 27 units")).to_be_visible()
    handheld.scan(case)
    handheld.expect_right(f"12 {TIMES}")
    handheld.scan(case)
    handheld.expect_right(f"24 {TIMES}")
    handheld.confirm()
    handheld.scan("A-1")
    expect(handheld.page.get_by_text("24 of 27 units")).to_be_visible()
    handheld.scan(site.item("GLUE"))
    handheld.scan("L-7")
    handheld.page.get_by_label("Expiry date").fill("2030-01-31")
    handheld.press("Confirm")
    expect(handheld.page.get_by_label("Quantity")).to_have_value("3")
    handheld.confirm()
    handheld.scan("A-2")
    expect(handheld.page.get_by_text("Everything is done.")).to_be_visible()
    handheld.press("End the task")
    expect(handheld.heading("Tasks")).to_be_visible()

    assert site.quantities() == {("BOLT", "A-1"): 24, ("GLUE", "A-2"): 3}
    shown = site.get(f"/receipts/{receipt}")
    assert shown["status"] == "finalized"
    assert shown["operator"]["name"] == f"Person {handheld.person.username.split('@')[0]}"


def test_goods_are_picked_in_the_order_of_positions(handheld: Handheld, site: Site) -> None:
    site.stock("GLUE", 5, "A-1", batch="L-1")
    site.stock("BOLT", 8, "B-1")
    order = site.order("/exit-documents", site.line("BOLT", 6), site.line("GLUE", 4))
    picking = site.post("/pickings", document_id=order)["id"]

    handheld.take(f"pickings/{picking}")
    expect(handheld.page.locator(".place")).to_have_text("A-1")
    handheld.scan("A-2")
    handheld.expect_wrong("Wrong position: A-2, not A-1")
    handheld.scan("A-1")
    handheld.scan(site.item("BOLT"))
    handheld.expect_wrong("Wrong product")
    handheld.scan(site.item("GLUE"))
    handheld.scan("L-9")
    handheld.expect_wrong("Wrong batch: L-9, not L-1")
    handheld.scan("L-1")
    handheld.confirm()
    expect(handheld.page.locator(".place")).to_have_text("B-1")
    handheld.scan("B-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("5")
    handheld.expect_nothing_waits()
    handheld.press(f"Undo: 5 {TIMES} {site.item('BOLT')}, B-1")
    expect(handheld.page.get_by_text("4 of 10 units")).to_be_visible()
    handheld.scan("B-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("4")
    expect(handheld.page.get_by_text("8 of 10 units")).to_be_visible()
    handheld.press("End the task")
    handheld.page.get_by_label("Not found").check()
    handheld.press("End the task")
    expect(handheld.heading("Tasks")).to_be_visible()

    lines = site.get(f"/pickings/{picking}")["lines"]
    assert {line["item_code"]: line["picked_qty"] for line in lines if line["picked_qty"]} == {
        site.item("GLUE"): 4,
        site.item("BOLT"): 4,
    }


def test_a_task_of_somebody_else_is_not_taken_unseen(new_handheld: NewHandheld, site: Site) -> None:
    site.stock("BOLT", 8)
    order = site.order("/exit-documents", site.line("BOLT", 6))
    picking = site.post("/pickings", document_id=order)["id"]
    first, second = new_handheld(), new_handheld()
    first.take(f"pickings/{picking}")
    expect(first.page.locator(".place")).to_have_text("A-1")

    second.go(f"pickings/{picking}")
    expect(second.page.get_by_text("works on this task")).to_be_visible()
    second.press("Help with it")

    expect(second.page.locator(".place")).to_have_text("A-1")


def test_what_lies_there_is_counted_blind(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 8)
    count = site.post("/counts", warehouse_code=site.warehouse, positions=["A-1", "A-2"])["id"]

    handheld.take(f"counts/{count}")
    handheld.scan("A-1")
    handheld.scan(site.item("BOLT"))
    expect(handheld.page.get_by_label("Quantity")).to_have_value("1")
    handheld.confirm("6")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("7")
    handheld.expect_wrong("Counted here before")
    handheld.confirm()
    expect(handheld.page.get_by_label("Quantity")).to_be_hidden()
    handheld.scan("A-2")
    handheld.press("Nothing here")
    expect(handheld.page.get_by_text("Everything is done.")).to_be_visible()
    handheld.press("End the task")
    expect(handheld.heading("Tasks")).to_be_visible()

    shown = site.get(f"/counts/{count}")
    assert (shown["status"], shown["progress"]["differences"]) == ("counted", 1)
    assert {line["counted_qty"] for line in shown["lines"]} == {7, 0}


def test_serial_that_is_missing_does_not_keep_a_count_open(handheld: Handheld, site: Site) -> None:
    for serial in ("S-1", "S-2"):
        site.stock("SAW", 1, serial=serial)
    count = site.post("/counts", warehouse_code=site.warehouse, positions=["A-1"])["id"]

    handheld.take(f"counts/{count}")
    handheld.scan("A-1")
    handheld.scan(site.item("SAW"))
    expect(handheld.page.get_by_label("Scan the serial number")).to_be_visible()
    handheld.scan("S-1")
    handheld.press("Nothing else here")
    handheld.press("End the task")
    expect(handheld.heading("Tasks")).to_be_visible()

    shown = site.get(f"/counts/{count}")
    counted = {line["serial_number"]: line["counted_qty"] for line in shown["lines"]}
    assert (shown["status"], counted) == ("counted", {"S-1": 1, "S-2": 0})


def test_goods_with_a_batch_are_received_without_a_date(handheld: Handheld, site: Site) -> None:
    order = site.order("/entry-documents", site.line("GLUE", 3))
    receipt = int(site.post("/receipts", document_id=order)["id"])

    handheld.take(f"receipts/{receipt}")
    handheld.scan(site.item("GLUE"))
    expect(handheld.page.get_by_label("Scan the batch")).to_be_visible()
    handheld.scan("L-1")
    handheld.press("No expiry date")
    expect(handheld.page.get_by_label("Quantity")).to_be_visible()
    handheld.confirm()
    expect(handheld.page.get_by_label("Scan the position where the goods go")).to_be_visible()
    handheld.scan("R-1")
    expect(handheld.page.get_by_text("Everything is done.")).to_be_visible()
    handheld.expect_nothing_waits()

    assert site.quantities() == {("GLUE", "R-1"): 3}


def test_quantity_that_may_be_a_scan_is_asked_again(handheld: Handheld, site: Site) -> None:
    handheld.take(f"moves/{site.warehouse}")
    handheld.scan("A-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("14711")
    handheld.expect_wrong("14,711 is very much")
    handheld.confirm()

    expect(handheld.page.get_by_label("Scan the position where the goods go")).to_be_visible()


def test_goods_are_moved_and_moved_back(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 8)

    handheld.take(f"moves/{site.warehouse}")
    handheld.scan("A-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("3")
    handheld.scan("R-1")
    back = f"Undo: 3 {TIMES} {site.item('BOLT')}, A-1 → R-1"
    expect(handheld.page.get_by_role("button", name=back)).to_be_visible()
    handheld.expect_nothing_waits()
    assert site.quantities() == {("BOLT", "A-1"): 5, ("BOLT", "R-1"): 3}
    handheld.press(back)
    expect(handheld.page.get_by_text(f"Undo: 3 {TIMES}")).to_have_count(0)
    handheld.expect_nothing_waits()

    assert site.quantities() == {("BOLT", "A-1"): 8}


def test_buttons_that_are_pressed_twice_do_nothing_twice(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 50)
    order = site.order("/exit-documents", site.line("BOLT", 9))
    picking = site.post("/pickings", document_id=order)["id"]
    handheld.take(f"pickings/{picking}")

    for qty in ("2", "3"):
        if qty == "2":
            handheld.scan("A-1")
        handheld.scan(site.item("BOLT"))
        handheld.page.get_by_label("Quantity").fill(qty)
        handheld.press_twice("Confirm")
        expect(handheld.page.get_by_label("Quantity")).to_be_hidden()
    handheld.expect_nothing_waits()
    handheld.press_twice(f"Undo: 3 {TIMES} {site.item('BOLT')}, A-1")
    expect(handheld.page.get_by_text("2 of 9 units")).to_be_visible()
    handheld.expect_nothing_waits()
    assert site.get(f"/pickings/{picking}")["lines"][0]["picked_qty"] == 2

    handheld.press("End the task")
    handheld.page.get_by_label("Not found").check()
    handheld.press_twice("End the task")
    expect(handheld.heading("Tasks")).to_be_visible()
    expect(handheld.page.get_by_role("link", name="decision")).to_have_count(0)


def test_a_pending_transfer_is_carried_out_after_its_last_line(
    handheld: Handheld, site: Site
) -> None:
    site.stock("BOLT", 8, "R-1")
    line = {**site.line("BOLT", 8), "from_bin": "R-1", "to_bin": "A-1"}
    where = {"from_warehouse": site.warehouse, "to_warehouse": site.warehouse}
    transfer = site.post("/transfers", **where, execute=False, lines=[line])["id"]

    handheld.take(f"transfers/{transfer}")
    handheld.scan("R-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm("5")
    handheld.scan("A-2")
    handheld.expect_wrong("Wrong position: A-2, not A-1")
    handheld.scan("A-1")
    expect(handheld.page.get_by_text("5 of 8 units")).to_be_visible()
    handheld.reopen(f"transfers/{transfer}")
    handheld.unlock()
    handheld.press(f"Undo: 5 {TIMES} {site.item('BOLT')}, R-1 → A-1")
    expect(handheld.page.get_by_text("0 of 8 units")).to_be_visible()
    handheld.scan("R-1")
    handheld.scan(site.item("BOLT"))
    handheld.confirm()
    handheld.scan("A-1")
    expect(handheld.heading("Tasks")).to_be_visible()

    assert site.quantities() == {("BOLT", "A-1"): 8}


def test_goods_are_packed_into_a_unit(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 8)
    order = site.order("/exit-documents", site.line("BOLT", 6))
    picking = site.post("/pickings", document_id=order)["id"]
    site.post(f"/pickings/{picking}/start")
    site.post(f"/pickings/{picking}/picks", as_allocated=True)
    site.post(f"/pickings/{picking}/finalize")
    packing = site.post("/packing-orders", exit_document_id=order)["id"]

    handheld.take(f"packing-orders/{packing}")
    handheld.press("New: Carton")
    expect(handheld.page.get_by_label("Scan the product")).to_be_visible()
    handheld.scan(site.item("BOLT"))
    handheld.confirm()
    expect(handheld.page.get_by_text("Close the open units first: HU-")).to_be_visible()
    expect(handheld.page.get_by_role("button", name="End the task")).to_be_hidden()
    handheld.expect_nothing_waits()
    unit = site.get(f"/packing-orders/{packing}")["handling_units"][0]
    assert unit["contents"][0]["qty"] == 6

    handheld.press(f"Undo: 6 {TIMES} {site.item('BOLT')}, {unit['code']}")
    expect(handheld.page.get_by_text("0 of 6 units")).to_be_visible()


def test_what_a_scan_names_is_looked_up(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 8)

    handheld.open()
    handheld.unlock()
    expect(handheld.heading("Tasks")).to_be_visible()
    handheld.scan(site.item("BOLT"))
    expect(handheld.page.get_by_role("cell", name="A-1")).to_be_visible()
    with handheld.page.expect_response("**/stocks?*"):
        handheld.scan(site.item("BOLT"))  # once more: it is heard again
    handheld.scan("x" * 2000)
    handheld.expect_wrong("Unknown: xxx")


def test_the_number_of_a_document_opens_its_task(handheld: Handheld, site: Site) -> None:
    site.stock("BOLT", 8)
    order = site.order("/exit-documents", site.line("BOLT", 6), external_ref=f"SO {site.run}")
    picking = site.post("/pickings", document_id=order)["id"]

    handheld.go("look-up/")
    expect(handheld.heading("Look up")).to_be_visible()
    handheld.scan(f"so {site.run}".lower())

    expect(handheld.page.locator(".place")).to_have_text("A-1")
    assert handheld.page.url.endswith(f"/floor/pickings/{picking}")
