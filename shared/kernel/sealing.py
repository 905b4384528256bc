"""Encryption of stored secrets with a KMS key.

The purpose, the tenant and the owner are the KMS encryption context of a sealed text: unsealing it
with another context fails. The policies of the deployment state for which purposes each function
may unseal.
"""

from typing import Literal

from shared.kernel.aws import client
from shared.kernel.config import config

type Purpose = Literal["signing", "replay", "totp", "client"]
"""`signing`: a webhook's signing secret; `replay`: a stored response that contains a secret, for
retries with the same Idempotency-Key; `totp`: the secret of a user's authenticator app;
`client`: the digest of a client's secret, which only a move of the tenant opens."""


def seal(content: bytes, purpose: Purpose, tenant: str, owner: str) -> bytes:
    """Encrypt up to 4096 bytes, the KMS limit; `owner` identifies the object they belong to."""
    answer = client("kms").encrypt(
        KeyId=config().sealing_key,
        Plaintext=content,
        EncryptionContext=_context(purpose, tenant, owner),
    )
    sealed: bytes = answer["CiphertextBlob"]
    return sealed


def unseal(sealed: bytes, purpose: Purpose, tenant: str, owner: str) -> bytes:
    """Decrypt a sealed text; purpose, tenant and owner must be those of `seal`."""
    answer = client("kms").decrypt(
        KeyId=config().sealing_key,
        CiphertextBlob=sealed,
        EncryptionContext=_context(purpose, tenant, owner),
    )
    content: bytes = answer["Plaintext"]
    return content


def _context(purpose: Purpose, tenant: str, owner: str) -> dict[str, str]:
    return {"purpose": purpose, "tenant": tenant, "what": owner}
