"""What the tests of transfers share: how one is written, and what is wrong with one."""

from typing import Any

from tests.gateway import Response
from tests.stack import Stack

PATH = "/transfers"
LINE = {"item_code": "BRICK", "qty": 4, "from_bin": "A-01", "to_bin": "B-01"}


def body(*lines: dict[str, Any], **more: object) -> dict[str, Any]:
    """Write a transfer inside YARD; of 4 bricks unless lines are given."""
    shown = [{**LINE, **line} for line in lines] or [LINE]
    return {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": shown, **more}


def problems(answer: Response) -> dict[str, str]:
    """Problems of a refused body by their fields."""
    assert answer.status == 422, answer.text
    return {problem["field"]: problem["message"] for problem in answer.json()["errors"]}


def unchanged(stack: Stack) -> list[Any]:
    """All that is stored but the numbers drawn for what was not made."""
    return [item for item in stack.items() if not item["PK"]["S"].startswith("sequence")]
