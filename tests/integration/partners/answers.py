"""Helpers to read responses in these tests."""

from typing import Any


def ids(rows: list[dict[str, Any]]) -> list[int]:
    """Return the ids of rows."""
    return [row["id"] for row in rows]
