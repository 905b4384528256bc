"""Verification of webhook deliveries, with the standard library only."""

import hmac
import json
import time
from typing import Any

TOLERANCE = 300  # maximum age in seconds, and maximum difference between the two clocks


class BadSignatureError(Exception):
    """The delivery is not from Stowage, was altered, or is too old: respond with 401."""


def verify_delivery(
    secret: str, signature: str | None, body: bytes, now: float | None = None
) -> Any:
    """Verify a delivery and return its event.

    Args:
        secret: The whole secret of the subscription, including `whsec_`.
        signature: The X-Service-Signature header, or None.
        body: The request body byte for byte, not parsed and serialized again.
        now: Unix time, for tests.

    Raises:
        BadSignatureError: The signature is missing, wrong or too old.
        ValueError: The signature is valid, but the body is not JSON.
    """
    if not signature:
        raise BadSignatureError("the X-Service-Signature header is missing")
    parts = [part.strip().partition("=") for part in signature.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value.encode(errors="replace") for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not signatures:
        raise BadSignatureError("X-Service-Signature must have the form t=1700000000,v1=b4c01d…")
    sent_at = times[0]
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) <= 12):  # noqa: PLR2004
        raise BadSignatureError("t in X-Service-Signature is not a Unix time")
    expected = hmac.digest(secret.encode(), f"{sent_at}.".encode() + body, "sha256").hex().encode()
    # After a rotation there is one v1 per valid secret.
    if not any(hmac.compare_digest(expected, each) for each in signatures):
        raise BadSignatureError("the signature does not match the body and the secret")
    difference = abs((time.time() if now is None else now) - int(sent_at))
    if difference > TOLERANCE:
        raise BadSignatureError(
            f"too old, or a clock is wrong: t differs by {difference:.0f} s, at most {TOLERANCE} s"
        )
    return json.loads(body)
