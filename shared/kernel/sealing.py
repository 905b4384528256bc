"""Texts that are stored only encrypted, under a key that never leaves KMS.

What a text was sealed for is bound to it: unsealing it for anything else, or for another
tenant, fails, and the deployment's policies name the purposes that each function may unseal.
"""

from typing import Literal

from shared.kernel.aws import client
from shared.kernel.config import config

type Purpose = Literal["signing", "replay", "totp"]
"""`signing`: a webhook's secret, to sign with; `replay`: an answer that showed one, to be
repeated under its Idempotency-Key; `totp`: a user's second factor, to compare codes with."""


def seal(content: bytes, purpose: Purpose, tenant: str, owner: str) -> bytes:
    """Encrypt up to 4096 bytes, the most that KMS takes; `what` names what they belong to."""
    answer = client("kms").encrypt(
        KeyId=config().sealing_key,
        Plaintext=content,
        EncryptionContext=_context(purpose, tenant, owner),
    )
    sealed: bytes = answer["CiphertextBlob"]
    return sealed


def unseal(sealed: bytes, purpose: Purpose, tenant: str, owner: str) -> bytes:
    """Decrypt what was sealed for the very same."""
    answer = client("kms").decrypt(
        KeyId=config().sealing_key,
        CiphertextBlob=sealed,
        EncryptionContext=_context(purpose, tenant, owner),
    )
    content: bytes = answer["Plaintext"]
    return content


def _context(purpose: Purpose, tenant: str, owner: str) -> dict[str, str]:
    return {"purpose": purpose, "tenant": tenant, "what": owner}
