"""What follows from an entity: its facets, index keys, lookups, aliases, and places in registers.

Pure rules on entities and items. `read_items` reads them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from shared.identity.users import repository as users
from shared.integration.webhooks.repository import WEBHOOKS
from shared.kernel import references
from shared.kernel.clock import now_ms
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.records import Record
from shared.kernel.db.table import (
    INDEX_COUNT,
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    VOLATILE_FACETS,
    index_keys,
)
from shared.warehouse.approvals import repository as approvals
from shared.warehouse.approvals.rules import status_at
from shared.warehouse.catalog import repository as catalog
from shared.warehouse.documents import repository as documents
from shared.warehouse.holds import repository as holds
from shared.warehouse.master_data import uses
from shared.warehouse.packing.repository import sscc_key
from shared.warehouse.partners import repository as partners
from shared.warehouse.returns import repository as returns
from shared.warehouse.stock.repository import batch_key, level_id, row_key
from shared.warehouse.transfer_orders import repository as transfer_orders
from shared.warehouse.warehouses import repository as warehouses

_ENDED = {
    "return": {"dispositioned", "cancelled"},
    "stock_count": {"posted", "cancelled"},
    "transfer": {"transferred"},
    "transfer_order": {"closed", "cancelled"},
}
"""Kinds in the register of open work, except documents → states in which they have left it."""
REGISTERED_KINDS = ("entry", "exit", *_ENDED)


# Attributes of a head


def differing_attributes(head: Item, expected: Item) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield kind, field, stored and expected value of each attribute that does not follow."""
    for kind, name in (("facets.wrong", STABLE_FACETS), ("volatile.wrong", VOLATILE_FACETS)):
        stored: Mapping[str, str] = head.get(name, {})
        wanted: Mapping[str, str] = expected.get(name, {})
        for facet in sorted(stored.keys() | wanted.keys()):
            if stored.get(facet) != wanted.get(facet):
                yield kind, facet, stored.get(facet), wanted.get(facet)
    for number in range(1, INDEX_COUNT + 1):
        yield from _differing_keys(f"GSI{number}", index_keys(number), head, expected)


def _differing_keys(
    index: str, names: tuple[str, str], head: Item, expected: Item
) -> Iterator[tuple[str, str, Any, Any]]:
    stored = tuple(head.get(name) for name in names)
    wanted = tuple(expected.get(name) for name in names)
    if stored == wanted:
        return
    if None in stored:
        kind = "index.missing"
    elif None in wanted:
        kind = "index.extra"
    else:
        kind = "index.wrong"
    yield kind, index, _pair(stored), _pair(wanted)


def _pair(values: tuple[Any, ...]) -> str | None:
    return " ".join(str(value) for value in values) if None not in values else None


# Items of their own


def alias_items(kind: str, entity: Any) -> list[Item]:
    """Return the aliases of an entity, complete except for what others add to them."""
    found = _ALIASES.get(kind)
    return found(entity) if found else []


def _reference_aliases(of: references.ExternalReferences) -> Callable[[Any], list[Item]]:
    """Return what gives the alias of the reference of an entity, if it has one."""
    return lambda entity: [item_at(key, id=entity.id) for key in of.keys(entity.external_ref)]


def _document_aliases(kind: Any) -> Callable[[Any], list[Item]]:
    return lambda document: [
        item_at(documents.reference_key(kind, document.type, document.external_ref), id=document.id)
    ]


def _pick_face_items(face: Any) -> list[Item]:
    product = catalog.code_key(face.item_code)
    position = warehouses.position_key(face.whs_code, face.bin_code)
    return [item_at(uses.assignment_key(product, position), id=face.id)]


def _open_approvals(approval: Any) -> list[Item]:
    """Return the item of an open approval; that of an expired one may be there or not."""
    if status_at(approval, now_ms()) in {"pending", "granted"}:
        return [approvals.open_approval_item(approval)]
    return []


_ALIASES: Mapping[str, Callable[[Any], list[Item]]] = {
    "product": lambda product: [catalog.alias_of(product), *catalog.gtin_aliases(product)],
    "warehouse": lambda warehouse: [warehouses.warehouse_alias(warehouse)],
    "position": lambda position: [warehouses.position_alias(position)],
    "client": partners.client_aliases,
    "provider": partners.provider_aliases,
    "entry": _document_aliases("entry"),
    "exit": _document_aliases("exit"),
    "hold": _reference_aliases(holds.REFERENCES),
    "return": _reference_aliases(returns.REFERENCES),
    "transfer_order": _reference_aliases(transfer_orders.REFERENCES),
    "handling_unit": lambda unit: [item_at(sscc_key(unit.sscc), id=unit.id)] if unit.sscc else [],
    "stock": lambda row: [item_at(row_key(row.key), id=row.id)],
    "pick_face": _pick_face_items,
    "user": lambda user: [item_at(users.username_key(user.username), id=user.id)],
    "role": lambda role: [item_at(users.role_name_key(role.name), id=role.id)],
    "approval": _open_approvals,
}

_ALIAS_KINDS: Mapping[str, str] = {
    "item_code": "product",
    "gtin": "product",
    "bin": "position",
    "document_id": "client",
    "client_code": "client",
    "provider_code": "provider",
    "entry_ref": "entry",
    "exit_ref": "exit",
    "hold_ref": "hold",
    "return_ref": "return",
    "transfer_order_ref": "transfer_order",
    "sscc": "handling_unit",
    "stock_row": "stock",
    "stock_serial": "stock",
    "username": "user",
    "role_name": "role",
    "approval_request": "approval",
}


KINDS_WITH_LASTING_CODES = frozenset({"handling_unit"})
"""Kinds whose aliases stay when an entity is deleted."""


def alias_kind(key: Key) -> str | None:
    """Return the kind of the entity that an alias leads to; None for another item."""
    if key[0] == "warehouses":
        return "warehouse"
    facet = key[0].partition("#")[0]
    if facet == "item_code" and key[1] != "ALIAS":
        return "pick_face"
    return _ALIAS_KINDS.get(facet)


def same_values(stored: Item, expected: Item) -> Iterator[tuple[str, Any, Any]]:
    """Yield each attribute of an expected item that is stored otherwise; None is an empty text."""
    for name, value in expected.items():
        before = stored.get(name)
        if name not in {PARTITION_KEY, SORT_KEY} and _present(before) != _present(value):
            yield name, before, value


def _present(value: Any) -> Any:
    return None if value == "" else value


def register_item(kind: str, number: int, entity: Any) -> Item | None:
    """Return the item of an entity in the register of open work; None if it is not open.

    Of a transfer it has the products only: a transfer has no ids of its positions. Of a count it
    has the warehouse only: the products are those of its lines, which are other entities.
    """
    if kind in {"entry", "exit"}:
        if not entity.is_open:
            return None
        named = entity.named
    elif entity.status in _ENDED[kind]:
        return None
    elif kind == "stock_count":
        named = {"warehouse": [entity.warehouse_id]}
    else:
        named = {"product": [line.product_id for line in entity.lines]}
        if kind == "transfer_order":
            named["warehouse"] = [entity.origin.id, entity.destination.id]
        elif kind == "return":
            named["warehouse"] = [entity.warehouse_id]
    return references.register_item(kind, number, named)


type References = list[tuple[str, str, int]]
"""Field of an entity, and kind and id of the entity that it refers to."""


def references_of(kind: str, entity: Any) -> References:
    """Return the entities that an entity refers to, and that must exist."""
    found = _REFERENCES.get(kind)
    return found(entity) if found else []


def _named(entity: Any, *kinds: str) -> References:
    """Return the entities of these kinds whose ids an entity has."""
    numbers = ((f"{kind}_id", kind, getattr(entity, f"{kind}_id")) for kind in kinds)
    return [(name, kind, number) for name, kind, number in numbers if number is not None]


def _listed(name: str, kind: str, numbers: Iterable[int]) -> References:
    """Return the entities of a kind whose ids a field has."""
    return [(name, kind, number) for number in numbers]


def _hold_references(hold: Any) -> References:
    number = hold.exit_document_id
    return [("exit_document_id", "exit", number)] if number else []


def _return_references(one: Any) -> References:
    number = one.exit_document_id
    own = [("exit_document_id", "exit", number)] if number else []
    return own + _listed("provider_documents", "exit", one.provider_documents)


def _packing_order_references(order: Any) -> References:
    return [
        ("exit_document_id", "exit", order.exit_document_id),
        *_listed("picking_ids", "picking", order.picking_ids),
        *_listed("units", "handling_unit", (entry.id for entry in order.units)),
    ]


def _validation_references(validation: Any) -> References:
    # A handling unit may have been deleted since.
    is_kept = validation.subject_kind != "handling_unit"
    subject = ("subject_id", validation.subject_kind, validation.subject_id)
    lists = ("id", "rfid_differences", validation.id)
    return [subject] * is_kept + [lists] * (validation.result == "failed")


def _documents_of_picking(picking: Any) -> References:
    return [
        ("documents", one.type if one.type == "transfer_order" else "exit", one.id)
        for one in picking.documents
    ]


_REFERENCES: Mapping[str, Callable[[Any], References]] = {
    "layout": lambda layout: [("id", "warehouse", layout.id)],
    "position": lambda position: _named(position, "warehouse"),
    "pick_face": lambda face: _named(face, "product", "warehouse", "position"),
    "stock": lambda row: _named(row, "product", "warehouse", "position") if row.qty else [],
    "receipt": lambda one: [("document", "entry", one.document.id)] if one.document else [],
    "picking": _documents_of_picking,
    "transfer_order": lambda order: _named(order, "picking"),
    "hold": _hold_references,
    "return": _return_references,
    "wave": lambda wave: _listed("picking_ids", "picking", wave.picking_ids),
    "packing_order": _packing_order_references,
    "handling_unit": lambda unit: _named(unit, "packing_order"),
    "rfid_validation": _validation_references,
}


_COPIES = {
    "product": {"item_code": "item_code", "product_name": "name"},
    "warehouse": {"whs_code": "whs_code"},
    "position": {"bin_code": "bin_code"},
}
"""Kind of master data → fields in which entities copy it, and its own field."""


def copies_of(kind: str, record: Record[Any]) -> list[tuple[str, str, int, str]]:
    """Return each field that copies a code or name; kind, id and field of the master data."""
    entity, named = record.entity, list[tuple[str, str, int]]()
    match kind:
        case "position":
            named = _named(entity, "warehouse")
        case "pick_face":
            named = _named(entity, "product", "warehouse", "position")
        case "stock":
            # Without stock, a row keeps the code that its warehouse had.
            named = _named(entity, "product", *(["warehouse"] if entity.qty else []))
            named += _named(entity, "position") if entity.bin_code is not None else []
        case "level":
            warehouse = record.id - level_id(entity.product_id, 0)
            named = [*_named(entity, "product"), ("id", "warehouse", warehouse)]
        case "level_total":
            named = _named(entity, "product")
    return [
        (name, of, number, source)
        for _, of, number in named
        for name, source in _COPIES[of].items()
        if hasattr(entity, name)
    ]


def batch_of(kind: str, entity: Any) -> Key | None:
    """Return the key of the batch whose expiry date an entity must have, or None."""
    if kind != "stock" or not entity.qty or entity.batch_num is None:
        return None
    return batch_key((entity.product_id, entity.batch_num))


def webhook_events(record: Record[Any]) -> str | None:
    """Return the events of an active subscription as the register has them."""
    webhook = record.entity
    return " ".join(sorted(webhook.events)) if webhook.is_active else None


WEBHOOK_KIND = WEBHOOKS.kind
