"""Secrets of integration clients: random, shown once, stored only as a keyed hash.

The key of the hash lives in KMS, so a copy of the control table is worth nothing to a thief.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from shared.kernel.aws import client
from shared.kernel.config import config

PREFIX = "sws_"
"""Lets scanners of source code recognise a leaked secret."""


def new_secret() -> str:
    """Make a secret of 256 random bits, 47 characters."""
    return PREFIX + secrets.token_urlsafe(32)


def secret_hash(client_id: str, secret: str) -> bytes:
    """Hash a secret, bound to its client: 32 bytes, one call of KMS whatever the input.

    Args:
        client_id: The client that presents the secret.
        secret: Anything a caller sent, of any length.
    """
    message = f"{client_id}\0{secret}".encode(errors="surrogatepass")
    answer = client("kms").generate_mac(
        KeyId=config().secret_hash_key,
        # a digest, since KMS takes no more than 4096 bytes
        Message=hashlib.sha256(message).digest(),
        MacAlgorithm="HMAC_SHA_256",
    )
    mac: bytes = answer["Mac"]
    return mac


def matches_any(presented: bytes, stored: Iterable[bytes]) -> bool:
    """Compare a hash with each stored one, in a time that tells nothing about them."""
    found = False
    for each in stored:
        found |= hmac.compare_digest(presented, each)
    return found
