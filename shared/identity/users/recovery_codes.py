"""Recovery codes: each stands in for the telephone once, when it is lost.

They are 80 random bits, so a fast hash is enough: there is nothing to guess them by, as there
is with passwords. The salt makes the hashes of one user worth nothing against those of another.
"""

import hmac
import os

from shared.identity.users.readable_codes import normalize, random_code

COUNT = 10
_SALT_BYTES = 16


def new_codes() -> list[str]:
    """Make the codes of an enrolment: `k7m2-9xqd-b4ft-w0nz`."""
    return [random_code(groups=4, size=4) for _ in range(COUNT)]


def new_salt() -> bytes:
    """Make the salt of an enrolment."""
    return os.urandom(_SALT_BYTES)


def code_hash(code: str, salt: bytes) -> str:
    """Hash a code, in hexadecimal digits.

    Args:
        code: Anything that a caller sent; case, spaces and hyphens do not matter.
        salt: Of the enrolment.
    """
    return hmac.digest(salt, normalize(code).encode(errors="surrogatepass"), "sha256").hex()
