"""Recovery codes, each of which replaces a code of the authenticator app once.

They have 80 random bits, so that a fast hash is enough: unlike passwords they cannot be guessed.
The salt makes the hashes of different users incomparable.
"""

import hmac
import os
from collections.abc import Iterable

from shared.identity.users.readable_codes import normalize, random_code

COUNT = 10
_SALT_BYTES = 16


def new_codes() -> list[str]:
    """Return the codes of an enrolment, such as `k7m2-9xqd-b4ft-w0nz`."""
    return [random_code(groups=4, size=4) for _ in range(COUNT)]


def new_salt() -> bytes:
    """Return a random salt for the codes of an enrolment."""
    return os.urandom(_SALT_BYTES)


def hashes_of(codes: Iterable[str], salt: bytes) -> frozenset[str]:
    """Return the salted hashes of codes, as they are stored."""
    return frozenset(code_hash(code, salt) for code in codes)


def code_hash(code: str, salt: bytes) -> str:
    """Return the salted hash of a code, in hexadecimal digits.

    Args:
        code: The presented code, of any content; case, spaces and hyphens do not matter.
        salt: The salt of the enrolment.
    """
    return hmac.digest(salt, normalize(code).encode(errors="surrogatepass"), "sha256").hex()
