"""Print each entry document that is new or changed since the last run, as a line of JSON.

STOWAGE_URL=… STOWAGE_CLIENT_ID=… STOWAGE_CLIENT_SECRET=… python -m examples.sync_orders [FILE]
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from examples.stowage_client import Stowage, StowageError


def sync(stowage: Stowage, state: Path, take: Callable[[dict[str, Any]], object]) -> None:
    """Pass every document changed since the last run to `take`; store the position in `state`.

    `take` receives documents of the overlap again, and all documents after a failed run. It must
    store each document so that it replaces an earlier one with the same `id`.
    """
    position, documents = stowage.changes(
        "/entry-documents", state.read_text() if state.exists() else None
    )
    for document in documents:
        take(document)
    if position:
        part = state.with_suffix(".new")
        part.write_text(position)
        part.replace(state)


def main() -> None:
    """Run the program; an error ends it with one sentence."""
    names = ("STOWAGE_URL", "STOWAGE_CLIENT_ID", "STOWAGE_CLIENT_SECRET")
    if missing := [name for name in names if name not in os.environ]:
        sys.exit(f"Set {', '.join(missing)}.")
    url, client_id, secret = (os.environ[name] for name in names)
    try:
        sync(
            Stowage(url, client_id, secret),
            Path(sys.argv[1] if len(sys.argv) > 1 else "sync_orders.state"),
            lambda document: sys.stdout.write(json.dumps(document) + "\n"),
        )
    except (StowageError, httpx.TransportError) as problem:
        sys.exit(f"{url}: {problem}")


if __name__ == "__main__":
    main()
