"""Passwords: what one must be, and the argon2id hash that is kept of it.

Memory and passes are those that OWASP names for argon2id: about 50 ms of one processor.
"""

import os
import unicodedata

from shared.identity.users.readable_codes import random_code

MIN_LENGTH = 12
MAX_LENGTH = 256
"""Characters of a password, after normalisation."""

_MEMORY_KIB = 19_456
_PASSES = 2
_LANES = 1
_FORM = f"$argon2id$v=19$m={_MEMORY_KIB},t={_PASSES},p={_LANES}$"
_SALT_BYTES = 16
_HASH_BYTES = 32

_NOBODYS = f"{_FORM}{'A' * 22}${'A' * 43}"
"""A hash of the same costs that no password is known to have: all its bits are 0."""

_MAX_PRESENTED_LENGTH = 1_000
"""Characters that are looked at before normalisation, which may make a text shorter."""

_COMMON_PASSWORDS = frozenset(
    {
        "123123123123", "123456123456", "123456789012", "1234567890123", "1q2w3e4r5t6y",
        "1qaz2wsx3edc", "abcd12345678", "abcdefghijkl", "adminadminadmin", "administrator",
        "changemechangeme", "iloveyou1234", "letmeinletmein", "password1234", "password12345",
        "passwordpassword", "qwerty123456", "qwertyuiop12", "qwertyuiopas", "welcome12345",
    }
)  # fmt: skip
"""Of those with 12 characters and more; shorter ones are refused anyway."""


def generate_password() -> str:
    """Make a password of 100 random bits that can be read out and typed."""
    return random_code(groups=5, size=4)


def password_problem(password: str, *, username: str, tenant: str) -> str | None:
    """Return what is wrong with a new password in words for people, None when it is good.

    Args:
        password: As it was typed.
        username: Whose it is to be.
        tenant: Slug of the user's tenant.
    """
    text = _normalize(password)
    if not MIN_LENGTH <= len(text) <= MAX_LENGTH:
        return f"must have {MIN_LENGTH} to {MAX_LENGTH} characters"
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in text):
        return "must not contain control characters"
    plain = text.casefold()
    if plain in {username, tenant, f"{username}@{tenant}"}:
        return "must not be a name by which the user is known"
    if plain in _COMMON_PASSWORDS or len(set(plain)) == 1:
        return "is among the first that anybody would try"
    return None


def hash_password(password: str) -> str:
    """Hash a password with a salt of its own: the text that `verify` takes, about 100 characters.

    The same password typed on another keyboard, with accents in one character or in two, is
    the same password.
    """
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: PLC0415  5 ms

    kdf = Argon2id(
        salt=os.urandom(_SALT_BYTES),
        length=_HASH_BYTES,
        iterations=_PASSES,
        lanes=_LANES,
        memory_cost=_MEMORY_KIB,
    )
    return kdf.derive_phc_encoded(_normalize(password).encode(errors="surrogatepass"))


def verify(password: str, stored: str | None) -> bool:
    """Tell whether a password is the one that was hashed.

    Args:
        password: Anything that a caller sent, of any length.
        stored: What `hash_password` returned; None: there is nobody with such a name, which
            takes as long to find out as a wrong password does.
    """
    from cryptography.exceptions import InvalidKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: PLC0415

    presented = _normalize(password[:_MAX_PRESENTED_LENGTH]).encode(errors="surrogatepass")
    try:
        Argon2id.verify_phc_encoded(presented, stored or _NOBODYS)
    except InvalidKey:
        return False
    return stored is not None and len(password) <= _MAX_PRESENTED_LENGTH


def _normalize(password: str) -> str:
    return unicodedata.normalize("NFKC", password)
