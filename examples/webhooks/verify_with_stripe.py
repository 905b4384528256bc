"""Verifies a delivery with Stripe's library (`pip install stripe`): the signatures are alike."""

import json
from typing import Any

import stripe


def verify(secret: str, signature: str | None, body: bytes) -> Any:
    """Return the event in `body` (as received) if its X-Service-Signature is right.

    Stripe's library accepts a time in the future; it is signed, so it is the sender's clock.

    Raises:
        stripe.SignatureVerificationError: Not from Stowage, altered, or older than 5 minutes.
        ValueError: The body is no JSON.
    """
    # The library compares ASCII only: another letter is no hexadecimal digit, and neither is "?".
    header = signature and signature.encode("ascii", "replace").decode()
    stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)
    # Not construct_event: it makes an object of Stripe's, whose fields are others.
    return json.loads(body)
