"""Clients of AWS: the connections that clients of several tenants share."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ParamValidationError
from botocore.regions import EndpointRulesetResolver

from shared.kernel import aws
from tests.cases import each_case


class _Dynamodb(ThreadingHTTPServer):
    """A server on this machine that answers every call with an empty item."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.connections = 0
        self.access_keys: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Dynamodb

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        credential = self.headers["Authorization"].partition("Credential=")[2]
        self.server.access_keys.append(credential.partition("/")[0])
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        """Write no log."""


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Dynamodb]:
    """DynamoDB on this machine, used by new clients."""
    with _Dynamodb() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": address,
            "AWS_DEFAULT_REGION": "eu-west-1",
            "AWS_ACCESS_KEY_ID": "own",
            "AWS_SECRET_ACCESS_KEY": "x",
        }.items():
            monkeypatch.setenv(name, value)
        aws.session.cache_clear()
        aws.client.cache_clear()
        yield server
        server.shutdown()
    aws.session.cache_clear()
    aws.client.cache_clear()


def test_clients_of_tenants_share_connections_but_not_credentials(dynamodb: _Dynamodb) -> None:
    def client_of(tenant: str) -> Any:
        names = ("AccessKeyId", "SecretAccessKey", "SessionToken")
        return aws.client_as("dynamodb", dict.fromkeys(names, tenant))

    clients = [aws.client("dynamodb"), *map(client_of, ("acme", "beta", "gamma"))]
    for _ in range(2):
        for client in clients:
            client.get_item(TableName="t", Key={"PK": {"S": "x"}})

    assert dynamodb.access_keys == ["own", "acme", "beta", "gamma"] * 2
    assert dynamodb.connections == 1


def test_tests_validate_requests(dynamodb: _Dynamodb) -> None:
    with pytest.raises(ParamValidationError):
        aws.client("dynamodb").get_item(TableName="t", Key={"PK": "text"})
    assert dynamodb.connections == 0


_KEY = {"PK": {"S": "x"}, "SK": {"S": "y"}}
_CALLS: tuple[Callable[[Any], object], ...] = (
    lambda client: client.get_item(TableName="t", Key=_KEY),
    lambda client: client.batch_get_item(RequestItems={"t": {"Keys": [_KEY]}}),
    lambda client: client.transact_write_items(
        TransactItems=[{"Put": {"TableName": "t", "Item": _KEY}}], ClientRequestToken="x"
    ),
    lambda client: client.describe_table(TableName="t"),
)


@each_case(
    ("environment", "host"),
    [
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "dynamodb.eu-west-1.amazonaws.com"),
        ({"AWS_DEFAULT_REGION": "us-east-1"}, "dynamodb.us-east-1.amazonaws.com"),
        ({"AWS_DEFAULT_REGION": "cn-north-1"}, "dynamodb.cn-north-1.amazonaws.com.cn"),
        ({"AWS_DEFAULT_REGION": "us-gov-west-1"}, "dynamodb.us-gov-west-1.amazonaws.com"),
        (
            {"AWS_DEFAULT_REGION": "us-west-2", "AWS_USE_FIPS_ENDPOINT": "true"},
            "dynamodb-fips.us-west-2.amazonaws.com",
        ),
        (
            {"AWS_DEFAULT_REGION": "us-gov-west-1", "AWS_USE_FIPS_ENDPOINT": "true"},
            "dynamodb.us-gov-west-1.amazonaws.com",
        ),
        (
            {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:4566"},
            "127.0.0.1:4566",
        ),
        (
            {"AWS_DEFAULT_REGION": "cn-north-1", "AWS_ENDPOINT_URL_DYNAMODB": "https://db.test"},
            "db.test",
        ),
    ],
)
def test_calls_go_where_the_rules_of_botocore_send_them(
    environment: Mapping[str, str], host: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        own, by_rules = _requests(patch, environment)

    assert own == by_rules
    scope = f"/{environment['AWS_DEFAULT_REGION']}/dynamodb/aws4_request"
    assert all(request.url.endswith(f"//{host}/") for request in own)
    assert all(scope in request.headers["authorization"] for request in own)


class _Request(NamedTuple):
    url: str
    headers: Mapping[str, str]
    body: bytes


def _requests(
    patch: pytest.MonkeyPatch, environment: Mapping[str, str]
) -> tuple[list[_Request], list[_Request]]:
    """Return the requests of `client` to DynamoDB, and those of a client that uses the rules."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_USE_FIPS_ENDPOINT"):
        patch.delenv(name, raising=False)
    for name, value in environment.items():
        patch.setenv(name, value)
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    for module in ("botocore.auth", "botocore.crt.auth"):
        patch.setattr(f"{module}.get_current_datetime", lambda **_: now)
    aws.session.cache_clear()
    own = aws._new_client("dynamodb")
    by_rules = aws.session().create_client("dynamodb", config=own.meta.config)
    aws.session.cache_clear()
    return _sent(own), _sent(by_rules)


def _sent(client: Any) -> list[_Request]:
    sent: list[_Request] = []

    def answer(request: Any, **_: Any) -> Any:
        headers = {
            name.lower(): value.decode() if isinstance(value, bytes) else value
            for name, value in request.headers.items()
            if name.lower() != "amz-sdk-invocation-id"  # random, not signed
        }
        sent.append(_Request(request.url, headers, request.body))
        return AWSResponse(request.url, 200, {}, _Empty())  # type: ignore[arg-type]

    client.meta.events.register("before-send.dynamodb", answer)
    for call in _CALLS:
        call(client)
    return sent


class _Empty:
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield b"{}"


def test_a_client_finds_its_address_once(
    dynamodb: _Dynamodb, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = 0
    construct = EndpointRulesetResolver.construct_endpoint

    def count(*args: Any, **values: Any) -> Any:
        nonlocal found
        found += 1
        return construct(*args, **values)

    monkeypatch.setattr(EndpointRulesetResolver, "construct_endpoint", count)
    for _ in range(2):
        for call in _CALLS:
            call(aws.client("dynamodb"))
    assert found == 1
    assert len(dynamodb.access_keys) == 2 * len(_CALLS)
