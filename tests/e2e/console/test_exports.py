"""Whole lists as files, and what changed of a resource."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Deployed, client_of, token_of_tenant
from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import Person, fill, violations
from tests.e2e.responses import walk

type Company = tuple[str, httpx.Client]


@pytest.fixture
def company(stack: Deployed, run: str) -> Iterator[Company]:
    """A company of the test's own: each makes one export at a time."""
    slug = f"exports-{run.lower()}"
    with client_of(stack.base_url, token_of_tenant(stack, slug)) as client:
        yield slug, client


def test_a_list_is_exported_and_downloaded(new_person: NewPerson, company: Company) -> None:
    client = company[1]
    client.post("/product-categories", json={"name": "Exported"}).raise_for_status()
    person = new_person(company=company)
    person.start("product-categories")
    person.page.get_by_role("link", name="Export the whole list").click()
    expect(person.heading()).to_have_text("New export")
    fill(person.page, {"Format": "JSON lines"})
    person.press("Save")
    expect(person.shown("Status")).to_have_text("Completed")
    assert violations(person.page) == []
    with person.page.expect_download() as download:
        files = person.page.get_by_role("region", name="Files")
        files.get_by_role("link", name="Product categories").click()
    code = person.heading().inner_text()
    assert download.value.suggested_filename == f"{code}-product_category-1.jsonl.gz"
    lines = gzip.decompress(Path(download.value.path()).read_bytes()).splitlines()
    listed = walk(client, "/product-categories", include="version")
    assert {json.loads(line)["id"] for line in lines} == {row["id"] for row in listed}
    person.go("exports")
    expect(person.rows().first).to_contain_text(code)


def test_files_that_may_not_be_downloaded_have_no_links(
    new_person: NewPerson, company: Company
) -> None:
    person = new_person(company=company)
    person.start("exports/new?objects=role")
    person.press("Save")
    expect(person.shown("Status")).to_have_text("Completed")
    path = person.page.url.removeprefix(person.address)
    other = new_person("imports.run", company=company)
    other.start(path)
    expect(other.page.get_by_text("The files cannot be downloaded")).to_be_visible()
    expect(other.page.get_by_role("link", name="Roles")).to_have_count(0)


def test_changes_of_a_resource_are_shown(person: Person, acme: httpx.Client, run: str) -> None:
    made = acme.post("/product-categories", json={"name": f"Changed {run}"}).json()["data"]
    acme.patch(f"/product-categories/{made['id']}", json={"name": f"Changed again {run}"})
    person.start(f"product-categories/{made['id']}")
    person.page.wait_for_timeout(5000)  # a change is in the feed within seconds
    person.page.get_by_text("What changed").click()
    entries = person.page.locator("details .history li")
    expect(entries).to_have_count(2)
    expect(entries.first).to_contain_text("Change, version 2, by API client")
    expect(entries.last).to_contain_text("New product category, version 1, by API client")
    assert violations(person.page) == []


def test_who_may_not_export_is_not_offered_it(new_person: NewPerson) -> None:
    person = new_person("approvals.grant")
    person.start("products")
    expect(person.page.get_by_role("button", name="Print")).to_be_visible()
    person.page.wait_for_load_state("networkidle")
    expect(person.page.get_by_role("link", name="Export the whole list")).to_have_count(0)
