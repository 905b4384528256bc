"""docs/internals/storage.md lists the kinds of items that an import accepts."""

import re
import zlib
from pathlib import Path

from operations.item_kinds import ITEM_KINDS
from operations.tenant_import.item_checks import problems_of
from shared.kernel.clock import now_ms
from shared.kernel.db.items import to_attributes

PAGE = (Path(__file__).parents[2] / "docs" / "internals" / "storage.md").read_text(encoding="utf-8")
_NOT_MOVED = {"feed", "position", "rate", "reconciliation", "snapshot"}
_OF_ENTITIES = {"layout", "picking", "returned", "rfid_differences"}


def test_page_lists_the_kinds_of_items_that_imports_accept() -> None:
    table = re.search(r"^\| Item \| PK .*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table
    cells = [row.split("|")[2] for row in table[1].splitlines()]
    keys = {key for cell in cells for key in re.findall(r"`([^`]+)`", cell) if not key.isupper()}
    begins = {key.partition("#")[0] for key in keys} - {"KIND"}
    assert begins == ITEM_KINDS.keys() | _OF_ENTITIES | _NOT_MOVED


def test_progress_of_a_claim_is_readable_json() -> None:
    claim = {
        "PK": "idempotency#erp#key", "SK": "HEAD", "fingerprint": "f", "owner": "released",
        "request": "r", "has_steps": True, "lease_until": 0, "expires_at": now_ms() // 1000 + 60,
    }  # fmt: skip

    def problems(progress: bytes) -> list[tuple[int, str]]:
        return list(problems_of([to_attributes({**claim, "progress": progress})]))

    assert problems(zlib.compress(b"[]")) == []
    assert problems(b"x")
    assert problems(zlib.compress(b"{"))
