"""Responses of every route, successful and refused, conform to the OpenAPI document."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from operations.api_clients import create_client
from shared.kernel.db.items import from_attributes
from shared.kernel.events.outbox import find_event
from shared.kernel.json_text import loads
from tests.cases import each_case
from tests.faults import AwsFaults
from tests.gateway import Erp, Form, Response
from tests.integration.entity_factories import PLANTED, REQUIRED_QUERY, address_of
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES, resource_of
from tests.noted_changes import applied, listed_versions, noted_changes
from tests.openapi import complaints, event_complaints
from tests.operation_sizes import assert_margin_is_kept, operation_sizes
from tests.stack import Stack

OPERATIONS = operations()
LISTS = [name for name, operation in OPERATIONS.items() if operation.is_list]
DETAILS = [
    name for name in OPERATIONS if name.startswith("GET ") and "{id}" in name and name.endswith("}")
]
WITH_BODY = [name for name, operation in OPERATIONS.items() if operation.body]
SECRETS = [name for name, operation in OPERATIONS.items() if operation.response_has_secret]
SECRET_FIELDS = {"secret", "client_secret", "password", "recovery_codes"}
"""Fields of responses that are secrets."""
BOUND = {
    "id": 999_999,
    "kind": "products",
    "delivery": "evt_" + 32 * "0",
    "session": "1-" + 24 * "0",
}


def assert_conforms(name: str, answer: Response, status: int) -> None:
    method, _, path = name.partition(" ")
    assert answer.status == status, answer.text
    assert complaints(method, path, answer) == []


def test_repeated_refusal_conforms(erp: Erp) -> None:
    for name, path, status in (
        ("POST /receipts/{id}/start", "/receipts/9/start", 404),
        ("POST /imports/{id}/cancel", "/imports/9/cancel", 404),
    ):
        first, again = (erp.post(path, key=path) for _ in range(2))
        assert_conforms(name, first, status)
        assert_conforms(name, again, status)
        assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize("name", EXAMPLES)
def test_write_its_events_and_following_reads_conform(
    erp: Erp, stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The write also keeps the margin of a transaction; `test_transaction_margins.py` tells why.

    It notes the change of every entity that a list shows, and nothing else.
    """
    method, _, path = name.partition(" ")
    example = EXAMPLES[name]
    values = example.prepared(erp)
    target, body = path.format(**values), example.filled(values)
    sender = example.sender(erp, values)
    before = len(stack.events())
    versions, noted = listed_versions(stack), noted_changes(stack)

    with operation_sizes(aws_faults, monkeypatch) as sizes:
        answer = sender.send(method, target, body, key="once")
    again = sender.send(method, target, body, key="once")

    assert_margin_is_kept(sizes)
    new = [one for item, one in noted_changes(stack).items() if item not in noted]
    assert applied(versions, (change for one in new for change in one.changes)) == (
        listed_versions(stack)
    )
    assert_conforms(name, answer, example.status)
    if example.events:
        _assert_events_conform(name, stack, stack.events()[before:])
    assert_conforms(name, again, example.status)
    assert again.headers["Idempotent-Replayed"] == "true"
    resource, _ = resource_of(target, answer)
    group = "/" + resource.split("/")[1]
    named = re.sub("/[0-9]+(?=/|$)", "/{id}", resource)
    read = f"GET {re.sub('evt_[0-9a-f]+', '{delivery}', named)}"
    if read in OPERATIONS:
        assert_conforms(read, erp.get(resource), example.status_afterwards)
    if f"GET {group}" in OPERATIONS:
        assert_conforms(f"GET {group}", erp.get(group + REQUIRED_QUERY.get(group, "")), 200)


def _assert_events_conform(name: str, stack: Stack, entries: Iterable[Any]) -> None:
    raised = [event for entry in entries if (event := find_event(stack.store(), entry["SK"]["S"]))]
    assert raised or name.endswith(("/redeliver", "/recover"))
    for event in raised:
        assert event_complaints(event.type, loads(event.body("https://acme.example"))) == []


def test_responses_with_a_secret_are_declared() -> None:
    with_secret = {
        name
        for name, operation in OPERATIONS.items()
        if not isinstance(operation.response, str)
        and SECRET_FIELDS & set(operation.response.model_fields)
    }
    assert with_secret == set(SECRETS) != set()


@pytest.mark.parametrize("name", SECRETS)
def test_secret_is_returned_once_and_never_stored(stack: Stack, erp: Erp, name: str) -> None:
    method, _, path = name.partition(" ")
    example = EXAMPLES[name]
    values = example.prepared(erp)
    target, body = path.format(**values), example.filled(values)
    sender = example.sender(erp, values)

    answer = sender.send(method, target, body, key="once")

    secrets = [answer.data[name] for name in sorted(SECRET_FIELDS & set(answer.data))]
    assert any(secrets)
    entries = (*stack.items(), *stack.events(), *stack.control_items())
    stored = repr([from_attributes(item) for item in entries])
    resource = target if "id" in answer.data else "/".join(target.split("/")[:3])
    shown_later = erp.get(resource_of(resource, answer)[0])
    assert shown_later.data["created_at"] in stored
    for secret in secrets:
        for text in secret if isinstance(secret, list) else [secret]:
            assert text not in stored
            assert text not in shown_later.text
    assert sender.send(method, target, body, key="once").text == answer.text


def test_refusals_of_webhook_routes_conform(stack: Stack, erp: Erp) -> None:
    hook = EXAMPLES["POST /webhooks"].body
    for _ in range(stack.tenant().limits["webhook_subscriptions"]):
        assert erp.post("/webhooks", hook).status == 201
    assert_conforms("POST /webhooks", erp.post("/webhooks", hook), 402)

    tried = erp.post("/webhooks/1/test").data["id"]
    assert erp.patch("/webhooks/1", {"is_active": False}).status == 200
    assert_conforms("POST /webhooks/{id}/test", erp.post("/webhooks/1/test"), 409)
    again = "/webhooks/{id}/deliveries/{delivery}/redeliver"
    target = again.format(id=1, delivery=tried)
    assert_conforms(f"POST {again}", erp.post(target), 409)

    assert erp.delete("/webhooks/1").status == 200
    assert_conforms(f"POST {again}", erp.post(target), 410)
    assert_conforms("GET /webhooks/{id}/deliveries", erp.get("/webhooks/1/deliveries"), 410)


@pytest.mark.parametrize("path", PLANTED)
def test_lists_without_a_write_route_conform(stack: Stack, erp: Erp, path: str) -> None:
    number = PLANTED[path](stack.store())

    assert_conforms(f"GET {path}", erp.get(path), 200)
    detail = f"GET {path}/{{id}}"
    if detail in OPERATIONS:
        assert_conforms(detail, erp.get(f"{path}/{number}"), 200)


@pytest.mark.parametrize("name", LISTS)
def test_empty_lists_304_and_invalid_parameters_conform(stack: Stack, erp: Erp, name: str) -> None:
    path = name.removeprefix("GET ")
    if "{" in path:
        path = address_of(path, erp, stack.store())
    first = erp.get(path)

    assert_conforms(name, first, 200)
    assert_conforms(name, erp.get(path, headers={"If-None-Match": first.headers["ETag"]}), 304)
    assert_conforms(name, erp.get(path, query={"page": 7}), 200)
    assert_conforms(name, erp.get(path, query={"per_page": "abc", "sort": "color"}), 422)


@each_case("name", DETAILS)
def test_unknown_ids_conform(erp: Erp, name: str) -> None:
    path = name.removeprefix("GET ")
    assert_conforms(name, erp.get(path.format(**BOUND)), 404)


@pytest.mark.parametrize("name", WITH_BODY)
def test_invalid_bodies_conform(erp: Erp, name: str) -> None:
    method, _, path = name.partition(" ")
    values = EXAMPLES[name].prepared(erp)
    target, sender = path.format(**values), EXAMPLES[name].sender(erp, values)

    assert_conforms(name, sender.send(method, target, raw="{", key="broken"), 400)
    fields = (
        "bin_code comment deactivate_webhooks events gtins keep_previous lines name password rest"
        " polygon reason seal_number secret timezone tracking_number whs_code"
    )
    wrong = dict.fromkeys(fields.split(), 5)
    body = Form({"kind": "wrong"}) if OPERATIONS[name].is_form else wrong
    assert_conforms(name, sender.send(method, target, body, key="wrong"), 422)


@each_case("name", OPERATIONS)
def test_refused_callers_conform(stack: Stack, name: str) -> None:
    method, _, path = name.partition(" ")
    target = path.format(**BOUND)

    assert_conforms(name, Erp(stack.gateway, None).send(method, target), 401)
    if OPERATIONS[name].scope:
        assert_conforms(name, stack.erp(scopes=()).send(method, target), 403)
    if OPERATIONS[name].permission:
        assert_conforms(name, Erp(stack.gateway, stack.user_token()).send(method, target), 403)


def test_validation_reports_deviations(erp: Erp) -> None:
    good = erp.post("/products", {"item_code": "BOLT-M8", "name": "Bolt M8"})
    assert complaints("POST", "/products", good) == []

    for change in ({"color": "red"}, {"id": "1"}, {"name": None}, {"created_at": "yesterday"}):
        text = json.dumps({"data": good.data | change})
        assert len(complaints("POST", "/products", replace(good, text=text))) >= 1
    missing = {name: value for name, value in good.data.items() if name != "barcode"}
    bad = replace(good, text=json.dumps({"data": missing}))
    assert complaints("POST", "/products", bad) == ["data: 'barcode' is a required property"]
    headers = type(good.headers)({"X-Request-Id": "1"})
    assert complaints("POST", "/products", replace(good, headers=headers)) == [
        "header ETag is missing",
        "header Location is missing",
    ]
    assert "not declared" in complaints("POST", "/products", replace(good, status=202))[0]


def test_token_routes_conform(stack: Stack) -> None:
    anonymous = Erp(stack.gateway, None)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    asked = "grant_type=client_credentials&client_id=nobody&client_secret=x"
    client_id, secret = create_client("acme", "ERP")
    right = f"grant_type=client_credentials&client_id={client_id}&client_secret={secret}"

    assert_conforms(
        "POST /oauth/token", anonymous.send("POST", "/oauth/token", raw="", headers=form), 400
    )
    assert_conforms(
        "POST /oauth/token", anonymous.send("POST", "/oauth/token", raw=asked, headers=form), 401
    )
    assert_conforms(
        "POST /oauth/token", anonymous.send("POST", "/oauth/token", raw=right, headers=form), 200
    )
    for path in ("/.well-known/jwks.json", "/.well-known/oauth-authorization-server"):
        assert_conforms(f"GET {path}", anonymous.get(path), 200)
