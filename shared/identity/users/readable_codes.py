"""Random texts that people read, write down and type."""

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's: 5 bits each, without those that look alike."""
_LOOK_ALIKE = str.maketrans("oil", "011")


def random_code(*, groups: int, size: int) -> str:
    """Make a random text of 5 bits a character, in groups: `k7m2-9xqd`."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(size)) for _ in range(groups))


def normalize(typed: str) -> str:
    """Undo what people do to such a text; hyphens are left out, too."""
    plain = "".join(typed.split()).replace("-", "").lower()
    return plain.translate(_LOOK_ALIKE)
