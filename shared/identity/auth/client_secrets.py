"""Secrets of integration clients: random, shown once, stored only as an HMAC.

The HMAC key is a KMS key, so a stolen copy of the control table does not allow guessing secrets.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from shared.kernel.aws import client
from shared.kernel.config import config

SECRET_PREFIX = "sws_"  # noqa: S105 - the prefix is public
"""Prefix by which secret scanners recognise a leaked secret."""


def new_secret() -> str:
    """Return a new secret: 256 random bits, 47 characters."""
    return SECRET_PREFIX + secrets.token_urlsafe(32)


def secret_hash(client_id: str, secret: str) -> bytes:
    """Return the HMAC of a client id and a secret: 32 bytes, one KMS call for any input.

    Args:
        client_id: The client that presents the secret.
        secret: The presented secret, of any content and length.
    """
    message = f"{client_id}\0{secret}".encode(errors="surrogatepass")
    answer = client("kms").generate_mac(
        KeyId=config().secret_hash_key,
        # a digest, because KMS accepts at most 4096 bytes
        Message=hashlib.sha256(message).digest(),
        MacAlgorithm="HMAC_SHA_256",
    )
    mac: bytes = answer["Mac"]
    return mac


def matches_any(presented: bytes, stored: Iterable[bytes]) -> bool:
    """Return whether a hash equals one of the stored ones; compare all of them in constant time."""
    found = False
    for each in stored:
        found |= hmac.compare_digest(presented, each)
    return found
