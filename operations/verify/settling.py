"""Confirmation of drifts: only what is read twice, with nothing changed between, is a finding.

Requests change a table while it is read, and an index shows a change moments later. So a drift is
suspected first, and looked at again after a pause that is longer than any lag of an index. It is
confirmed if it is the same, and the versions of everything that it was read from are the same.
"""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from operations.verify.findings import Drift, Drifts
from shared.kernel.db.lists.bookmarks import LAG_MS

PAUSE_SECONDS = LAG_MS / 1000
"""Seconds between two looks at the same subject."""
TRIES = 12
"""Looks at a subject that keeps changing, before it is given up as unsettled."""

type Look[S: Hashable] = Callable[[Sequence[S]], Drifts[S]]
"""Reads subjects and returns their drifts."""


@dataclass(slots=True)
class Settled[S: Hashable]:
    """The confirmed drifts by subject, and the subjects that kept changing."""

    confirmed: dict[S, list[Drift]] = field(default_factory=dict)
    unsettled: list[S] = field(default_factory=list)


def settle[S: Hashable](
    look: Look[S], suspected: Drifts[S], keep: Callable[[], None]
) -> Settled[S]:
    """Look at suspected drifts again until each is confirmed or gone.

    Args:
        look: Reads subjects again.
        suspected: The drifts of a first look.
        keep: Called before each pause, to keep a lease.
    """
    settled = Settled[S]()
    for _ in range(TRIES):
        if not suspected:
            return settled
        keep()
        time.sleep(PAUSE_SECONDS)
        again, changing = look(list(suspected)), dict[S, list[Drift]]()
        for subject, drifts in again.items():
            confirmed = settled.confirmed.setdefault(subject, [])
            known = {drift.name for drift in confirmed}
            before = set(suspected[subject])
            new = [drift for drift in drifts if drift.name not in known]
            confirmed += [drift for drift in new if drift in before]
            if left := [drift for drift in new if drift not in before]:
                changing[subject] = left
        suspected = changing
    settled.unsettled += suspected
    return settled
