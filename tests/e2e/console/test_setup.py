"""What administrators set up, and imports."""

import csv
import json
import re
from pathlib import Path

import httpx
from playwright.sync_api import FilePayload, expect

from local.webhook_endpoint import CannedResponse, running_endpoint
from tests.e2e.console.person import Person, fill


def file_of(content: object) -> FilePayload:
    """Return a file that a person chooses, with JSON."""
    text = json.dumps(content).encode()
    return {"name": "map.json", "mimeType": "application/json", "buffer": text}


def test_warehouse_with_positions_in_bulk_and_a_map(
    person: Person, acme: httpx.Client, run: str
) -> None:
    person.start("warehouses/new")
    fill(person.page, {"Warehouse": f"W{run}", "Name": f"Hall {run}"})
    person.press("Save")
    expect(person.heading()).to_have_text(f"W{run}")
    number = person.page.url.rsplit("/", 1)[1]
    person.open("warehouse-positions")
    person.page.get_by_role("link", name="New positions by naming mask").click()
    fill(
        person.page,
        {
            "Naming mask": "{aisle}-{rack}-{level}-{slot}",
            "Warehouse": f"W{run}",
            "Aisles": "A",
            "Racks": "1\n2",
            "Levels": "1\n2",
            "Slots": "1\n2\n3",
        },
    )
    person.press("Save")
    expect(person.heading()).to_have_text("Positions")
    person.open(f"warehouses/{number}")
    person.page.locator("main").get_by_role("link", name="Map").click()
    with person.page.expect_download() as download:
        person.press("Download a map to begin with")
    draft = json.loads(Path(download.value.path()).read_text())
    chosen = person.page.locator("input[type=file]")
    chosen.set_input_files(file_of(draft | {"bays": [{**draft["bays"][0], "x": -1}]}))
    dialog = person.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Publish the map").click()
    expect(dialog.get_by_text("bays.0.x", exact=True)).to_be_visible()
    expect(dialog.locator(".bay.wrong")).to_have_count(1)
    dialog.get_by_role("button", name="Close").click()
    chosen.set_input_files(file_of(draft))
    expect(dialog.get_by_text("12 of 12 positions")).to_be_visible()
    dialog.get_by_role("button", name="Publish the map").click()
    expect(dialog).to_have_count(0)
    published = acme.get(f"/warehouses/{number}/layout").json()["data"]
    assert [bay["number"] for bay in published["bays"]] == ["1", "2"]
    expect(person.page.locator(".cell")).to_have_count(12)
    expect(person.page.locator(".legend")).to_contain_text("empty to full")
    person.page.get_by_label("Find a position").fill("a-2-1-3")
    expect(person.page.locator(".cell.found")).to_have_count(1)
    person.press("A-2-1-3")
    expect(person.page.get_by_text("This position is empty.")).to_be_visible()
    # Somebody else publishes a map while this person looks at theirs.
    chosen.set_input_files(file_of(draft | {"zones": []}))
    width = draft["width_m"] + 7
    acme.put(f"/warehouses/{number}/layout", json=draft | {"width_m": width}).raise_for_status()
    dialog.get_by_role("button", name="Publish the map").click()
    expect(dialog.get_by_role("alert")).to_contain_text("changed")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(person.page.locator("rect.floor")).to_have_attribute("width", f"{width:g}")
    with person.page.expect_download() as download:
        person.press("Download the map")
    assert json.loads(Path(download.value.path()).read_text())["width_m"] == width


def test_position_of_a_map_is_not_called_empty_before_its_stock_is_known(
    person: Person, acme: httpx.Client, run: str
) -> None:
    hall = {"whs_code": f"W{run}", "name": f"Hall {run}"}
    number = acme.post("/warehouses", json=hall).json()["data"]["id"]
    acme.post("/warehouse-positions", json={"whs_code": f"W{run}", "bin_code": "A-1"})
    layout = {"width_m": 9, "depth_m": 8, "zones": [], "aisles": [], "bays": [], "points": []}
    acme.put(f"/warehouses/{number}/layout", json=layout).raise_for_status()
    person.start()
    person.page.route(re.compile("/v1/stocks"), lambda route: route.abort())
    person.open(f"map?warehouse={number}")
    person.page.get_by_label("Find a position").fill("a-1")
    person.press("A-1")
    expect(person.page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(person.page.get_by_role("heading", name="A-1")).to_be_visible()
    expect(person.page.get_by_text("This position is empty.")).to_have_count(0)
    person.page.unroute_all()
    person.press("Try again")
    expect(person.page.get_by_text("This position is empty.")).to_be_visible()


def test_client_of_the_interface_whose_secret_is_shown_once(
    person: Person, acme: httpx.Client, run: str
) -> None:
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.start("api-clients/new")
    fill(person.page, {"Name": f"ERP {run}", "Kind": "Integration"})
    person.page.get_by_label("Products:read").check()
    person.press("Save")
    expect(person.page.get_by_text("shown only once")).to_be_visible()
    person.press("Copy")
    copied = person.page.evaluate("navigator.clipboard.readText()")
    listed = acme.get("/api-clients", params={"per_page": 100}).json()["data"]
    (client,) = [one for one in listed if one["name"] == f"ERP {run}"]
    base = person.address.removesuffix("/console/")
    form = {"grant_type": "client_credentials"}
    token = httpx.post(f"{base}/oauth/token", data=form, auth=(client["id"], copied))
    assert token.json()["scope"] == "products:read"
    person.press("Close")
    expect(person.heading()).to_have_text("API clients")
    assert copied not in person.page.content()


SLOW_IMPORT = """
    const send = fetch;
    let looks = 0;
    window.fetch = async (url, init) => {
        const answer = await send(url, init);
        if (!/imports\\/\\d+$/.test(url) || init.method !== "GET") return answer;
        looks += 1;
        const status = looks < 3 ? "committing" : "committed";
        await new Promise(resolve => setTimeout(resolve, 2600));
        if (init.signal.aborted) throw new DOMException("", "AbortError");
        const body = await answer.json();
        return Response.json({ data: { ...body.data, status } });
    };
"""
"""Answers for an import take longer than the console waits between two looks."""


def test_progress_of_an_import_is_seen_over_a_slow_network(
    person: Person, acme: httpx.Client
) -> None:
    sheet = {"file": ("slow.csv", b"Item code,Name\n")}
    made = acme.post("/imports", data={"kind": "products"}, files=sheet)
    person.page.add_init_script(SLOW_IMPORT)
    person.start(f"imports/{made.json()['data']['id']}")
    expect(person.shown("Status")).to_have_text("Committing")
    expect(person.shown("Status")).to_have_text("Committed", timeout=30_000)


def test_template_that_does_not_come_and_file_that_changes_before_its_upload(
    person: Person, run: str, tmp_path: Path
) -> None:
    person.start("imports/new")
    sheet = tmp_path / "products.csv"
    sheet.write_text(f"Item code,Name\n{run}-1,Crate\n")
    person.page.route(re.compile("/v1/imports/templates/"), lambda route: route.abort())
    person.press("Download the template")
    expect(person.page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(person.page.get_by_role("alert")).not_to_contain_text("whether this was done")
    chosen = person.page.locator("input[type=file]")
    chosen.set_input_files(sheet)
    sheet.unlink()
    person.press("Upload")
    expect(person.page.get_by_role("alert")).to_contain_text("Choose it again.")
    sheet.write_text(f"Item code,Name\n{run}-1,Crate\n{run}-2,Crate\n")
    with person.page.expect_file_chooser() as chooser:
        chosen.click()
    chooser.value.set_files(sheet)
    person.press("Upload")
    expect(person.shown("Status")).to_have_text("Validated")


def test_import_from_the_template_to_the_result(
    person: Person, acme: httpx.Client, run: str, tmp_path: Path
) -> None:
    person.start("imports/new")
    page = person.page
    with page.expect_download() as download:
        person.press("Download the template")
    assert Path(download.value.path()).read_bytes().startswith(b"PK")
    sheet = tmp_path / "products.csv"
    with sheet.open("w", newline="") as file:
        rows = [["Code", "Name"], [f"I-{run}", "Crate"], ["", "Nameless" * 40]]
        csv.writer(file).writerows(rows)
    page.locator("input[type=file]").set_input_files(sheet)
    person.press("Upload")
    expect(person.shown("Status")).to_have_text(re.compile("Validated|Invalid"))
    expect(page.get_by_role("heading", name="Rejected rows")).to_be_visible()
    expect(person.rows().last).to_contain_text("Nameless")
    reasons = person.rows().last.get_by_role("cell").nth(2).inner_text()
    assert len(reasons.splitlines()) == 2, reasons  # of the code and of the name
    person.page.get_by_role("button", name=re.compile("^Commit")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("^Commit")).click()
    expect(person.shown("Status")).to_have_text("Committed")
    found = acme.get("/products", params={"item_code": f"I-{run}"}).json()
    assert found["meta"]["total"] == 1


def test_file_that_is_no_spreadsheet(person: Person, tmp_path: Path) -> None:
    person.start("imports/new")
    picture = tmp_path / "picture.xlsx"
    picture.write_bytes(b"\x89PNG not a workbook")
    person.page.locator("input[type=file]").set_input_files(picture)
    person.press("Upload")
    expect(person.page.get_by_role("alert")).to_be_visible()


def test_settings_are_changed_and_those_of_others_stay(person: Person, acme: httpx.Client) -> None:
    before = acme.get("/settings").json()["data"]
    wanted = {name: before[name] + 1 for name in ("receipt_tolerance", "minutes_per_trip")}
    person.start("settings")
    fill(person.page, {"Receipt tolerance (%)": "-5"})
    person.press("Save")
    field = person.page.get_by_label("Receipt tolerance (%)")
    expect(field).to_have_attribute("aria-invalid", "true")
    fill(person.page, {"Receipt tolerance (%)": f"{wanted['receipt_tolerance']:g}"})
    minutes = f"{wanted['minutes_per_trip']:g}"
    acme.patch("/settings", json={"minutes_per_trip": float(minutes)}).raise_for_status()
    person.press("Save")
    expect(person.page.get_by_text(f"Minutes per trip: {minutes}")).to_be_visible()
    person.press("Save")
    expect(person.page.get_by_text("Done: Change")).to_be_visible()
    expect(person.page.get_by_label("Minutes per trip")).to_have_value(minutes)
    after = acme.get("/settings").json()["data"]
    assert {name: after[name] for name in wanted} == wanted
    acme.patch("/settings", json={name: before[name] for name in wanted}).raise_for_status()


def test_user_whose_role_is_changed_and_taken_away(
    person: Person, acme: httpx.Client, run: str
) -> None:
    missing = 101 - acme.get("/roles").json()["meta"]["total"]  # more than a page of the interface
    for name in (f"Counters {run}", *(f"Role {run}-{number}" for number in range(missing))):
        acme.post("/roles", json={"name": name, "permissions": []}).raise_for_status()
    person.start("roles/new")
    fill(person.page, {"Name": f"Packers {run}"})
    person.page.get_by_role("checkbox").first.check()
    person.press("Save")
    expect(person.heading()).to_have_text(f"Packers {run}")
    person.open("users/new")
    fill(person.page, {"User name": f"ana.{run.lower()}", "Name": "Ana"})
    roles = person.page.get_by_role("group", name="Roles")
    expect(roles.get_by_role("checkbox")).to_have_count(20)
    for role in (f"Packers {run}", f"Counters {run}"):
        roles.get_by_role("searchbox").fill(role)
        roles.get_by_label(role).check()
    person.press("Save")
    expect(person.page.get_by_text("shown only once")).to_be_visible()
    person.press("Close")
    person.open(f"users?search=ana.{run.lower()}")
    person.page.get_by_role("link", name=f"ana.{run.lower()}").click()
    person.press("Change")
    dialog = person.page.get_by_role("dialog")
    expect(dialog.get_by_label(f"Packers {run}")).to_be_checked()
    fill(dialog, {"Name": "Ana Ruiz"})
    dialog.get_by_label(f"Counters {run}").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(person.shown("Name")).to_have_text("Ana Ruiz")
    (user,) = acme.get("/users", params={"search": f"ana.{run.lower()}"}).json()["data"]
    (packers,) = acme.get("/roles", params={"search": f"Packers {run}"}).json()["data"]
    assert user["roles"] == [packers["id"]]
    expect(person.page.locator(".history li")).not_to_have_count(0)
    person.choose("Delete")
    expect(person.heading()).to_have_text("Users")
    found = acme.get("/users", params={"search": f"ana.{run.lower()}"}).json()
    assert found["meta"]["total"] == 0


def test_webhook_with_its_test_log_and_new_secret(person: Person) -> None:
    with running_endpoint(CannedResponse()) as endpoint:
        person.start("webhooks/new")
        fill(person.page, {"URL": endpoint.url})
        person.page.get_by_label("stock.updated").check()
        person.press("Save")
        expect(person.page.get_by_text("shown only once")).to_be_visible()
        first = person.page.locator(".secret pre").inner_text()
        person.press("Close")
        person.page.get_by_role("link", name=endpoint.url).click()
        person.choose("Rotate the secret")
        second = person.page.locator(".secret pre").inner_text()
        assert second != first
        latest = person.page.locator(".history li").first
        expect(latest).to_contain_text("Secret of a webhook rotated")
        person.choose("Send a test event")
        expect(person.shown("Event")).to_have_text("webhook.test")
        expect(person.shown("Status")).to_have_text("Succeeded")  # without a reload
        person.choose("Deliver again")
