"""The actions of counts."""

from shared.kernel.action_table import ActionTable, StateAction
from shared.warehouse.counts.models import CountStatus, StoredCount, count_code


def _posting(count: StoredCount) -> str | None:
    if not count.to_post:
        return None
    code, left = count_code(count.id), len(count.to_post)
    return f"{code} is being posted, {left} of its differences are left; post it again."


ACTIONS = ActionTable[StoredCount, CountStatus](
    CountStatus,
    lambda count: f"Count {count_code(count.id)}",
    StateAction("lines", ["open", "counting"], ["counting"]),
    StateAction("finish", ["counting"], ["counted"]),
    StateAction("recount", ["counting", "counted"], ["counting"], unless=_posting),
    StateAction("post", ["counted"], ["posted", "counting"]),
    StateAction("cancel", ["open", "counting", "counted"], ["cancelled"], unless=_posting),
)
"""A count whose posting was interrupted admits only that it is posted."""
