"""moto, made affordable for tests that each want a stack of their own.

Nothing of what a call does or answers changes; `tests/integration/test_quick_moto.py` puts
the same questions to moto as it is and to moto with these short cuts.

- `door`: a call of DynamoDB's data reaches moto's handler without the way over HTTP.
- `attributes`, `calls`: botocore asks its models less, and signs nothing.
- `items`: items are measured once, and compared and projected as what they are, mostly text.
- `expressions`: an expression is read once, and its tree is walked without detours.
- `tables`: queries look at the partition they ask for; transactions, and whoever keeps a
  table for later, share the items that stay as they are.
- moto makes an RSA key for every HMAC key, and never uses it; one for all will do.
- moto tries the addresses of all services, one after the other; here it begins with those
  that are called most. What is sent with `requests` it need not catch: nothing here is.
"""

from functools import cache
from typing import Any

import pytest
from moto.backend_index import backend_url_patterns
from moto.core.utils import camelcase_to_underscores
from moto.kms.utils import generate_private_key

from tests.quick_moto import attributes, calls, door, expressions, items, tables
from tests.quick_moto.tables import Snapshot, stored

__all__ = ["Snapshot", "install", "stored"]

_HMAC = "HMAC_256"
_FIRST = {"dynamodb", "kms", "s3", "sqs", "sts"}
_ADDRESSES = sorted(backend_url_patterns, key=lambda address: address[0] not in _FIRST)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save moto needless work until the test ends."""
    monkeypatch.setattr("moto.kms.models.generate_private_key", _private_key)
    monkeypatch.setattr("moto.core.models.RESPONSES_METHODS", [])
    monkeypatch.setattr("moto.backend_index.backend_url_patterns", _ADDRESSES)
    for module in ("moto.core.responses", "moto.sqs.models"):
        monkeypatch.setattr(f"{module}.camelcase_to_underscores", cache(camelcase_to_underscores))
    for part in (attributes, calls, door, items, expressions, tables):
        part.install(monkeypatch)


def _private_key(key_spec: str) -> Any:
    return _unused_key() if key_spec == _HMAC else generate_private_key(key_spec)


@cache
def _unused_key() -> Any:
    return generate_private_key(_HMAC)
