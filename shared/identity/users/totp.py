"""Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 6 digits, 30 seconds.

These are the values that every app knows; several ignore any others that an address names.
"""

import base64
import hmac
import secrets
from urllib.parse import quote, urlencode

DIGITS = 6
PERIOD = 30
"""Seconds."""

_DRIFT = 1
"""Periods that a telephone's clock may be off, either way."""
_SECRET_BYTES = 20
_ISSUER = "Stowage"


def new_secret() -> bytes:
    """Make a secret of 160 random bits, the length of the hash (RFC 4226, section 4)."""
    return secrets.token_bytes(_SECRET_BYTES)


def base32_text(secret: bytes) -> str:
    """Write a secret as people type it into an app: 32 characters of base32."""
    return base64.b32encode(secret).decode()


def otpauth_uri(secret: bytes, login_name: str) -> str:
    """Make the address whose QR code an authenticator app scans.

    Args:
        secret: Of the enrolment.
        login_name: `username@slug`, which the app shows beside the code.
    """
    facts = {
        "secret": base32_text(secret),
        "issuer": _ISSUER,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": PERIOD,
    }
    return f"otpauth://totp/{_ISSUER}:{quote(login_name, safe='')}?{urlencode(facts)}"


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a step, the number of periods since the epoch (RFC 4226, section 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8), "sha1")
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def accepted_step(secret: bytes, code: str, now: float, last_step: int) -> int | None:
    """Return the step whose code was given, None when it is not to be accepted.

    Every step is compared, and in constant time. Whoever accepts it stores it as the last one,
    on the condition that it is still later than that: so a code works once.

    Args:
        secret: Of the enrolment.
        code: Anything that a caller sent.
        now: Seconds since the epoch.
        last_step: The step accepted last; 0 when none was.
    """
    current = int(now) // PERIOD
    presented = code.encode(errors="surrogatepass")
    found = None
    for step in range(current - _DRIFT, current + _DRIFT + 1):
        equal = hmac.compare_digest(code_at(secret, step).encode(), presented)
        if equal and step > last_step:
            found = step
    return found
