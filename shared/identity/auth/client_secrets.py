"""Secrets of integration clients: random, shown once, stored only as an HMAC.

The HMAC key is a KMS key, so a stolen copy of the control table does not allow guessing secrets.
Such a key cannot leave its deployment. So the digest from which the HMAC is made is stored as well,
sealed: only a move of the tenant to another deployment opens it.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.sealing import seal, unseal

SECRET_PREFIX = "sws_"  # noqa: S105 - the prefix is public
"""Prefix by which secret scanners recognise a leaked secret."""


def new_secret() -> str:
    """Return a new secret: 256 random bits, 47 characters."""
    return SECRET_PREFIX + secrets.token_urlsafe(32)


def secret_hash(client_id: str, secret: str) -> bytes:
    """Return the HMAC of a client id and a secret: 32 bytes, one KMS call for any input.

    The secret is as presented, of any content and length.
    """
    return hash_of_digest(secret_digest(client_id, secret))


def secret_digest(client_id: str, secret: str) -> bytes:
    """Return the SHA-256 of a client id and a secret; it is stored only sealed."""
    return hashlib.sha256(f"{client_id}\0{secret}".encode(errors="surrogatepass")).digest()


def hash_of_digest(digest: bytes) -> bytes:
    """Return the HMAC for a digest of `secret_digest`: a move knows no more of a secret."""
    answer = client("kms").generate_mac(
        KeyId=config().secret_hash_key,
        # a digest, because KMS accepts at most 4096 bytes
        Message=digest,
        MacAlgorithm="HMAC_SHA_256",
    )
    mac: bytes = answer["Mac"]
    return mac


def seal_digest(tenant: str, client_id: str, digest: bytes) -> bytes:
    """Encrypt a digest, so that a secret can be moved to a deployment with another HMAC key."""
    return seal(digest, "client", tenant, client_id)


def unseal_digest(tenant: str, client_id: str, sealed: bytes) -> bytes:
    """Decrypt the result of `seal_digest`."""
    return unseal(sealed, "client", tenant, client_id)


def matches_any(presented: bytes, stored: Iterable[bytes]) -> bool:
    """Return whether a hash equals one of the stored ones; compare all of them in constant time."""
    found = False
    for each in stored:
        found |= hmac.compare_digest(presented, each)
    return found
