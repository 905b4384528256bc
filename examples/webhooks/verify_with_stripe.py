"""Verification of deliveries with Stripe's library (`pip install stripe`)."""

import json
from typing import Any

import stripe


def verify(secret: str, signature: str | None, body: bytes) -> Any:
    """Verify the X-Service-Signature header of a delivery and return its event.

    Stripe's library accepts times in the future. The time is signed, so only the sender's clock
    can cause them.

    Args:
        secret: The whole secret of the subscription.
        signature: The X-Service-Signature header, or None.
        body: The request body byte for byte.

    Raises:
        stripe.SignatureVerificationError: The delivery is not from Stowage, was altered, or is
            more than 5 minutes old.
        ValueError: The body is not JSON.
    """
    # The library compares only ASCII. "?" is not a hexadecimal digit, so it never matches.
    header = signature and signature.encode("ascii", "replace").decode()
    stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)
    # construct_event would return a Stripe event, which has other fields.
    return json.loads(body)
