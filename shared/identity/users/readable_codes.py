"""Random codes that people read, write down and type."""

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base32 alphabet: 5 bits per character, without look-alikes."""
_LOOK_ALIKE = str.maketrans("oil", "011")


def random_code(*, groups: int, size: int) -> str:
    """Return a random code in groups of `size` characters, such as `k7m2-9xqd`."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(size)) for _ in range(groups))


def normalize(typed: str) -> str:
    """Return a typed code without hyphens, spaces, upper case and look-alike letters."""
    plain = "".join(typed.split()).replace("-", "").lower()
    return plain.translate(_LOOK_ALIKE)
