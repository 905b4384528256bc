"""Imports that the worker continues with many messages in turn.

Lambda stops such chains after about 16 invocations unless the template allows them, which it does
for the worker. The import record ends them instead.
"""

from itertools import count

import pytest

from functions.import_worker import app
from shared.identity.tenancy.tenant import PLANS
from shared.kernel import queued_work
from tests.import_scenario import (
    ImportScenario,
    leave_all_to_worker,
    make_one_step_per_message,
)
from tests.integration.imports.import_files import as_csv

_PRODUCTS = 40
"""More than the invocations after which Lambda stops a chain, with one product in each."""
_SECONDS_PER_GROUP = 0.5
"""Time that a row group may take, of the slowest kind: a document with its allocation."""


@pytest.fixture(autouse=True)
def one_product_per_invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_all_to_worker(monkeypatch)
    make_one_step_per_message(monkeypatch)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 1)
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", 5)


def upload(scenario: ImportScenario, products: int = _PRODUCTS) -> int:
    rows = [["item_code", "name"], *([f"P-{number}", "Good"] for number in range(products))]
    number = int(scenario.upload("products", "goods.csv", as_csv(rows)).data["id"])
    scenario.messages()[:] = scenario.messages()[-1:]  # without the one for a crashed request
    return number


def chain_length(scenario: ImportScenario) -> int:
    """Process the import until no message is left; return the number of invocations in turn."""
    for length in count():
        bodies = scenario.take_messages()
        if not bodies:
            return length
        (body,) = bodies
        assert not scenario.deliver(body)
    raise AssertionError


def begin_commit(scenario: ImportScenario, number: int) -> None:
    scenario.take_messages()
    assert scenario.erp.post(f"/imports/{number}/commit").status == 202
    scenario.messages()[:] = scenario.messages()[-1:]


def test_an_import_may_need_more_invocations_than_lambda_lets_a_chain_have(
    scenario: ImportScenario,
) -> None:
    number = upload(scenario)
    assert chain_length(scenario) >= _PRODUCTS
    assert scenario.get_import(number)["status"] == "validated"
    begin_commit(scenario, number)
    assert chain_length(scenario) >= _PRODUCTS
    one = scenario.get_import(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", _PRODUCTS)


def test_a_validation_that_never_ends_is_given_up(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued_work, "MAX_INVOCATIONS", 3)
    number = upload(scenario)
    assert chain_length(scenario) == 4
    one = scenario.get_import(number)
    assert (one["status"], one["structure_errors"]) == (
        "failed",
        ["Processing was continued 3 times and did not end. Upload the file again."],
    )


def test_a_commit_that_was_given_up_continues_when_it_is_repeated(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = upload(scenario, products=5)
    chain_length(scenario)
    monkeypatch.setattr(queued_work, "MAX_INVOCATIONS", 3)
    begin_commit(scenario, number)
    assert chain_length(scenario) == 4
    one = scenario.get_import(number)
    assert (one["status"], one["documents"]["committed"], one["structure_errors"]) == (
        "failed",
        3,
        ["Processing was continued 3 times and did not end. Commit the import again."],
    )

    begin_commit(scenario, number)
    assert chain_length(scenario) <= 4
    one = scenario.get_import(number)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 5)


def test_the_largest_import_ends_before_it_is_given_up() -> None:
    most_rows = max(plan.limits["rows_per_import"] for plan in PLANS.values())
    seconds = queued_work.MAX_INVOCATIONS * app._MESSAGE_MS / 1000
    assert seconds >= most_rows * _SECONDS_PER_GROUP
