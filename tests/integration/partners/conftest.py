from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.gateway import Erp

type Make = Callable[..., dict[str, Any]]


def ids(rows: list[dict[str, Any]]) -> list[int]:
    """Return the ids of rows."""
    return [row["id"] for row in rows]


@pytest.fixture
def create_client(erp: Erp) -> Make:
    """Return a function that creates a client; keywords are its fields."""
    numbers = count(999_000_100)

    def make(name: str = "Brindley", **more: object) -> dict[str, Any]:
        body = {"name": name, "document_id": next(numbers), **more}
        return erp.post("/clients", body).ok(201)

    return make
