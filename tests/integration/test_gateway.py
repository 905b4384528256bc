"""Requests through the gateway: routing, authorizer, limits and tokens."""

import base64

from operations.api_clients import create_client
from shared.http.envelope import SECURITY_HEADERS
from tests.gateway import LAMBDA_LIMIT, Erp
from tests.stack import Stack


def test_client_gets_a_token_and_reads_what_it_created(stack: Stack) -> None:
    credentials = create_client("acme", "ERP")
    basic = base64.b64encode(":".join(credentials).encode()).decode()

    answer = Erp(stack.gateway, None).send(
        "POST",
        "/oauth/token",
        raw="grant_type=client_credentials&scope=products:read+products:write",
        headers={
            "Authorization": f"Basic {basic}",
            "Content-Type": "application/x-www-form-urlencoded",
        },
    )
    assert answer.status == 200, answer.text
    erp = Erp(stack.gateway, answer.json()["access_token"])

    created = erp.post("/products", {"item_code": "BOLT-M8", "name": "Bolt M8"})

    assert created.status == 201
    assert created.headers["Location"] == f"{stack.tenant().base_url}/products/1"
    assert erp.follow(created.headers["Location"]).data == created.data


def test_every_response_demands_https_and_its_own_type(stack: Stack, erp: Erp) -> None:
    anonymous = Erp(stack.gateway, None)
    answers = [
        erp.get("/products"),
        erp.get("/products/1"),
        erp.get("/unknown"),
        anonymous.get("/products"),
        anonymous.post("/oauth/token", {}),
        anonymous.get("/docs"),
        anonymous.get("/console/"),
    ]
    assert [answer.status for answer in answers] == [200, 404, 404, 401, 400, 200, 200]
    for answer in answers:
        assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS


def test_request_above_the_lambda_limit_is_refused_by_the_gateway(erp: Erp) -> None:
    answer = erp.send("POST", "/products", raw="x" * LAMBDA_LIMIT)

    assert (answer.status, answer.code) == (413, "payload_too_large")
