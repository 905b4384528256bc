"""A file of quantities is compared with the stock, and its differences are shown."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Deployed, client_of, token_of_tenant
from tests.e2e.console.conftest import NewPerson
from tests.e2e.console.person import violations

type Company = tuple[str, httpx.Client]


@pytest.fixture
def company(stack: Deployed, run: str) -> Iterator[Company]:
    """A company of the test's own, with ten bricks."""
    slug = f"compared-{run.lower()}"
    with client_of(stack.base_url, token_of_tenant(stack, slug)) as client:
        for path, body in (
            ("/warehouses", {"whs_code": "YARD", "name": "Yard"}),
            ("/warehouse-positions", {"whs_code": "YARD", "bin_code": "A-01"}),
            ("/products", {"item_code": "BRICK", "name": "Brick"}),
        ):
            client.post(path, json=body).raise_for_status()
        goods = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "increase": 10}
        client.post("/stock-adjustments", json={**goods, "reason": "Found"}).raise_for_status()
        yield slug, client


def test_a_file_is_compared_and_its_differences_are_shown(
    new_person: NewPerson, company: Company
) -> None:
    person = new_person(company=company)
    person.start("stock-levels")
    person.page.get_by_role("link", name="Compare a file of quantities").click()
    sheet = {
        "name": "stock.csv",
        "mimeType": "text/csv",
        "buffer": b"item_code,warehouse_code,qty\nBRICK,YARD,12\n",
    }
    person.page.locator("input[type=file]").set_input_files(sheet)  # type: ignore[arg-type]
    person.press("Save")
    expect(person.shown("Status")).to_have_text("Completed")
    [difference] = person.rows().all()
    expect(difference).to_contain_text("BRICK")
    expect(difference).to_contain_text("12")
    expect(difference).to_contain_text("-2")
    assert violations(person.page) == []
