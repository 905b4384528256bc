"""Imports, events, deliveries and token requests that are in progress during a deletion."""

import json

import pytest

from operations.api_clients import create_client
from shared.identity.tenancy.directory import directory
from shared.kernel.clock import now
from tests import gateway
from tests.clock import Clock
from tests.gateway import LambdaContext
from tests.import_scenario import ImportScenario
from tests.integration.offboarding.company import Company
from tests.integration.user_grants.oauth_requests import request_token_at
from tests.webhook_scenario import RELAY, WebhookScenario, failed_items


@pytest.fixture(autouse=True)
def _waits_take_no_time(clock: Clock) -> None:
    assert clock


def _delete_keeping_the_cache(company: Company) -> None:
    """Delete acme, while this execution environment has the active tenant in its cache."""
    _, cached = directory._cache["TENANT#acme"]
    company.delete()
    directory._cache["TENANT#acme"] = now(), cached


def test_import_message_is_retried_then_dropped(company: Company) -> None:
    imports = ImportScenario(company.stack)
    imports.put_file("drop/products/a.csv", b"item_code;name\nA;B\n")
    bodies = imports.take_messages()
    assert company.stack.erp().get("/products").status == 200
    _delete_keeping_the_cache(company)
    assert imports.deliver(*bodies) == bodies
    directory.clear()
    assert imports.deliver(*bodies) == []
    assert imports.deliver(json.dumps({"tenant": "acme", "import": 1})) == []
    assert company.remains() == {}


def test_event_is_retried_then_dropped(company: Company, webhooks: WebhookScenario) -> None:
    webhooks.subscribe("product.created")
    webhooks.create_product(7)
    batch = webhooks.new_stream_batch()
    assert batch["Records"]
    _delete_keeping_the_cache(company)
    relay = gateway._function(RELAY)
    numbers = [record["dynamodb"]["SequenceNumber"] for record in batch["Records"]]
    assert failed_items(relay(batch, LambdaContext())) == numbers
    directory.clear()
    assert failed_items(relay(batch, LambdaContext())) == []
    assert webhooks.messages() == []
    assert company.remains() == {}


def test_delivery_is_retried_then_dropped(company: Company, webhooks: WebhookScenario) -> None:
    webhooks.subscribe("product.created")
    webhooks.create_product(7)
    webhooks.run_relay()
    messages = webhooks.take_messages()
    assert messages
    _delete_keeping_the_cache(company)
    assert len(webhooks.run_worker(*messages)) == len(messages)
    directory.clear()
    assert webhooks.run_worker(*messages) == []
    assert webhooks.requests == []
    assert company.remains() == {}


def test_client_of_a_deleted_tenant_gets_no_token(company: Company) -> None:
    credentials = create_client("acme", "shop")
    _delete_keeping_the_cache(company)
    answer = request_token_at(company.stack.gateway, credentials)
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")
    assert company.remains() == {}
