"""TOTP codes of authenticator apps (RFC 6238): SHA-1, 6 digits, 30 seconds.

Every app supports these values; several apps ignore other values in the otpauth URI.
"""

import base64
import hmac
import secrets
from urllib.parse import quote, urlencode

DIGITS = 6
PERIOD = 30
"""Seconds that a code is current."""

_DRIFT = 1
"""Periods that the clock of the app may be ahead or behind."""
_SECRET_BYTES = 20
_ISSUER = "Stowage"


def new_secret() -> bytes:
    """Return a secret of 160 random bits, the length of the hash (RFC 4226, section 4)."""
    return secrets.token_bytes(_SECRET_BYTES)


def base32_text(secret: bytes) -> str:
    """Return a secret as 32 characters of base32, to be typed into an app."""
    return base64.b32encode(secret).decode()


def otpauth_uri(secret: bytes, login_name: str) -> str:
    """Return the otpauth URI that an authenticator app scans as a QR code.

    The app shows `login_name` (`username@slug`) beside the code.
    """
    parameters = {
        "secret": base32_text(secret),
        "issuer": _ISSUER,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": PERIOD,
    }
    return f"otpauth://totp/{_ISSUER}:{quote(login_name, safe='')}?{urlencode(parameters)}"


def code_at(secret: bytes, step: int) -> str:
    """Return the code of a time step, the number of periods since the epoch (RFC 4226, 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8), "sha1")
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def accepted_step(secret: bytes, code: str, now: float, last_step: int) -> int | None:
    """Return the time step of a presented code; None if the code is wrong or was used.

    All allowed steps are compared, in constant time. To make a code usable only once, store the
    returned step as the last one, on the condition that the stored step is unchanged. The code may
    have any content; `now` is in seconds since the epoch, `last_step` is 0 if no step was accepted
    yet.
    """
    current = int(now) // PERIOD
    presented = code.encode(errors="surrogatepass")
    found = None
    for step in range(current - _DRIFT, current + _DRIFT + 1):
        equal = hmac.compare_digest(code_at(secret, step).encode(), presented)
        if equal and step > last_step:
            found = step
    return found
