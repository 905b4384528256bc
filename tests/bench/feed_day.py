"""What the feed of changes costs in a day: the day of the bench with it and without it.

python -m tests.bench.feed_day
"""

import pytest

from shared.kernel.db import outbox_item
from tests.bench import day


def _cost() -> tuple[float, float]:
    """Return the USD of a day: for DynamoDB, and for all."""
    [table] = day.measure()
    *_, dynamodb, everything = table.rows[-1].cells
    return float(dynamodb), float(everything)


def _main() -> None:
    with_feed = _cost()
    with pytest.MonkeyPatch.context() as patch:
        # As in a table of an earlier schema: transactions note no changes, and the relay has none.
        patch.setattr(outbox_item.OutboxItems, "_are_noted", lambda _: False)
        without = _cost()
    names = ("DynamoDB", "all")
    for name, one, other in zip(names, with_feed, without, strict=True):
        difference = f"{one:.3f} USD with the feed, {other:.3f} without, {one - other:.3f} more"
        print(f"{name}: {difference}")  # noqa: T201 - the result


if __name__ == "__main__":
    _main()
