"""The outcome of imports: stored entities, events, imports, reports and files."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from shared.integration.imports.repository import IMPORTS
from shared.kernel.config import config
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import from_attributes, unpack
from shared.kernel.db.records import HEAD
from shared.kernel.events.outbox import parse_entry
from shared.warehouse.catalog.repository import PRODUCTS
from shared.warehouse.documents.repository import COLLECTIONS
from shared.warehouse.pick_faces.repository import PICK_FACES
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.returns.repository import RETURNS
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import ReportedProblem, reported_problems
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, events_in

_COLLECTIONS: dict[str, Collection[Any]] = {
    "product": PRODUCTS,
    "entry": COLLECTIONS["entry"],
    "exit": COLLECTIONS["exit"],
    "transfer_order": TRANSFER_ORDERS,
    "return": RETURNS,
    "pick_face": PICK_FACES,
    "picking": PICKINGS,
    "stock": STOCK,
    "level": LEVELS,
    "movement": MOVEMENTS,
    "import": IMPORTS,
}


_FIELDS = {
    "product": ("item_code",),
    "pick_face": ("item_code", "bin_code"),
    "stock": ("item_code", "bin_code", "inventory_status", "qty"),
    "level": ("item_code", "whs_code", "on_hand"),
    "movement": ("type", "item_code", "qty", "batch_num"),
}


def _identity(kind: str, entity: Any) -> tuple[object, ...]:
    if kind in _FIELDS:
        return tuple(getattr(entity, name) for name in _FIELDS[kind])
    match kind:
        case "entry" | "transfer_order" | "return":
            return (entity.external_ref,)
        case "exit":
            return entity.external_ref, entity.status, len(entity.works)
        case "picking":
            return entity.documents[0].external_ref, entity.status
        case _:
            return entity.kind, entity.status


_IN_PROGRESS = {"validating", "committing"}


def stored_entities(scenario: ImportScenario) -> Iterator[tuple[str, Any]]:
    """Yield every entity that imports can create, with its item kind."""
    for attributes in scenario.stack.unsorted_items(scenario.slug):
        kind = attributes["PK"]["S"].partition("#")[0]
        if kind in _COLLECTIONS and attributes["SK"]["S"] == HEAD and "deleted" not in attributes:
            item = from_attributes({name: attributes[name] for name in ("parts", "data")})
            assert item["parts"] == 1
            yield kind, _COLLECTIONS[kind].model.model_validate_json(unpack([item["data"]]))


def snapshot(scenario: ImportScenario) -> Counter[tuple[object, ...]]:
    """Count the entities, and the events about them, by their identities."""
    identities: dict[tuple[str, int], object] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for kind, entity in stored_entities(scenario):
        is_level = kind == "level"
        name = ("stock_level", entity.event_id) if is_level else (kind, entity.id)
        identities[name] = _identity(kind, entity)
        counts[kind, identities[name]] += 1
    entries = stored_items(ACCOUNT, REGION, config().outbox_table)
    for event in (event for item in entries for event in events_in(item)):
        if parse_entry(event)[0] != scenario.slug or event["object"]["S"] == "stock_level":
            continue  # a level has an event for each transaction that changes it
        number = int(event["id"]["N"])
        identity = identities.get((event["object"]["S"], number), number)
        counts["event", event["type"]["S"], identity] += 1
    return counts


def all_imports(scenario: ImportScenario) -> list[dict[str, Any]]:
    """Return every import as the interface shows it, the oldest first."""
    import_ids = sorted(entity.id for kind, entity in stored_entities(scenario) if kind == "import")
    return [scenario.get_import(import_id) for import_id in import_ids]


def ensure_settled(scenario: ImportScenario) -> None:
    """Check that no import is in progress."""
    stored_imports = [one for kind, one in stored_entities(scenario) if kind == "import"]
    assert not [one for one in stored_imports if one.status in _IN_PROGRESS]


def visible_state(scenario: ImportScenario, one: dict[str, Any]) -> tuple[object, ...]:
    """Return the state of an import as the interface shows it, without ids and times."""
    return (
        one["status"],
        sorted(one["rows"].items()),
        sorted(one["documents"].items()),
        one["structure_errors"],
        bool(one["committed_at"]),
        report_problems(scenario, one),
    )


def report_problems(
    scenario: ImportScenario, one: dict[str, Any], sheet: int = 0
) -> set[ReportedProblem]:
    """Return the problems in a sheet of the error report of an import."""
    if one["error_report_url"] is None:
        return set()
    answer = scenario.erp.get(f"/imports/{one['id']}/error-report")
    assert answer.status == 200, answer.text
    return reported_problems(answer.content, sheet)


def bucket_files(scenario: ImportScenario) -> dict[str, object]:
    """Return the tenant's files in the import bucket, without ids and times."""
    return {name: _comparable(name, content) for name, content in scenario.files().items()}


def _comparable(name: str, content: bytes) -> object:
    if not name.endswith(".result.json"):
        return reported_problems(content) if name.endswith(".xlsx") else content
    variable_fields = {"id", "committed_at", "error_report_url"}
    return {k: v for k, v in json.loads(content).items() if k not in variable_fields}


def outcome(scenario: ImportScenario) -> tuple[object, ...]:
    """Return the stored entities and events, the states of imports, and the files in the bucket."""
    ensure_settled(scenario)
    states = [visible_state(scenario, one) for one in all_imports(scenario)]
    return snapshot(scenario), states, bucket_files(scenario)
