"""Verifies a delivery. Copy this file; it needs Python and nothing else."""

import hmac
import json
import time
from typing import Any

TOLERANCE = 300  # seconds that the sender's clock and yours may be apart


class BadSignatureError(Exception):
    """Not from Stowage, altered, or too old: answer 401 and do nothing. The message says which."""


def verify(secret: str, signature: str | None, body: bytes, now: float | None = None) -> Any:
    """Return the event in `body` if it is from Stowage and fresh.

    Args:
        secret: The secret of the subscription, all of it, `whsec_` included.
        signature: The header X-Service-Signature, None without one.
        body: As received: parsed and written again, it differs.
        now: Unix time, for tests.

    Raises:
        BadSignatureError: It is not.
        ValueError: The signature is right, but the body is no JSON.
    """
    if not signature:
        raise BadSignatureError("there is no header X-Service-Signature")
    parts = [part.strip().partition("=") for part in signature.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    given = [value.encode(errors="replace") for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not given:
        raise BadSignatureError("X-Service-Signature must look like t=1700000000,v1=b4c01d…")
    sent_at = times[0]
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) <= 12):  # noqa: PLR2004
        raise BadSignatureError("t in X-Service-Signature is no Unix time")
    right = hmac.digest(secret.encode(), f"{sent_at}.".encode() + body, "sha256").hex().encode()
    # While a secret is being replaced there are two v1; one of them is made with yours.
    if not any(hmac.compare_digest(right, each) for each in given):
        raise BadSignatureError("the signature fits neither this body nor this secret")
    if abs((time.time() if now is None else now) - int(sent_at)) > TOLERANCE:
        raise BadSignatureError("it is too old, or one of the clocks is wrong")
    return json.loads(body)
