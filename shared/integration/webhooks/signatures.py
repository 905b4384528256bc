"""How a delivery proves where it comes from: signed in two schemes, for receivers to choose.

`X-Service-Signature` can be verified as a signature of Stripe's, the headers `webhook-…` as the
specification Standard Webhooks says.
"""

import base64
import hmac
from collections.abc import Sequence
from secrets import token_bytes

_PREFIX = "whsec_"
_KEY_BYTES = 32
_SHORTEST_KEY, _LONGEST_KEY = 24, 64
"""Bytes of a key, as Standard Webhooks wants them."""


def new_secret() -> str:
    """Make a secret that serves both schemes: `whsec_` and 256 random bits, 50 characters."""
    return _PREFIX + base64.b64encode(token_bytes(_KEY_BYTES)).decode()


def signature_headers(
    event_id: str, body: bytes, secrets: Sequence[str], at: int
) -> dict[str, str]:
    """Sign a delivery with every secret that its receiver may hold.

    Args:
        event_id: Id of the event, the same for all deliveries of it.
        body: The body exactly as it will be sent.
        secrets: One, or during a rotation two, the newest first.
        at: When it is sent, in Unix seconds; receivers refuse what is older than minutes.

    Returns:
        Header → value. `X-Service-Signature` always, keyed with the whole secret as UTF-8.
        Those of Standard Webhooks only for secrets of the form `whsec_` and the base64 of 24 to
        64 bytes, which are the key; none of them when no secret has that form.
    """
    moment = f"{at}.".encode()
    own = [_hmac(secret.encode(), moment + body).hex() for secret in secrets]
    headers = {"X-Service-Signature": ",".join([f"t={at}", *(f"v1={each}" for each in own)])}
    keys = [key for secret in secrets if (key := _standard_key(secret))]
    if keys:
        signed = f"{event_id}.".encode() + moment + body
        standard = [base64.b64encode(_hmac(key, signed)).decode() for key in keys]
        headers |= {
            "webhook-id": event_id,
            "webhook-timestamp": str(at),
            "webhook-signature": " ".join(f"v1,{each}" for each in standard),
        }
    return headers


def _hmac(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, "sha256")


def _standard_key(secret: str) -> bytes | None:
    if not secret.startswith(_PREFIX):
        return None
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        return None
    return key if _SHORTEST_KEY <= len(key) <= _LONGEST_KEY else None
