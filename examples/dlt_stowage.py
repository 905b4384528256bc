"""Load lists of Stowage into a database or warehouse, with dlt (https://dlthub.com).

STOWAGE_URL=… STOWAGE_CLIENT_ID=… STOWAGE_CLIENT_SECRET=… python -m examples.dlt_stowage [DATABASE]

Needs `pip install "dlt[duckdb]" httpx`. The first run loads all rows; each further one what has
changed, deletions included. dlt stores the position with the rows, so a run may be killed at any
moment. Take another `destination` to load elsewhere.
"""

import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import dlt
from dlt.pipeline.exceptions import PipelineStepFailed
from stowage_client import Stowage

LISTS = {
    "product": "/products",
    "entry_document": "/entry-documents",
    "exit_document": "/exit-documents",
    "receipt": "/receipts",
    "picking": "/pickings",
    "stock": "/stocks",
    "stock_level": "/stock-levels",
    "stock_movement": "/stock-movements",
}
"""The lists that are loaded, by object: each becomes a table."""

QUANTITIES = {
    *("qty", "unit_qty", "open_qty", "received_qty", "picked_qty"),
    *("on_hand", "available", "allocated", "committed", "incoming", "in_transit"),
    *("held", "quarantine", "sellable"),
}
"""Decimals. A loader that looks at the first rows takes them for whole numbers, and adds a second
column when the first 2.5 arrives."""


class StartAgain(Exception):
    """The position is too old, or the company was restored: load everything anew."""


@dlt.resource(
    name="changes",
    primary_key="id",
    write_disposition={"disposition": "merge", "strategy": "delete-insert"},
    columns={
        "is_deleted": {"data_type": "bool", "hard_delete": True},
        "version": {"data_type": "bigint", "dedup_sort": "desc"},  # of several, the newest
    },
)
def changes(stowage: Stowage) -> Iterator[Any]:
    """Yield the rows that have changed, each for the table of its list."""
    state = dlt.current.resource_state()
    for page in stowage.follow(state.get("position"), LISTS):
        if page.is_snapshot and "position" in state:
            raise StartAgain
        for change in page.changes:
            table = LISTS[change["object"]].strip("/").replace("-", "_")
            yield dlt.mark.with_table_name(_row(change), table)
        state["position"] = page.position


def _row(change: dict[str, Any]) -> dict[str, Any]:
    shown, known = change["resource"], {"id": change["id"], "version": change["version"]}
    return {**known, **_decimals(shown or {}), "is_deleted": shown is None}


def _decimals(value: Any, name: str = "") -> Any:
    """Return a value with decimals for quantities, at any depth, and without nulls."""
    if isinstance(value, dict):
        return {key: _decimals(one, key) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_decimals(one, name) for one in value]
    is_quantity = name in QUANTITIES and isinstance(value, int | float)
    return Decimal(str(value)) if is_quantity else value


def load(pipeline: dlt.Pipeline, stowage: Stowage) -> None:
    """Load what has changed since the last run."""
    try:
        pipeline.run(changes(stowage))
    except PipelineStepFailed as failure:
        causes = (failure, failure.__cause__, getattr(failure.__cause__, "__cause__", None))
        if not any(isinstance(cause, StartAgain) for cause in causes):
            raise
        pipeline.run(changes(stowage), refresh="drop_sources")


if __name__ == "__main__":
    url, client_id, secret = (
        os.environ[f"STOWAGE_{name}"] for name in ("URL", "CLIENT_ID", "CLIENT_SECRET")
    )
    name = sys.argv[1] if len(sys.argv) > 1 else "stowage"
    to = dlt.destinations.duckdb(f"{name}.duckdb")
    load(dlt.pipeline(name, destination=to, dataset_name="lists"), Stowage(url, client_id, secret))
