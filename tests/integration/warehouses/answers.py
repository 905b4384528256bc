"""Helpers to read responses in these tests."""

from typing import Any


def codes(rows: list[dict[str, Any]]) -> list[str]:
    """Return the codes of positions or warehouses."""
    return [row.get("bin_code", row["whs_code"]) for row in rows]
