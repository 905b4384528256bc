"""A two-way synchronisation with the database of an ERP, for which a SQLite file stands.

STOWAGE_URL=… STOWAGE_CLIENT_ID=… STOWAGE_CLIENT_SECRET=… python erp_sync.py [DATABASE]

Orders and their changes go in, progress and stock come out. Run it every minute, one process at a
time. It may be killed at any moment: the next run continues, and nothing is created, changed or
booked twice.
"""

import json
import os
import sqlite3
import sys
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
from stowage_client import Stowage, StowageError

OBJECTS = ("product", "entry_document", "exit_document", "receipt", "picking", "stock_level")
"""What the ERP copies: the objects of lists."""

_TABLES = """
CREATE TABLE IF NOT EXISTS outgoing (
    key TEXT PRIMARY KEY, path TEXT, body TEXT, sent_as INTEGER, problem TEXT, waits INTEGER);
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY, order_key TEXT, wanted TEXT, key TEXT, etag TEXT, body TEXT,
    done INTEGER, problem TEXT);
CREATE TABLE IF NOT EXISTS copies (object TEXT, id TEXT, row TEXT, PRIMARY KEY (object, id));
CREATE TABLE IF NOT EXISTS followed (number INTEGER PRIMARY KEY, position TEXT);
CREATE TABLE IF NOT EXISTS booked (path TEXT PRIMARY KEY, row TEXT);
CREATE TABLE IF NOT EXISTS booked_lines (path TEXT, document TEXT, line TEXT, qty REAL);
"""

CHANGEABLE = (
    *("due_date", "comments", "partner_name", "priority", "metadata"),
    *("ship_to", "ship_to_address", "carrier_code", "service_code"),
)
"""The fields of an order that a change may set; `lines` are compared one by one."""


def open_database(path: str) -> sqlite3.Connection:
    """Open the database and create its tables."""
    database = sqlite3.connect(path)
    database.executescript(_TABLES)
    return database


def enqueue_order(database: sqlite3.Connection, path: str, body: Mapping[str, Any]) -> str:
    """Store an order to send, with its key: in an ERP, in the transaction that releases it."""
    key = str(uuid.uuid4())
    row = (key, path, json.dumps(body))
    with database:
        database.execute("INSERT INTO outgoing (key, path, body) VALUES (?, ?, ?)", row)
    return key


def enqueue_change(database: sqlite3.Connection, order_key: str, order: Mapping[str, Any]) -> None:
    """Store that an order is now this one, in place of an earlier change that is not done.

    Each of its lines has an `external_ref`. Other codes, types or dates need another order.
    """
    with database:
        database.execute(
            "DELETE FROM changes WHERE order_key = ? AND done IS NOT TRUE", (order_key,)
        )
        database.execute(
            "INSERT INTO changes (order_key, wanted) VALUES (?, ?)", (order_key, json.dumps(order))
        )


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


def send_changes(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Change the sent orders that changed in the ERP.

    A change that meets work in the warehouse stays in `problem` and is computed again in the next
    run, and so does a refused one, until a person or a newer change replaces it.
    """
    waiting = database.execute(
        "SELECT number, path, sent_as, wanted, changes.key, etag, changes.body"
        " FROM changes JOIN outgoing ON order_key = outgoing.key"
        " WHERE sent_as IS NOT NULL AND done IS NOT TRUE"
    ).fetchall()
    for number, path, sent_as, wanted, *request in waiting:
        key, etag, body = request
        document = f"{path}/{sent_as}"
        if key is None:  # Else this request may have been sent: repeat it as it is.
            key, (etag, body) = str(uuid.uuid4()), _change(stowage, document, json.loads(wanted))
            with database:
                database.execute(
                    "UPDATE changes SET key = ?, etag = ?, body = ? WHERE number = ?",
                    (key, etag, body, number),
                )
        done, problem = True, None
        try:
            headers = {"If-Match": etag}
            stowage.send("PATCH", document, key=key, json=json.loads(body), headers=headers)
        except StowageError as refusal:
            if refusal.answer.is_server_error or refusal.code == "duplicate_in_flight":
                continue  # Repeat it in the next run.
            if refusal.status not in {409, 413, 422}:
                raise  # The change is not the cause: send it in the next run.
            done, problem = False, f"{refusal} {refusal.problems}"
        except httpx.TransportError:
            continue
        with database:  # A refused request is computed again, under a new key.
            database.execute(
                "UPDATE changes SET done = ?, problem = ?, key = NULL WHERE number = ?",
                (done, problem, number),
            )


def _change(stowage: Stowage, path: str, order: Mapping[str, Any]) -> tuple[str, str]:
    """Return the ETag of a document, and the change that makes it like an order."""
    answer = stowage.send("GET", path)
    change = {name: order[name] for name in CHANGEABLE if name in order}
    change["lines"] = list(_changed_lines(answer.json()["data"]["lines"], order["lines"]))
    if not change["lines"]:
        del change["lines"]
    return answer.headers["ETag"], json.dumps(change)


def _changed_lines(present: list[Any], wanted: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the lines that are new, have another quantity, or are not wanted any more."""
    by_number = {line["external_ref"]: line for line in present}
    for line in wanted:
        known = by_number.pop(line["external_ref"], None)
        if not known:
            yield line
            continue
        ordered = known["unit_qty"] if line.get("unit") else known["qty"]
        if line["qty"] != ordered or line["item_code"] != known["item_code"]:
            # Another product, and a quantity that is not in base units, are refused.
            changed = {name: line[name] for name in ("item_code", "qty", "unit") if name in line}
            yield {"line_num": known["line_num"], **changed}
    for line in by_number.values():
        if line["qty"]:
            yield {"line_num": line["line_num"], "qty": 0}


def copy_changes(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Copy what changed since the last run, deletions included."""
    stored = database.execute("SELECT position FROM followed").fetchone()
    for page in stowage.follow(stored and stored[0], OBJECTS):
        with database:  # The position is stored with what it is of.
            if page.is_snapshot:
                database.execute("DELETE FROM copies")
            for change in page.changes:
                key = (change["object"], str(change["id"]))
                database.execute("DELETE FROM copies WHERE object = ? AND id = ?", key)
                if change["resource"]:
                    row = (*key, json.dumps(change["resource"]))
                    database.execute("INSERT INTO copies VALUES (?, ?, ?)", row)
            database.execute("INSERT OR REPLACE INTO followed VALUES (1, ?)", (page.position,))


def book(stowage: Stowage, database: sqlite3.Connection, works: str) -> None:
    """Book each finalized receipt or picking once, and tell Stowage that the ERP has it."""
    # All of them first: the list changes with each one that is synchronized.
    for work in list(stowage.each(works, status="finalized", sort="finalized_at")):
        path = f"{works}/{work['id']}"
        detail = stowage.get(path)
        lines = list(_lines(stowage, path, detail))
        with database:  # The primary key makes sure that it is booked once.
            booked = database.execute(
                "INSERT OR IGNORE INTO booked VALUES (?, ?)", (path, json.dumps(detail))
            )
            if booked.rowcount:
                database.executemany("INSERT INTO booked_lines VALUES (?, ?, ?, ?)", lines)
        try:
            stowage.post(f"{path}/synchronize")
        except StowageError as refusal:
            # It is synchronized already, or it was reverted, which its copy shows.
            if refusal.code != "stale_state":
                raise


def _lines(
    stowage: Stowage, path: str, work: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, float]]:
    """Yield what a work books: its path, the ERP's numbers of order and line, and a quantity."""
    first = work["document"]  # A picking may be of several documents.
    orders = {first["id"]: first["external_ref"] or first["doc_num"]}
    for line in work["lines"]:
        for fill in line["fills"]:
            document = fill["document_id"]
            if document not in orders:
                orders[document] = stowage.get(f"/exit-documents/{document}")["external_ref"]
            number = fill["external_ref"] or str(fill["line_num"])
            yield path, orders[document], number, fill["qty"]


def run(stowage: Stowage, database: sqlite3.Connection) -> None:
    """Synchronise once, in both directions."""
    send_orders(stowage, database)
    send_changes(stowage, database)
    book(stowage, database, "/receipts")
    book(stowage, database, "/pickings")
    copy_changes(stowage, database)


if __name__ == "__main__":
    url, client_id, secret = (
        os.environ[f"STOWAGE_{name}"] for name in ("URL", "CLIENT_ID", "CLIENT_SECRET")
    )
    run(
        Stowage(url, client_id, secret),
        open_database(sys.argv[1] if len(sys.argv) > 1 else "erp.db"),
    )
