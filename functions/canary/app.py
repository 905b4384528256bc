"""Canary: does what an ERP does, every five minutes: requests a token and reads a list.

A run that does not get both raises, so that Lambda counts an error, which `CanaryAlarm` watches. A
run that does not take place counts as well. The credentials are those of an API client in a tenant
of its own. The schedule passes them as an operator has encrypted them.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from urllib3 import PoolManager, Timeout

from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.observability import bind, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_SECONDS = 10
"""Longest time of a request; a company would not wait longer."""


class CanaryFailed(Exception):
    """A request of the canary was not answered as it is for companies."""


def lambda_handler(event: Mapping[str, str], context: "LambdaContext") -> None:
    """Request a token and read a page of products."""
    bind(request_id=context.aws_request_id)
    began = perf_counter()
    credentials = _decrypted(event["credentials"])
    address = event["address"].replace("{slug}", _slug_of(credentials))
    basic = b64encode(credentials).decode()
    issued = _answer(
        "POST",
        address,
        "/oauth/token",
        {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"},
        b"grant_type=client_credentials",
    )
    bearer = {"Authorization": f"Bearer {issued['access_token']}"}
    if "data" not in _answer("GET", address, "/products?per_page=1", bearer):
        raise CanaryFailed("GET /products: the response has no data.")
    logger.info("canary passed", milliseconds=round((perf_counter() - began) * 1000))


def _decrypted(credentials: str) -> bytes:
    """Return `CLIENT_ID:SECRET`."""
    answer = client("kms").decrypt(
        KeyId=config().sealing_key,
        CiphertextBlob=b64decode(credentials),
        EncryptionContext={"purpose": "canary"},
    )
    plain: bytes = answer["Plaintext"]
    return plain


def _slug_of(credentials: bytes) -> str:
    """Return the tenant, which the client id names: `stw_SLUG_…`."""
    return credentials.split(b"_", 2)[1].decode()


def _answer(
    method: str, address: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> Any:
    """Return the JSON of a response; raise CanaryFailed unless its status is 200.

    The error names the route and the status only: a body may contain a token.
    """
    response = _http().request(
        method, address + path, headers=headers, body=body, timeout=Timeout(_SECONDS), retries=False
    )
    if response.status != 200:  # noqa: PLR2004
        raise CanaryFailed(f"{method} {path}: status {response.status}, expected 200.")
    return json.loads(response.data)


@cache
def _http() -> PoolManager:
    return PoolManager()
