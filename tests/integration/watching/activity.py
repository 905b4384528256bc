"""What a deployment does in a day, once each: its log lines and metrics are what people watch."""

import pytest

from operations.api_clients import create_client
from tests.faults import AwsFaults, refuse_calls, throttle
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv
from tests.log_lines import Written, captured
from tests.stack import HOST, Stack
from tests.webhook_scenario import (
    RELAY,
    WORKER,
    WebhookScenario,
    open_webhook_scenario,
    respond_204,
    respond_500,
)

FUNCTIONS = {RELAY: "EventRelayFunction", WORKER: "WebhookWorkerFunction"}
"""Handler → logical id, which stands for the name of the function."""

PRODUCTS = as_csv([["item_code", "name"], *([f"I-{at}", "Good"] for at in range(3))])


def run_activity(stack: Stack, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults) -> Written:
    """Run requests, deliveries and imports that succeed and fail; return what was written.

    The clock of the test must be frozen: retries are due in hours.
    """
    with captured() as written:
        _send_requests(stack, aws_faults)
        with open_webhook_scenario(stack, monkeypatch) as webhooks:
            _deliver(webhooks, monkeypatch)
        monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME")
        _import(stack)
    return written


def _send_requests(stack: Stack, aws_faults: AwsFaults) -> None:
    erp, gateway = stack.erp(), stack.gateway
    assert erp.get("/products").status == 200
    assert erp.get("/products/999").status == 404
    assert erp.post("/products", {}).status == 422
    gateway.request("GET", "/v1/products", headers={"Authorization": "Bearer x", "Host": HOST})
    client_id, secret = create_client("acme", "ERP")
    for each in (secret, "wrong"):
        gateway.request(
            "POST",
            "/v1/oauth/token",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=f"grant_type=client_credentials&client_id={client_id}&client_secret={each}",
        )
    gateway.request("GET", "/v1/openapi.json")
    with aws_faults.faulty(throttle(0, 1)):
        assert erp.get("/products").status == 200
    with aws_faults.faulty(refuse_calls("Query")):
        assert erp.get("/products").status == 500


def _deliver(webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliver two events, and attempt one until no attempt is left."""
    webhooks.subscribe()
    for number, endpoint in enumerate((respond_204, respond_204, respond_500)):
        webhooks.endpoint = endpoint
        webhooks.create_product(number)
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", FUNCTIONS[RELAY])
        assert webhooks.run_relay() == []
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", FUNCTIONS[WORKER])
        while bodies := webhooks.take_messages():
            for body in bodies:
                webhooks.run_worker({**body, "due": 0})
    assert webhooks.run_worker({}) == ["m0"]  # a message that cannot be processed


def _import(stack: Stack) -> None:
    scenario = ImportScenario(stack)
    number = scenario.upload("products", "goods.csv", PRODUCTS).data["id"]
    scenario.drain_queue()
    scenario.erp.post(f"/imports/{number}/commit")
    scenario.drain_queue()
    scenario.deliver(f'{{"tenant": "acme", "import": {number}}}')
