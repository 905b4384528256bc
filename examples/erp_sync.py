"""A two-way synchronisation with the database of an ERP, for which a SQLite file stands.

STOWAGE_URL=… STOWAGE_CLIENT_ID=… STOWAGE_CLIENT_SECRET=… python erp_sync.py [DATABASE]

Orders go in, progress and stock come out. Run it every minute, one process at a time. It may be
killed at any moment: the next run continues, and nothing is created or booked twice.
"""

import json
import os
import sqlite3
import sys
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from examples.stowage_client import Stowage, StowageError

LISTS = {
    "/products": ("id",),
    "/entry-documents": ("id",),
    "/exit-documents": ("id",),
    "/receipts": ("id",),
    "/stock-levels": ("product_id", "whs_code"),
}
"""The lists that the ERP copies, and the fields that identify a row."""

_TABLES = """
CREATE TABLE IF NOT EXISTS outgoing (
    key TEXT PRIMARY KEY, path TEXT, body TEXT, sent_as INTEGER, problem TEXT, waits INTEGER);
CREATE TABLE IF NOT EXISTS copies (path TEXT, id TEXT, row TEXT, PRIMARY KEY (path, id));
CREATE TABLE IF NOT EXISTS positions (path TEXT PRIMARY KEY, updated_at TEXT);
CREATE TABLE IF NOT EXISTS booked_receipts (id INTEGER PRIMARY KEY, row TEXT);
CREATE TABLE IF NOT EXISTS booked_lines (receipt_id INTEGER, document TEXT, line TEXT, qty REAL);
"""


def open_database(path: str) -> sqlite3.Connection:
    """Open the database and create its tables."""
    database = sqlite3.connect(path)
    database.executescript(_TABLES)
    return database


def enqueue_order(database: sqlite3.Connection, path: str, body: Mapping[str, Any]) -> None:
    """Store an order to send, with its key: in an ERP, in the transaction that releases it."""
    row = (str(uuid.uuid4()), path, json.dumps(body))
    with database:
        database.execute("INSERT INTO outgoing (key, path, body) VALUES (?, ?, ?)", row)


def may_pass_later(refusal: StowageError) -> bool:
    """Return whether an order is refused only for codes, which may not exist yet."""
    codes = ("item_code", "gtin", "warehouse_code")
    return refusal.code == "validation_failed" and all(
        field.endswith(codes) for field in refusal.problems
    )


def send_orders(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Send the orders that have no answer yet. A refusal stays in `problem` for a person.

    An order whose product or warehouse may not exist yet is sent again in the next run. An order
    that the service cannot answer waits for the next run, too, and does not stop the others; if it
    answers none, the run ends.
    """
    waiting = database.execute(
        "SELECT key, path, body FROM outgoing WHERE sent_as IS NULL AND (problem IS NULL OR waits)"
    ).fetchall()
    failures: list[Exception] = []
    for key, path, body in waiting:
        sent_as, problem, waits = None, None, False
        try:
            answer = stowage.send("POST", path, key=key, json=json.loads(body)).json()
            # A warning: the reference exists with another content, which stays as it is.
            sent_as, problem = answer["data"]["id"], answer.get("warning")
        except StowageError as refusal:
            if refusal.answer.is_server_error or refusal.code == "duplicate_in_flight":
                failures.append(refusal)
                continue
            if refusal.status not in {413, 422}:
                raise  # The order is not the cause: send it in the next run.
            problem, waits = f"{refusal} {refusal.problems}", may_pass_later(refusal)
        except httpx.TransportError as failure:
            failures.append(failure)
            continue
        with database:
            database.execute(
                "UPDATE outgoing SET sent_as = ?, problem = ?, waits = ? WHERE key = ?",
                (sent_as, problem, waits, key),
            )
    if failures and len(failures) == len(waiting):
        raise failures[-1]


def copy_changes(stowage: Stowage, database: sqlite3.Connection, path: str) -> None:
    """Copy the rows of a list that changed since the last run, and store the new position."""
    found = database.execute("SELECT updated_at FROM positions WHERE path = ?", (path,))
    known = found.fetchone()
    position, rows = stowage.changes(path, known[0] if known else None)
    for row in rows:
        number = " ".join(str(row[name]) for name in LISTS[path])
        with database:
            database.execute(
                "INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", (path, number, json.dumps(row))
            )
    with database:
        database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", (path, position))


def remove_deleted(stowage: Stowage, database: sqlite3.Connection, path: str) -> None:
    """Remove the copies of what was deleted; once a day is enough."""
    copied = database.execute("SELECT id FROM copies WHERE path = ?", (path,)).fetchall()
    listed = {str(row["id"]) for row in stowage.each(path)}
    for number in {number for (number,) in copied} - listed:
        try:
            stowage.get(f"{path}/{number}")
        except StowageError as refusal:
            if refusal.code != "gone":
                raise
            with database:
                database.execute("DELETE FROM copies WHERE path = ? AND id = ?", (path, number))


def book_receipts(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Book each finalized receipt once, and tell Stowage that the ERP has it."""
    # All of them first: the list changes with each receipt that is synchronized.
    for receipt in list(stowage.each("/receipts", status="finalized", sort="finalized_at")):
        path = f"/receipts/{receipt['id']}"
        detail = stowage.get(path)
        if detail["document"]["type"] == "transfer_order":
            continue  # The list of transfer orders shows it.
        with database:  # The primary key makes sure that a receipt is booked once.
            booked = database.execute(
                "INSERT OR IGNORE INTO booked_receipts VALUES (?, ?)",
                (receipt["id"], json.dumps(detail)),
            )
            if booked.rowcount:
                database.executemany("INSERT INTO booked_lines VALUES (?, ?, ?, ?)", _lines(detail))
        try:
            stowage.post(f"{path}/synchronize")
        except StowageError as refusal:
            # It is synchronized already, or it was reverted, which its copy shows.
            if refusal.code != "stale_state":
                raise


def _lines(receipt: Mapping[str, Any]) -> Iterator[tuple[int, str, str, float]]:
    """Yield what a receipt books: its id, the ERP's numbers of order and line, and a quantity."""
    order = receipt["document"]["external_ref"]
    for line in receipt["lines"]:
        for fill in line["fills"]:
            number = fill["external_ref"] or str(fill["line_num"])
            yield receipt["id"], order, number, fill["qty"]


def run(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Synchronise once, in both directions."""
    send_orders(stowage, database)
    book_receipts(stowage, database)
    for path in LISTS:
        copy_changes(stowage, database, path)
    remove_deleted(stowage, database, "/products")


if __name__ == "__main__":
    url, client_id, secret = (
        os.environ[f"STOWAGE_{name}"] for name in ("URL", "CLIENT_ID", "CLIENT_SECRET")
    )
    run(
        Stowage(url, client_id, secret),
        open_database(sys.argv[1] if len(sys.argv) > 1 else "erp.db"),
    )
