"""Load lists into DuckDB with examples/dlt_stowage.py: all, what changed, and all again.

Run by test_dlt.py with dlt, which the tests do not install. Reads BASE_URL, CLIENT_ID,
CLIENT_SECRET and RUN from the environment.
"""

import os

import dlt
from stowage_client import Stowage

from examples.dlt_stowage import load

_RUN = os.environ["RUN"]
_STOWAGE = Stowage(*(os.environ[name] for name in ("BASE_URL", "CLIENT_ID", "CLIENT_SECRET")))


def loaded(pipeline: dlt.Pipeline, sql: str) -> list[tuple[object, ...]]:
    """Load, then return the rows of a query."""
    load(pipeline, _STOWAGE)
    with pipeline.sql_client() as client:
        return [*client.execute_sql(sql)]


def main() -> None:
    """Compare tables with lists."""
    destination = dlt.destinations.duckdb("copy.duckdb")
    pipeline = dlt.pipeline("stowage", destination=destination, dataset_name="lists")
    products = "SELECT id, item_code, version FROM products"
    first = loaded(pipeline, products)
    assert len(first) > 400, len(first)

    kept = _STOWAGE.post("/products", {"item_code": f"DLT-{_RUN}", "name": "Kept"})["id"]
    gone = _STOWAGE.post("/products", {"item_code": f"DLX-{_RUN}", "name": "Gone"})["id"]
    _STOWAGE.sleep(5)
    assert {kept, gone} <= {row[0] for row in loaded(pipeline, products)}
    _STOWAGE.patch(f"/products/{kept}", {"name": "Kept for long"})
    _STOWAGE.send("DELETE", f"/products/{gone}")
    _STOWAGE.sleep(5)
    by_id = {row[0]: row for row in loaded(pipeline, products)}
    assert by_id[kept] == (kept, f"DLT-{_RUN}", 2)
    assert gone not in by_id

    types = loaded(
        pipeline,
        "SELECT DISTINCT data_type FROM information_schema.columns"
        " WHERE column_name IN ('qty', 'on_hand', 'sellable')",
    )
    assert [name.split("(")[0] for (name,) in types] == ["DECIMAL"], types

    # As after a restore, which begins another epoch.
    follow = Stowage.follow
    Stowage.follow = lambda self, at, lists: follow(self, at and "1:0", lists)
    again = {row[0] for row in loaded(pipeline, products)}
    assert kept in again
    assert gone not in again
    print("loaded")  # noqa: T201 - read by the test


if __name__ == "__main__":
    main()
