"""Recovery codes, each of which replaces a code of the authenticator app once.

They have 80 random bits, so that a fast hash is enough: unlike passwords they cannot be guessed.
The salt makes the hashes of different users incomparable.
"""

import hmac
import os
import secrets
from collections.abc import Iterable

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 alphabet: 5 bits per character, without look-alikes."""
_LOOK_ALIKE = str.maketrans("oil", "011")


def random_code(*, groups: int) -> str:
    """Return a random code in groups of four characters, such as `k7m2-9xqd`."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(groups))


def normalize(typed: str) -> str:
    """Return a typed code without hyphens, spaces, upper case and look-alike letters."""
    plain = "".join(typed.split()).replace("-", "").lower()
    return plain.translate(_LOOK_ALIKE)


COUNT = 10
_SALT_BYTES = 16


def new_codes() -> list[str]:
    """Return the codes of an enrolment, such as `k7m2-9xqd-b4ft-w0nz`."""
    return [random_code(groups=4) for _ in range(COUNT)]


def new_salt() -> bytes:
    """Return a random salt for the codes of an enrolment."""
    return os.urandom(_SALT_BYTES)


def hashes_of(codes: Iterable[str], salt: bytes) -> frozenset[str]:
    """Return the salted hashes of codes, as they are stored."""
    return frozenset(code_hash(code, salt) for code in codes)


def code_hash(code: str, salt: bytes) -> str:
    """Return the salted hash of a code, in hexadecimal digits.

    The code may have any content; case, spaces and hyphens do not matter.
    """
    return hmac.digest(salt, normalize(code).encode(errors="surrogatepass"), "sha256").hex()
