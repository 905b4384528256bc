"""What has become of imports: everything that is stored, without what is of the moment."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from shared.catalog.repository import PRODUCTS
from shared.config import config
from shared.db.collection import HEAD, Collection
from shared.db.items import from_attributes, unpack
from shared.documents.repository import COLLECTIONS
from shared.imports.repository import IMPORTS
from shared.pick_faces.repository import PICK_FACES
from shared.transfer_orders.repository import TRANSFER_ORDERS
from shared.work.repository import PICKINGS
from tests.import_desk import ImportDesk
from tests.integration.imports.sheets import Complaint, complaints
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION

_READ: dict[str, Collection[Any]] = {
    "product": PRODUCTS,
    "entry": COLLECTIONS["entry"],
    "exit": COLLECTIONS["exit"],
    "transfer_order": TRANSFER_ORDERS,
    "pick_face": PICK_FACES,
    "picking": PICKINGS,
    "import": IMPORTS,
}


def _name(kind: str, one: Any) -> tuple[object, ...]:
    match kind:
        case "product":
            return (one.item_code,)
        case "entry" | "transfer_order":
            return (one.external_ref,)
        case "exit":
            return one.external_ref, one.status, len(one.works)
        case "pick_face":
            return one.item_code, one.bin_code
        case "picking":
            return one.documents[0].external_ref, one.status
        case _:
            return one.kind, one.status


_UNDER_WAY = {"validating", "committing"}


def entities(desk: ImportDesk) -> Iterator[tuple[str, Any]]:
    """Everything that imports can make, with its kind."""
    for attributes in desk.stack.stored(desk.slug):
        kind = attributes["PK"]["S"].partition("#")[0]
        if kind in _READ and attributes["SK"]["S"] == HEAD and "deleted" not in attributes:
            item = from_attributes({name: attributes[name] for name in ("parts", "data")})
            assert item["parts"] == 1
            yield kind, _READ[kind].model.model_validate_json(unpack([item["data"]]))


def made(desk: ImportDesk) -> Counter[tuple[object, ...]]:
    """Count everything that is there, and every event that was raised about it."""
    names: dict[tuple[str, int], object] = {}
    found: Counter[tuple[object, ...]] = Counter()
    for kind, one in entities(desk):
        names[kind, one.id] = _name(kind, one)
        found[kind, names[kind, one.id]] += 1
    for event in stored_items(ACCOUNT, REGION, config().outbox_table):
        if event["PK"]["S"] != desk.slug:
            continue
        number = int(event["id"]["N"])
        about = names.get((event["object"]["S"], number), number)
        found["event", event["type"]["S"], about] += 1
    return found


def imports(desk: ImportDesk) -> list[dict[str, Any]]:
    """Every import as it is answered, the oldest first."""
    numbers = sorted(one.id for kind, one in entities(desk) if kind == "import")
    return [desk.show(number) for number in numbers]


def ensure_settled(desk: ImportDesk) -> None:
    """Check that no import is under way."""
    found = [one for kind, one in entities(desk) if kind == "import"]
    assert not [one for one in found if one.status in _UNDER_WAY]


def told(desk: ImportDesk, one: dict[str, Any]) -> tuple[object, ...]:
    """What an import tells of itself, whichever it is."""
    return (
        one["status"],
        sorted(one["rows"].items()),
        sorted(one["documents"].items()),
        one["structure_errors"],
        bool(one["committed_at"]),
        complained(desk, one),
    )


def complained(desk: ImportDesk, one: dict[str, Any]) -> set[Complaint]:
    """Read the error report of an import, if it has one."""
    if one["error_report_url"] is None:
        return set()
    answer = desk.erp.get(f"/imports/{one['id']}/error-report")
    assert answer.status == 200, answer.text
    return complaints(answer.content)


def left_behind(desk: ImportDesk) -> dict[str, object]:
    """The tenant's files in the import bucket, without ids and moments."""
    return {name: _plain(name, content) for name, content in desk.files().items()}


def _plain(name: str, content: bytes) -> object:
    if not name.endswith(".result.json"):
        return complaints(content) if name.endswith(".xlsx") else content
    of_the_moment = {"id", "committed_at", "error_report_url"}
    return {k: v for k, v in json.loads(content).items() if k not in of_the_moment}


def outcome(desk: ImportDesk) -> tuple[object, ...]:
    """All of it: what is there, what imports tell, what is left in the bucket."""
    ensure_settled(desk)
    found = imports(desk)
    return made(desk), [told(desk, one) for one in found], left_behind(desk)
