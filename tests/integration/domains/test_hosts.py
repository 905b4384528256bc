"""The tenant of a request follows from its host, or from its token at the shared address."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from operations import provisioning
from operations.api_clients import create_client
from tests.gateway import Erp, Gateway
from tests.integration.user_grants.oauth_requests import request_token_at
from tests.stack import ADDRESS, HOST, Stack
from tests.tenant_cache import apply_now

ACME_HOST, BETA_HOST = "wms.acme.test", "wms.beta.test"

type At = Callable[[str], Gateway]


@pytest.fixture
def at(stack: Stack) -> At:
    """Return the API at a host; acme and beta have their own hosts, with a base path."""
    provisioning.set_address("acme", host=ACME_HOST)
    apply_now(provisioning.set_address, "beta", host=BETA_HOST)

    def gateway(host: str) -> Gateway:
        return Gateway(stack.template, host, "" if host == HOST else "/api")

    return gateway


def test_tenant_is_served_at_its_host(stack: Stack, at: At) -> None:
    acme = Erp(at(ACME_HOST), stack.token("acme"))
    created = acme.post("/products", {"item_code": "P-1", "name": "Cable"})
    assert created.status == 201
    base = f"https://{ACME_HOST}/api/v1"
    assert created.headers["Location"] == f"{base}/products/1"
    page = acme.get("/products", query={"per_page": 1}).json()
    assert page["links"]["first"].startswith(f"{base}/products?")
    assert acme.follow(page["links"]["first"]).json()["meta"]["total"] == 1


def test_token_of_another_tenant_is_refused_at_a_host(stack: Stack, at: At) -> None:
    for host, slug in ((ACME_HOST, "beta"), (BETA_HOST, "acme")):
        answer = Erp(at(host), stack.token(slug)).get("/products")
        assert (answer.status, answer.code) == (401, "unauthenticated")
        assert Erp(at(host.upper()), stack.token(slug)).get("/products").status == 401


def test_token_selects_the_tenant_at_the_shared_address(stack: Stack, at: At) -> None:
    Erp(at(ACME_HOST), stack.token("acme")).post("/products", {"item_code": "P-1", "name": "A"})
    totals = {
        slug: Erp(at(HOST), stack.token(slug)).get("/products").json()["meta"]["total"]
        for slug in ("acme", "beta")
    }
    assert totals == {"acme": 1, "beta": 0}
    # Links contain the tenant's address, independent of the host of the request.
    page = Erp(at(HOST), stack.token("acme")).get("/products").json()
    assert page["links"]["first"].startswith(f"https://{ACME_HOST}/api/v1/")
    assert Erp(at(HOST), stack.token("beta")).get("/products/1").status == 404


def test_host_issues_tokens_to_clients_of_its_tenant_only(at: At) -> None:
    acme, beta = (create_client(slug, "ERP") for slug in ("acme", "beta"))
    granted = request_token_at(at(ACME_HOST), acme)
    assert granted.status == 200
    assert Erp(at(ACME_HOST), granted.json()["access_token"]).get("/products").status == 200

    foreign = request_token_at(at(ACME_HOST), beta)
    unknown = request_token_at(at(ACME_HOST), beta._replace(client_secret="sws_no"))
    assert (foreign.status, foreign.json()["error"]) == (401, "invalid_client")
    assert foreign.json() == unknown.json()
    assert request_token_at(at(HOST), beta).status == 200


def test_oauth_metadata_names_the_host_of_the_request(at: At) -> None:
    path = "/v1/.well-known/oauth-authorization-server"
    issuers = [at(host).request("GET", path).json()["issuer"] for host in (ACME_HOST, HOST)]
    assert issuers == [f"https://{ACME_HOST}/api/v1", ADDRESS]


def test_token_for_the_previous_address_is_refused(stack: Stack) -> None:
    before = stack.token("acme")
    assert Erp(stack.gateway, before).get("/products").status == 200
    apply_now(provisioning.set_address, "acme", host=ACME_HOST)
    assert Erp(stack.gateway, before).get("/products").status == 401
    assert Erp(stack.gateway, stack.token("acme")).get("/products").status == 200


def test_unknown_paths_and_methods_are_refused_at_a_host(stack: Stack, at: At) -> None:
    acme = Erp(at(ACME_HOST), stack.token("acme"))
    assert (acme.get("/nothing").status, acme.get("/products/9").status) == (404, 404)
    assert acme.send("DELETE", "/products").status == 405


@pytest.mark.parametrize("path", ["/v1/openapi.json", "/v1/docs", "/v1/.well-known/jwks.json"])
def test_public_routes_are_served_at_a_host(at: At, path: str) -> None:
    assert [at(host).request("GET", path).status for host in (ACME_HOST, HOST)] == [200, 200]


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("DomainName", "", True),
        ("DomainName", "example.com", True),
        ("DomainName", "wms.xn--p1ai", True),
        ("DomainName", "*.example.com", False),
        ("DomainName", "https://example.com", False),
        ("DomainName", "Example.com", False),
        ("CertificateArn", "", True),
        ("CertificateArn", "arn:aws:acm:eu-west-1:123456789012:certificate/0f6c-1", True),
        ("CertificateArn", "arn:aws:iam::123456789012:server-certificate/x", False),
    ],
)
def test_patterns_of_the_domain_parameters(stack: Stack, name: str, value: str, fits: Any) -> None:
    pattern = stack.template._document["Parameters"][name]["AllowedPattern"]
    assert bool(re.fullmatch(pattern, value)) is fits


def test_wildcard_domain_of_the_template_has_the_same_base_path(stack: Stack) -> None:
    (domain,) = stack.template.resources("AWS::ApiGateway::DomainName").values()
    (mapping,) = stack.template.resources("AWS::ApiGateway::BasePathMapping").values()
    assert domain["DomainName"] == {"Fn::Sub": "*.${DomainName}"}
    assert domain["RegionalCertificateArn"] == {"Ref": "CertificateArn"}
    assert (domain["SecurityPolicy"], domain["EndpointConfiguration"]) == (
        "TLS_1_2",
        {"Types": ["REGIONAL"]},
    )
    assert mapping == {
        "DomainName": {"Ref": "ApiDomain"},
        "BasePath": "api",
        "RestApiId": {"Ref": "Api"},
        "Stage": {"Ref": "Api.Stage"},
    }
