"""Waiting until every invocation has ended that still uses an earlier item of a tenant."""

import time

from operations.progress import ReportProgress
from shared.identity.tenancy.directory import CACHE_SECONDS
from shared.kernel.clock import now_ms

_LONGEST_INVOCATION_SECONDS = 120
"""Timeout of the import worker, the longest of all functions."""

DRAIN_SECONDS = CACHE_SECONDS + _LONGEST_INVOCATION_SECONDS + 20
"""Seconds from a change of a tenant's item to the end of every invocation that had the tenant in
its cache before; 20 s are a margin for clock differences."""

_STEP_SECONDS = 5.0


def wait_for_running_invocations(slug: str, changed_at_ms: int, progress: ReportProgress) -> None:
    """Wait until every invocation that read the tenant before its item was changed has ended."""
    while (left := DRAIN_SECONDS - (now_ms() - changed_at_ms) / 1000) > 0:
        progress(f"waiting for running requests of {slug} to end: {left:.0f} s")
        time.sleep(min(left, _STEP_SECONDS))
