"""Clients of AWS: the connections that clients of several tenants share."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from botocore.exceptions import ParamValidationError

from shared.kernel import aws


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
