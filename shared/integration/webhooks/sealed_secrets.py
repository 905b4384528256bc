"""Encryption of signing secrets; each ciphertext is bound to its tenant and subscription."""

from base64 import b64decode, b64encode

from shared.kernel.sealing import seal, unseal


def seal_secret(tenant: str, webhook: int, secret: str) -> str:
    """Encrypt a secret; return the base64 text that is stored with the subscription."""
    sealed = seal(secret.encode(), "signing", tenant, sealing_owner(webhook))
    return b64encode(sealed).decode()


def unseal_secret(tenant: str, webhook: int, sealed: str) -> str:
    """Decrypt the result of `seal_secret`; fails for another tenant or subscription."""
    return unseal(b64decode(sealed), "signing", tenant, sealing_owner(webhook)).decode()


def sealing_owner(webhook: int) -> str:
    """Return the owner of the secrets of a subscription, for `shared.kernel.sealing`."""
    return f"webhook {webhook}"
