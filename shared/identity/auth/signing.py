"""Signatures and public keys of the token signing keys, which are KMS keys."""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from shared.kernel.aws import client

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

SIGNATURE_BYTES = 64
"""Length of an ES256 signature: r and s, 32 bytes each (RFC 7518, section 3.4)."""


def base64url(data: bytes) -> str:
    """Encode in URL-safe base64 without padding, as JOSE requires."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def kid_of(kms_key: str) -> str:
    """Return the `kid` of a KMS key, which is a digest because KMS ids are internal."""
    return hashlib.sha256(kms_key.encode()).hexdigest()[:16]


def sign(kms_key: str, message: bytes) -> bytes:
    """Sign a message with ES256; return the signature: r and s, 64 bytes.

    A message has at most 4096 bytes, the KMS limit for messages that it hashes.
    """
    from cryptography.hazmat.primitives.asymmetric.utils import (  # noqa: PLC0415  cold start
        decode_dss_signature,
    )

    answer = client("kms").sign(
        KeyId=kms_key,
        Message=message,
        MessageType="RAW",
        SigningAlgorithm="ECDSA_SHA_256",
    )
    half = SIGNATURE_BYTES // 2
    r, s = decode_dss_signature(answer["Signature"])
    return r.to_bytes(half) + s.to_bytes(half)


@cache
def public_key(kms_key: str) -> "EllipticCurvePublicKey":
    """Return the public key of a KMS key, fetched once per execution environment."""
    from cryptography.hazmat.primitives.asymmetric.ec import (  # noqa: PLC0415  cold start
        EllipticCurvePublicKey,
    )
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        load_der_public_key,
    )

    key = load_der_public_key(client("kms").get_public_key(KeyId=kms_key)["PublicKey"])
    if not isinstance(key, EllipticCurvePublicKey):
        raise TypeError(f"The signing key {kms_key} is not on an elliptic curve.")
    return key


def key_set(kms_keys: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return public keys as a JSON Web Key Set (RFC 7517)."""
    return {"keys": [_jwk(kms_key) for kms_key in kms_keys]}


def _jwk(kms_key: str) -> dict[str, Any]:
    numbers = public_key(kms_key).public_numbers()
    half = SIGNATURE_BYTES // 2
    return {
        "kty": "EC",
        "crv": "P-256",
        "use": "sig",
        "alg": "ES256",
        "kid": kid_of(kms_key),
        "x": base64url(numbers.x.to_bytes(half)),
        "y": base64url(numbers.y.to_bytes(half)),
    }
