"""Bodies of transfers for the tests, and the problems of refused ones."""

from typing import Any

PATH = "/transfers"
LINE = {"item_code": "BRICK", "qty": 4, "from_bin": "A-01", "to_bin": "B-01"}


def body(*lines: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return a transfer within YARD; of 4 bricks unless lines are given."""
    shown = [{**LINE, **line} for line in lines] or [LINE]
    return {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": shown, **more}
