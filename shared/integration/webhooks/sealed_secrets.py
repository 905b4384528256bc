"""How signing secrets are kept: sealed, and bound to their subscription."""

from base64 import b64decode, b64encode

from shared.kernel.sealing import seal, unseal


def seal_secret(tenant: str, webhook: int, secret: str) -> str:
    """Seal a secret; the text is kept with the subscription."""
    sealed = seal(secret.encode(), "signing", tenant, _owner(webhook))
    return b64encode(sealed).decode()


def unseal_secret(tenant: str, webhook: int, sealed: str) -> str:
    """Undo `seal_secret`; nothing that was sealed for another subscription can be."""
    return unseal(b64decode(sealed), "signing", tenant, _owner(webhook)).decode()


def _owner(webhook: int) -> str:
    return f"webhook {webhook}"
