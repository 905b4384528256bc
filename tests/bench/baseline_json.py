"""The stored items and responses of the baseline handlers."""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from shared.kernel.db.schema import SCHEMA_VERSION

PER_PAGE = 25
_FILTERS = {
    "sort": "-created_at", "updated_since": None, "external_ref": None, "type": None,
    "card_code": None, "status": None, "source": None,
}  # fmt: skip
_COMPRESS_FROM = 256


def document(number: int, body: Any, known: Mapping[str, Any], now: str) -> dict[str, Any]:
    lines = []
    for position, line in enumerate(body["lines"], 1):
        product = known[f"item_code#{line['item_code']}"]
        quantity = int(line["qty"]) if line["qty"] == int(line["qty"]) else str(line["qty"])
        lines.append(
            {
                "line_num": position,
                "product_id": int(product["id"]["N"]),
                "item_code": line["item_code"],
                "qty": quantity,
                "open_qty": quantity,
                "done_qty": 0,
                "status": "open",
                "batch": line.get("batch"),
                "expiry_date": line.get("expiry_date"),
                "serials": line.get("serials") or [],
                "bin_code": line["destination_bin"],
            }
        )
    return {
        "id": number,
        "type": body["type"],
        "external_ref": body["external_ref"],
        "source": "api",
        "status": "open",
        "card_code": body["partner_code"],
        "card_name": body.get("partner_name"),
        "doc_date": body["doc_date"],
        "due_date": body.get("due_date"),
        "comments": body.get("comments"),
        "priority": None,
        "ship_to": None,
        "whs_code": body["warehouse_code"],
        "created_at": now,
        "updated_at": now,
        "works": [],
        "finished": [],
        "named": _named(body, known),
        "import_id": None,
        "lines": lines,
    }


def item_of(document: Mapping[str, Any]) -> dict[str, Any]:
    number = f"{document['id']:012d}"
    raw = json_text(document).encode()
    by_time = {"S": f"{document['created_at']}\x1f{number}"}
    by_date = {"S": f"{document['doc_date']}\x1f{number}"}
    whole = {"S": "entry"}
    names = ("status", "type", "card_code", "source", "doc_date", "created_at")
    return {
        "PK": {"S": f"entry#{number}"},
        "SK": {"S": "HEAD"},
        "id": {"N": str(document["id"])},
        "version": {"N": "1"},
        "parts": {"N": "1"},
        "data": {"B": zlib.compress(raw, 6) if len(raw) >= _COMPRESS_FROM else raw},
        "schema": {"N": str(SCHEMA_VERSION)},
        "facets": {"M": {name: {"S": document[name]} for name in names}},
        "P1": whole, "S1": by_time,
        "P2": whole, "S2": by_time,
        "P3": whole, "S3": by_date,
        "P4": {"S": f"entry#status#{document['status']}"}, "S4": by_time,
        "P5": {"S": f"entry#card_code#{document['card_code']}"}, "S5": {"S": number},
    }  # fmt: skip


def _named(body: Any, known: Mapping[str, Any]) -> dict[str, list[int]]:
    warehouse = body["warehouse_code"]
    products = {int(known[f"item_code#{line['item_code']}"]["id"]["N"]) for line in body["lines"]}
    bins = {f"bin#{warehouse}\x1f{line['destination_bin']}" for line in body["lines"]}
    positions = {int(known[name]["id"]["N"]) for name in bins}
    return {
        "product": sorted(products),
        "warehouse": [int(known["warehouses"]["id"]["N"])],
        "position": sorted(positions),
    }


def register(number: int, body: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    ids = {kind: {"NS": [str(one) for one in all_]} for kind, all_ in _named(body, known).items()}
    return {"PK": {"S": "open"}, "SK": {"S": f"entry#{number}"}, **ids}


def stored(item: Mapping[str, Any]) -> Any:
    raw = item["data"]["B"]
    return json.loads(zlib.decompress(raw) if raw[:1] == b"\x78" else raw)


def view(document: Mapping[str, Any]) -> dict[str, Any]:
    names = ("type", "external_ref", "source", "status", "card_code", "card_name", "doc_date")
    lines = [
        {
            "line_num": line["line_num"],
            "item_code": line["item_code"],
            "qty": _quantity(line["qty"]),
            "open_qty": _quantity(line["open_qty"]),
            "received_qty": _quantity(line["done_qty"]),
            "whs_code": document["whs_code"],
            "status": line["status"],
        }
        for line in document["lines"]
    ]
    return {
        "id": document["id"],
        "doc_num": f"EN-{document['id']}",
        **{name: document[name] for name in (*names, "due_date", "comments")},
        "created_at": document["created_at"],
        "updated_at": document["updated_at"],
        "lines": lines,
    }


def _quantity(stored: int | str) -> float:
    return float(stored) if isinstance(stored, str) else stored


def frame(base_url: str, tenant: str, total: int, shown: int, mark: str) -> dict[str, Any]:
    path = "/entry-documents"
    url = base_url + path
    last = max(1, -(-total // PER_PAGE))
    first_url, last_url = f"{url}?page=1", f"{url}?page={last}"
    following = None
    if last > 1:
        asked = json.dumps([tenant, path, sorted(_FILTERS.items())])
        listing = hashlib.sha256(asked.encode()).hexdigest()[:16]
        text = json.dumps([listing, 2, PER_PAGE, mark])
        cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        following = f"{url}?{urlencode({'page': 2, 'cursor': cursor})}"
    pages = sorted({n for n in (1, 2, 3, 4, last - 1, last) if 1 <= n <= last})
    links: list[dict[str, Any]] = [{"url": None, "label": "&laquo; Previous", "active": False}]
    for before, page in zip((0, *pages), pages, strict=False):
        if page - before > 1:
            links.append({"url": None, "label": "...", "active": False})
        links.append({"url": f"{url}?page={page}", "label": str(page), "active": page == 1})
    links.append({"url": following, "label": "Next &raquo;", "active": False})
    return {
        "links": {"first": first_url, "last": last_url, "prev": None, "next": following},
        "meta": {
            "current_page": 1,
            "from": 1,
            "last_page": last,
            "links": links,
            "path": url,
            "per_page": PER_PAGE,
            "to": shown,
            "total": total,
        },
    }


def instant(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
