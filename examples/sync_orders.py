"""Print each entry document that is new or changed since the last run, as a line of JSON.

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
"""A change becomes visible when its request ends, up to 30 s after its `updated_at`; the overlap
makes sure that no change is missed."""


def sync(stowage: Stowage, state: Path, take: Callable[[dict[str, Any]], object]) -> None:
    """Pass every document changed since the last run to `take`; store the position in `state`.

    `take` receives documents of the overlap again, and all documents after a failed run. It must
    store each document so that it replaces an earlier one with the same `id`.
    """
    since = {}
    if state.exists():
        since["updated_since"] = (datetime.fromisoformat(state.read_text()) - OVERLAP).isoformat()
    # Read before the list: changes during this run belong to the next one.
    newest = stowage.get("/entry-documents", sort="-updated_at", per_page=1)
    for document in stowage.each("/entry-documents", sort="updated_at", **since):
        take(document)
    for document in newest:
        part = state.with_suffix(".new")
        part.write_text(document["updated_at"])
        part.replace(state)


if __name__ == "__main__":
    url, client_id, secret = (
        os.environ[f"STOWAGE_{name}"] for name in ("URL", "CLIENT_ID", "CLIENT_SECRET")
    )
    sync(
        Stowage(url, client_id, secret),
        Path(sys.argv[1] if len(sys.argv) > 1 else "sync_orders.state"),
        lambda document: sys.stdout.write(json.dumps(document) + "\n"),
    )
