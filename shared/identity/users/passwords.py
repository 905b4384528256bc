"""Requirements for passwords, and their argon2id hashes.

Memory and passes follow the OWASP recommendation for argon2id. A check takes 20 to 25 ms of CPU.
"""

import os
import re
import unicodedata

from shared.identity.users.recovery_codes import random_code

MIN_LENGTH = 12
MAX_LENGTH = 256
"""Allowed length of a password, in characters after normalization."""

_MEMORY_KIB = 19_456
_PASSES = 2
_LANES = 1
_PHC_PREFIX = f"$argon2id$v=19$m={_MEMORY_KIB},t={_PASSES},p={_LANES}$"
_SALT_BYTES = 16
_HASH_BYTES = 32

_SALT_AND_HASH = re.compile(
    r"[A-Za-z0-9+/]{21}[AQgw]\$[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]", re.ASCII
)
"""In Base64 without padding."""

_DUMMY_HASH = f"{_PHC_PREFIX}{'A' * 22}${'A' * 43}"
"""A hash with the same cost for users that do not exist; no known password has it."""

_MAX_PRESENTED_LENGTH = 1_000
"""Longest presented password, in characters before normalization, which may shorten it."""

_COMMON_PASSWORDS = frozenset(
    {
        "123123123123", "123456123456", "123456789012", "1234567890123", "1q2w3e4r5t6y",
        "1qaz2wsx3edc", "abcd12345678", "abcdefghijkl", "adminadminadmin", "administrator",
        "changemechangeme", "iloveyou1234", "letmeinletmein", "password1234", "password12345",
        "passwordpassword", "qwerty123456", "qwertyuiop12", "qwertyuiopas", "welcome12345",
    }
)  # fmt: skip
"""Common passwords with at least 12 characters."""


def generate_password() -> str:
    """Return a password of 100 random bits that is easy to read out and to type."""
    return random_code(groups=5)


def password_problem(password: str, *, username: str, tenant: str) -> str | None:
    """Return the problem of a new password; None if it is allowed.

    `tenant` is the slug of the user's tenant.
    """
    text = _normalize(password)
    if not MIN_LENGTH <= len(text) <= MAX_LENGTH:
        return f"must have {MIN_LENGTH} to {MAX_LENGTH} characters"
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in text):
        return "must not contain control characters"
    plain = text.casefold()
    if plain in {username, tenant, f"{username}@{tenant}"}:
        return "must not be the name of the user or of the company"
    if plain in _COMMON_PASSWORDS or len(set(plain)) == 1:
        return "is too common; choose another password"
    return None


def hash_password(password: str) -> str:
    """Return the hash of a password with a random salt, about 100 characters, for `verify`.

    The password is normalized (NFKC), so that a letter with an accent is the same whether it was
    typed as one character or as two.
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


def is_hash(text: str) -> bool:
    """Return whether a text has exactly the form of a result of `hash_password`."""
    prefix, rest = text[: len(_PHC_PREFIX)], text[len(_PHC_PREFIX) :]
    return prefix == _PHC_PREFIX and _SALT_AND_HASH.fullmatch(rest) is not None


def verify(password: str, stored: str | None) -> bool:
    """Return whether a presented password, of any content and length, matches a stored hash.

    The hash is None if the user does not exist. That takes as long as a wrong password, and so does
    a hash of another form, whose parameters would decide what a check costs.
    """
    from cryptography.exceptions import InvalidKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id  # noqa: PLC0415

    presented = _normalize(password[:_MAX_PRESENTED_LENGTH]).encode(errors="surrogatepass")
    known = stored if stored is not None and is_hash(stored) else None
    try:
        Argon2id.verify_phc_encoded(presented, known or _DUMMY_HASH)
    except InvalidKey:
        return False
    return known is not None and len(password) <= _MAX_PRESENTED_LENGTH


def _normalize(password: str) -> str:
    return unicodedata.normalize("NFKC", password)
