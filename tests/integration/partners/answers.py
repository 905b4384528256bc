"""Helpers to read responses in these tests."""

from typing import Any

from tests.gateway import Response


def problems(answer: Response) -> dict[str, str]:
    """Return the messages of a 422 response by field."""
    assert answer.status == 422, answer.text
    assert answer.code == "validation_failed"
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def ids(rows: list[dict[str, Any]]) -> list[int]:
    """Return the ids of rows."""
    return [row["id"] for row in rows]
