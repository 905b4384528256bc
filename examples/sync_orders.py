"""Keeps up with the entry documents: prints each one that is new or changed, as a line of JSON.

STOWAGE_URL=… STOWAGE_CLIENT_ID=… STOWAGE_CLIENT_SECRET=… python sync_orders.py [STATE_FILE]
"""

import json
import os
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from examples.stowage_client import Stowage

OVERLAP = timedelta(seconds=30)
"""A change may appear as late as its request may take; asking again for the time misses none."""


def sync(stowage: Stowage, state: Path, take: Callable[[dict[str, Any]], object]) -> None:
    """Take what changed since the last run, and remember in `state` how far this one came.

    `take` gets the documents of the overlap again, and all of them after a run that failed:
    it must put them where one of the same `id` replaces the one before.
    """
    since = {}
    if state.exists():
        since["updated_since"] = (datetime.fromisoformat(state.read_text()) - OVERLAP).isoformat()
    # Before the walk: what changes while it goes on belongs to the next run.
    newest = stowage.get("/entry-documents", sort="-updated_at", per_page=1)
    for document in stowage.each("/entry-documents", sort="updated_at", **since):
        take(document)
    for document in newest:
        beside = state.with_suffix(".new")
        beside.write_text(document["updated_at"])
        beside.replace(state)


if __name__ == "__main__":
    url, client_id, secret = (
        os.environ[f"STOWAGE_{name}"] for name in ("URL", "CLIENT_ID", "CLIENT_SECRET")
    )
    sync(
        Stowage(url, client_id, secret),
        Path(sys.argv[1] if len(sys.argv) > 1 else "sync_orders.state"),
        lambda document: sys.stdout.write(json.dumps(document) + "\n"),
    )
