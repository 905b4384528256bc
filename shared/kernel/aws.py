"""AWS clients, made in one place with one configuration.

They are those of botocore, as boto3 returns them. The modules of boto3 for resources and for
transfers of files would take some 20 ms of every cold start.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.config import Config
from botocore.session import Session, get_session

import shared.kernel.randomness  # noqa: F401 - the waits between attempts are random
from shared.kernel.aws_calls import record_calls
from shared.kernel.dynamodb_json import use_dynamodb_json

_CONFIG = Config(
    connect_timeout=2,
    read_timeout=8,
    tcp_keepalive=True,
    max_pool_connections=10,
    retries={"mode": "standard", "total_max_attempts": 3},
    parameter_validation=False,
    user_agent="stowage",
)
"""Seconds; three attempts that all time out still end before the gateway's 29 s.

AWS validates requests itself; botocore would need a tenth of the time of a call to validate them
before (in the tests it does). The fixed user agent saves as much: botocore composes its own one
for each call.
"""

_S3_CONFIG = _CONFIG.merge(
    # Presigned addresses that name the Region, so that nothing is redirected.
    Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
)


def _config_of(service: str) -> Config:
    return _S3_CONFIG if service == "s3" else _CONFIG


@cache
def session() -> Session:
    """Return the session that all clients share.

    It keeps the parsed service models, so that a client after the first of its service costs
    about 2 ms instead of 20 to 120 ms.
    """
    shared = get_session()
    events = shared.get_component("event_emitter")
    record_calls(events)
    use_dynamodb_json(events)
    return shared


@cache
def client(service: str) -> Any:
    """Return the one client of `service` that uses the function's own credentials."""
    return _new_client(service)


def client_as(service: str, credentials: Mapping[str, Any]) -> Any:
    """Return a new client of `service` that uses the `Credentials` of an STS response.

    It uses the connections of `client(service)`, because credentials belong to requests, not to
    connections. With connections of their own, the clients of some hundred tenants would exhaust
    the 1 024 file descriptors of an execution environment, and each would start with a handshake.
    """
    new = _new_client(
        service,
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )
    # botocore has no option for it (D-229); tests/unit/test_aws_clients.py counts them.
    new._endpoint.http_session = client(service)._endpoint.http_session  # noqa: SLF001
    return new


def read_pages(client_: Any, operation: str, entries: str, **request: Any) -> Iterator[Any]:
    """Yield the `entries` of all pages of an operation, such as `Items` of `scan`."""
    for page in client_.get_paginator(operation).paginate(**request):
        yield from page.get(entries, ())


def _new_client(service: Any, **credentials: Any) -> Any:
    # `service` is Any: boto3-stubs types each service's literal name, not a variable.
    new = session().create_client(service, config=_config_of(service), **credentials)
    if service == "dynamodb":
        _find_address_once(new)
    return new


def _find_address_once(new: Any) -> None:
    """Let a client find the address of its service at its first call only.

    botocore finds it anew for each call, by rules that visit every action of a transaction. None of
    what differs between calls to tables of one account has a part in it (D-255).
    """
    rules = new._ruleset_resolver  # noqa: SLF001 - tests/unit/test_aws_clients.py compares
    find = rules.construct_endpoint
    found: list[Any] = []

    def address(**call: Any) -> Any:
        if not found:
            found.append(find(**call))
        return found[0]

    rules.construct_endpoint = address
