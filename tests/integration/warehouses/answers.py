"""What tests of warehouses look for in an answer."""

from typing import Any

from tests.gateway import Response


def problems(answer: Response) -> dict[str, str]:
    """Field → message of a 422."""
    assert answer.status == 422, answer.text
    assert answer.code == "validation_failed"
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def codes(rows: list[dict[str, Any]]) -> list[str]:
    """Bin codes of positions, codes of warehouses."""
    return [row.get("bin_code", row["whs_code"]) for row in rows]
