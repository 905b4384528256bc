"""AWS clients, made in one place with one configuration.

botocore is used directly: importing boto3 on top costs about 60 ms per cold start, and the
service needs none of its additions.
"""

from functools import cache
from typing import Any

import botocore.session
from botocore.config import Config

_CONFIG = Config(
    connect_timeout=2,
    read_timeout=8,
    tcp_keepalive=True,
    max_pool_connections=10,
    retries={"mode": "standard", "total_max_attempts": 3},
)
"""Seconds; three attempts that all time out still end before the gateway's 29 s."""

_S3_CONFIG = _CONFIG.merge(
    # Presigned addresses that name the Region, so that nothing is redirected.
    Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
)


def _config_of(service: str) -> Config:
    return _S3_CONFIG if service == "s3" else _CONFIG


@cache
def session() -> botocore.session.Session:
    """Return the session that all clients share.

    It keeps the parsed service models, so that a client after the first of its service costs
    about 2 ms instead of 20 to 120 ms.
    """
    return botocore.session.get_session()


@cache
def client(service: str) -> Any:
    """Return the one client of `service` that uses the function's own credentials."""
    return session().create_client(service, config=_config_of(service))


def client_as(service: str, credentials: dict[str, Any]) -> Any:
    """Make a client of `service` that uses the `Credentials` of an STS answer."""
    return session().create_client(
        service,
        config=_config_of(service),
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )


def failed_conditions(error: Any) -> list[bool]:
    """Tell of each action of a cancelled transaction whether its condition failed."""
    reasons = error.response["CancellationReasons"]
    return [reason["Code"] == "ConditionalCheckFailed" for reason in reasons]
