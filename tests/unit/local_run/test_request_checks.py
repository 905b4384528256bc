"""The servers that receive webhooks on this machine refuse requests of web pages."""

from collections.abc import Iterator

import httpx
import pytest

from local.webhook_endpoint import LocalEndpoint, running_endpoint


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with running_endpoint() as endpoint:
        yield endpoint


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Content-Type": "text/plain"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
    ],
)
def test_requests_of_web_pages_are_refused_and_not_recorded(
    endpoint: LocalEndpoint, headers: dict[str, str]
) -> None:
    refused = httpx.post(endpoint.url, headers=headers, content=b"{}")
    assert refused.status_code == 403
    assert endpoint.requests == []


def test_deliveries_are_received(endpoint: LocalEndpoint) -> None:
    for name in ("localhost", "127.0.0.1"):
        url = endpoint.url.replace("localhost", name)
        assert httpx.post(url, content=b"{}").status_code == 204
    assert len(endpoint.requests) == 2
