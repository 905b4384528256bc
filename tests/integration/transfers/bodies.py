"""Bodies of transfers for the tests, and the problems of refused ones."""

from typing import Any

from tests.gateway import Response
from tests.stack import Stack

PATH = "/transfers"
LINE = {"item_code": "BRICK", "qty": 4, "from_bin": "A-01", "to_bin": "B-01"}


def body(*lines: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return a transfer within YARD; of 4 bricks unless lines are given."""
    shown = [{**LINE, **line} for line in lines] or [LINE]
    return {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": shown, **more}


def problems(answer: Response) -> dict[str, str]:
    """Return the messages of the problems of a refused body, by field."""
    assert answer.status == 422, answer.text
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def stored_items(stack: Stack) -> list[Any]:
    """Return all stored items but the sequences of ids."""
    return [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]
