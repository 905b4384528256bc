"""Signatures of deliveries in two schemes; a receiver verifies one of them.

`X-Service-Signature` has the format of Stripe's signatures. The headers `webhook-…` follow the
Standard Webhooks specification. The stored secrets are encrypted, each bound to its tenant and
subscription.
"""

import base64
import hmac
from collections.abc import Sequence
from secrets import token_bytes

from shared.kernel.sealing import seal, unseal

_PREFIX = "whsec_"
_KEY_BYTES = 32
_SHORTEST_KEY, _LONGEST_KEY = 24, 64
"""Key length in bytes that Standard Webhooks allows."""


def new_secret() -> str:
    """Generate a secret for both schemes: `whsec_` and 256 random bits, 50 characters."""
    return _PREFIX + base64.b64encode(token_bytes(_KEY_BYTES)).decode()


def signature_headers(
    event_id: str, body: bytes, secrets: Sequence[str], at: int
) -> dict[str, str]:
    """Return the signature headers of a delivery, with one signature per secret.

    Args:
        event_id: Id of the event, the same for all its deliveries.
        body: The request body, byte for byte.
        secrets: The secrets that are valid now, newest first; several after a rotation.
        at: Time of the attempt in Unix seconds; receivers reject old timestamps.

    Returns:
        Header → value. `X-Service-Signature` is always present; its key is the whole secret in
        UTF-8. The headers of Standard Webhooks are present if a secret has the form `whsec_`
        followed by the base64 of 24 to 64 bytes; these bytes are the key.
    """
    timestamp = f"{at}.".encode()
    stripe = [_hmac(secret.encode(), timestamp + body).hex() for secret in secrets]
    headers = {"X-Service-Signature": ",".join([f"t={at}", *(f"v1={each}" for each in stripe)])}
    keys = [key for secret in secrets if (key := _standard_key(secret))]
    if keys:
        signed = f"{event_id}.".encode() + timestamp + body
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


def seal_secret(tenant: str, webhook: int, secret: str) -> str:
    """Encrypt a secret; return the base64 text that is stored with the subscription."""
    sealed = seal(secret.encode(), "signing", tenant, sealing_owner(webhook))
    return base64.b64encode(sealed).decode()


def unseal_secret(tenant: str, webhook: int, sealed: str) -> str:
    """Decrypt the result of `seal_secret`; fails for another tenant or subscription."""
    return unseal(base64.b64decode(sealed), "signing", tenant, sealing_owner(webhook)).decode()


def sealing_owner(webhook: int) -> str:
    """Return the owner of the secrets of a subscription, for `shared.kernel.sealing`."""
    return f"webhook {webhook}"
