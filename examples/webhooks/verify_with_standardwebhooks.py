"""Verifies a delivery with the library of Standard Webhooks (`pip install standardwebhooks`).

It needs a secret that Stowage made, or one of that form: `whsec_` and the base64 of 24 to 64
bytes. Libraries for other languages are at https://www.standardwebhooks.com.
"""

from collections.abc import Mapping
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def verify(secret: str, headers: Mapping[str, str], body: bytes) -> Any:
    """Return the event in `body` (as received) if the headers `webhook-…` are right.

    Raises:
        WebhookVerificationError: Not from Stowage, altered, more than 5 minutes off, or no JSON.
    """
    try:
        return Webhook(secret).verify(body, dict(headers))
    except ValueError as malformed:  # a signature that is none, text that is no UTF-8
        raise WebhookVerificationError("malformed") from malformed
