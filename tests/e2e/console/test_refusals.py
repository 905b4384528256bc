"""What the service refuses, and a network that fails: each in words, nothing done twice."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.console.person import Person

REFUSED = (
    (402, "tenant_suspended", "The company is suspended."),
    (402, "tenant_cancelled", "The company was cancelled."),
    (402, "feature_not_in_plan", "The plan of the company does not have this."),
    (403, "forbidden", "You have no permission for this."),
    (404, "transfer_orders_disabled", "Transfer orders are switched off."),
    (404, "bulk_import_disabled", "Bulk imports are switched off."),
    (410, "tenant_moved", "The company moved to another address."),
)


def answered(status: int, code: str, **headers: str) -> dict[str, Any]:
    """Return the answer of the service with an error."""
    error = {"code": code, "message": f"Because of {code}.", "request_id": "R-42"}
    body = {"error": error, "errors": [], "message": error["message"]}
    return {"status": status, "json": body, "headers": {"X-Request-Id": "R-42"} | headers}


def fulfilled(answer: dict[str, Any]) -> Callable[[Route], None]:
    """Return what answers every request so."""
    return lambda route: route.fulfill(**answer)


def test_refusals_are_in_words_with_the_id_of_the_request(person: Person) -> None:
    person.start()
    for status, code, sentence in REFUSED:
        answer = answered(status, code)
        person.page.route(re.compile("/v1/transfer-orders"), fulfilled(answer))
        person.open("transfer-orders")
        alert = person.page.get_by_role("alert")
        expect(alert).to_contain_text(sentence)
        expect(alert).to_contain_text(f"Because of {code}.")
        expect(alert).to_contain_text("R-42")
        person.page.unroute_all()


def test_list_goes_on_when_the_network_is_back(person: Person) -> None:
    person.start()
    person.page.route(re.compile("/v1/products"), lambda route: route.abort("failed"))
    person.open("products")
    alert = person.page.get_by_role("alert")
    expect(alert).to_contain_text("cannot be reached")
    person.page.unroute_all()
    alert.get_by_role("button", name="Try again").click()
    expect(person.rows().first).to_be_visible()
    expect(alert).to_have_count(0)


def test_busy_service_is_asked_again_by_itself(person: Person) -> None:
    busy = answered(503, "service_unavailable", **{"Retry-After": "1"})
    person.start()
    person.page.route(re.compile("/v1/products"), fulfilled(busy), times=2)
    person.open("products")
    expect(person.rows().first).to_be_visible(timeout=20_000)


@pytest.mark.parametrize(
    ("language", "file"), [("en", "screens/list"), ("es", "interface/products")]
)
def test_update_of_the_stack_asks_to_reload(person: Person, language: str, file: str) -> None:
    person.start()
    person.page.get_by_label(re.compile("Language|Idioma")).select_option(language)
    gone: list[str] = []

    def lose(route: Route) -> None:
        gone.append(route.request.url)
        route.fulfill(status=404)

    person.page.route(re.compile(rf"{file}\.js$"), lose)
    name = {"en": "Products", "es": "Artículos"}[language]
    person.page.get_by_role("link", name=name, exact=True).click()
    expect(person.page.get_by_role("alert")).to_contain_text(
        {"en": "new version", "es": "versión nueva"}[language]
    )
    assert gone


def test_language_that_cannot_be_loaded_says_why(person: Person) -> None:
    person.start()
    page = person.page
    page.route(re.compile(r"words/es\.js$"), lambda route: route.fulfill(status=404))
    page.get_by_label("Language").select_option("es")
    expect(page.locator(".messages")).to_contain_text("new version")
    expect(page.get_by_label("Language")).to_have_value("en")


def test_screen_that_the_network_does_not_bring_is_loaded_later(person: Person) -> None:
    person.start()
    person.context.set_offline(True)
    person.page.get_by_role("link", name="Products", exact=True).click()
    alert = person.page.locator("#content").get_by_role("alert")
    expect(alert).to_contain_text("cannot be reached")
    person.context.set_offline(False)
    alert.get_by_role("button", name="Try again").click()
    expect(person.rows().first).to_be_visible()
