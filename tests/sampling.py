"""Families of tests that repeat one mechanism: `make test` runs a sample, `make sweep` all.

A sample is every n-th case. Its first case depends on the name of the family, so that families
with similar cases try different ones; it is the same in every run and on every machine.
"""

import os
from collections.abc import Sequence
from zlib import crc32


def is_complete() -> bool:
    """Return whether this run tries all cases of every family (SWEEP=all, `make sweep`)."""
    return os.environ.get("SWEEP") == "all"


def sampled[T](family: str, cases: Sequence[T], *, every: int) -> list[T]:
    """Return every n-th case of a family in its order, at least one; all if the run is complete."""
    if is_complete():
        return list(cases)
    first = crc32(family.encode()) % min(every, len(cases) or 1)
    return list(cases[first::every])


def deadly_calls(family: str, operations: Sequence[str], *, every: int) -> list[int]:
    """Return the numbers of the calls after which a process dies: a sample of all calls.

    The call before the last transaction and that transaction, the commit, are always among them.
    """
    commits = [at for at, name in enumerate(operations) if name == "TransactWriteItems"]
    around = [at for at in range(commits[-1] - 1, commits[-1] + 1) if at >= 0] if commits else []
    return sorted({*sampled(family, range(len(operations)), every=every), *around})
