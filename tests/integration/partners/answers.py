"""What tests of partners look for in an answer."""

from typing import Any

from tests.gateway import Response


def problems(answer: Response) -> dict[str, str]:
    """Field → message of a 422."""
    assert answer.status == 422, answer.text
    assert answer.code == "validation_failed"
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def ids(rows: list[dict[str, Any]]) -> list[int]:
    """Ids of partners."""
    return [row["id"] for row in rows]
