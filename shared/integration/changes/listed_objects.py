"""The objects of the feed of changes: who may read them, and what their lists show.

The modules of an object are imported when it is first read, so that a follower of one object waits
for one subject only.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import BaseModel

from shared.identity.auth.rules import authorize
from shared.identity.tenancy.tenant import WEBHOOKS, Tenant, ensure_feature, ensure_module
from shared.kernel.caller import Caller
from shared.kernel.clock import now_ms
from shared.kernel.db.facets import ids_of_pair
from shared.kernel.db.outbox_item import ResourceId, VersionChange
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import Forbidden, MissingScope, ServiceError

_MANAGE_ACCESS = "users.manage"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads the rows of which tenant."""

    store: Store
    tenant: Tenant
    caller: Caller


type Records = Mapping[ResourceId, Record[Any]]
type View = Callable[[Record[Any]], BaseModel]
"""Returns the row that the list shows of a record."""


def _detail(change: VersionChange) -> str:
    return f"/{change.id}"


def _in_list(change: VersionChange) -> str:
    return f"?ids={change.id}"


def _levels_of_product(change: VersionChange) -> str:
    product, _ = ids_of_pair(int(change.record_id))
    return f"?product_id={product}"


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object with the path of its list, and the rights that the list needs.

    `collection` and `view` are names of attributes of modules below `shared`. Without `view`, the
    list shows the entities as they are. Where the view depends on more than the record, `view_for`
    returns it. `read` returns those that exist of the given ids; default: from `collection`.
    `place` returns what follows `path` in the address of a resource. `depends_on_reader` is whether
    the list shows some callers less than others.
    """

    path: str
    scope: str
    collection: str = ""
    view: str | None = None
    view_for: Callable[[Reader, Records], View] | None = None
    read: Callable[[Store, Collection[Any]], Records] | None = None
    place: Callable[[VersionChange], str] = _detail
    permission: str | None = None
    feature: str | None = None
    module: str | None = None
    depends_on_reader: bool = False

    @property
    def kind(self) -> str:
        """The kind of its collection, with whose sequence its ids are made."""
        kind: str = _attribute(self.collection).kind
        return kind

    def ensure_authorized(self, caller: Caller) -> None:
        """Raise the error with which the list refuses a caller without its rights."""
        authorize(
            caller, scope=self.scope, permission=self.permission, write=False, allows_mobile=False
        )

    def ensure_in_plan(self, tenant: Tenant) -> None:
        """Raise the error of a feature that the plan lacks, or of a module that is off."""
        if self.feature:
            ensure_feature(tenant, self.feature)
        if self.module:
            ensure_module(tenant, self.module)

    def may_read(self, reader: Reader) -> bool:
        """Return whether the list answers the caller."""
        try:
            ensure_readable(reader, [self])
        except ServiceError:
            return False
        return True

    def href(self, reader: Reader, change: VersionChange) -> str:
        """Return the address of a resource."""
        return f"{reader.tenant.base_url}{self.path}{self.place(change)}"

    def rows(self, reader: Reader, ids: Collection[ResourceId]) -> dict[ResourceId, dict[str, Any]]:
        """Return what the list shows with `include=version` of the resources that exist, by id.

        `ids` are the ids of their records.
        """
        listed_id = None
        if self.read:
            records = self.read(reader.store, ids)
        else:
            collection = _attribute(self.collection)
            records = {one.id: one for one in collection.get_many(reader.store, ids)}
            listed_id = collection.listed_id
        view = self._view(reader, records)
        rows: dict[ResourceId, dict[str, Any]] = {}
        for number, record in records.items():
            row = view(record).model_dump()
            own = {"id": listed_id(record.entity)} if listed_id else {}
            rows[number] = row | own | {"version": record.version}
        return rows

    def _view(self, reader: Reader, records: Records) -> View:
        if self.view_for:
            return self.view_for(reader, records)
        return _attribute(self.view) if self.view else _entity


def ensure_readable(reader: Reader, objects: Collection[ListedObject]) -> None:
    """Raise the error with which a list of the objects refuses the caller, if one does.

    Raises:
        MissingScope: The token lacks scopes; the error names all of them.
        Forbidden: The user lacks permissions; the error names all of them.
    """
    scopes: dict[str, None] = {}
    permissions: dict[str, None] = {}
    for one in objects:
        try:
            one.ensure_authorized(reader.caller)
        except MissingScope:
            scopes[one.scope] = None
        except Forbidden:
            permissions[one.permission or ""] = None
    if scopes:
        raise MissingScope(*scopes)
    if permissions:
        raise Forbidden(*permissions)
    for one in objects:
        one.ensure_in_plan(reader.tenant)


def _entity(record: Record[Any]) -> BaseModel:
    entity: BaseModel = record.entity
    return entity


def _attribute(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"shared.{module}"), attribute)


def _at_present(view: str) -> Callable[[Reader, Records], View]:
    """Return the `view_for` of objects whose row depends on the time."""

    def view_for(_reader: Reader, _records: Records) -> View:
        shown: View = _attribute(view)(now_ms())
        return shown

    return view_for


def _warehouse(reader: Reader, records: Records) -> View:
    shown = _attribute("warehouse.warehouses.service:shown_warehouses")
    return _of_shown(shown(reader.store, list(records.values())))


def _position(reader: Reader, records: Records) -> View:
    shown = _attribute("warehouse.warehouses.service:shown_positions")
    return _of_shown(shown(reader.store, list(records.values())))


def _of_shown(shown: Iterable[Record[Any]]) -> View:
    rows = {record.id: record.entity for record in shown}
    return lambda record: rows[record.id]


def _stock(reader: Reader, _records: Records) -> View:
    warehouses = _attribute("warehouse.warehouses.service:all_warehouses")(reader.store)
    view: View = _attribute("warehouse.stock.views:stock_row")(warehouses)
    return view


def _stock_level(reader: Reader, _records: Records) -> View:
    view: View = _attribute("warehouse.stock.views:level")(reader.store.version, now_ms())
    return view


def _count(reader: Reader, records: Records) -> View:
    sums = _attribute("warehouse.counts.service:sums_of")(reader.store, list(records))
    sees_expected = _attribute("warehouse.counts.views:sees_expected")(reader.caller)
    view: View = _attribute("warehouse.counts.views:count_in_list")(
        sums, sees_expected=sees_expected
    )
    return view


def _role(_reader: Reader, _records: Records) -> View:
    model = _attribute("identity.users.models:Role")
    return lambda record: model.from_stored(record.entity)


def _import(reader: Reader, _records: Records) -> View:
    shown = _attribute("integration.imports.views:import_in_list")
    return lambda record: shown(record.entity, reader.tenant, reader.caller)


def _webhook(reader: Reader, _records: Records) -> View:
    health = _attribute("integration.webhooks.service:health_of_all")(reader.store)
    shown = _attribute("integration.webhooks.views:webhook")
    return lambda record: shown(record.entity, health.get(record.id))


def _api_client(_reader: Reader, _records: Records) -> View:
    shown = _attribute("identity.auth.client_views:client")
    return lambda record: shown(record.entity)


def _read_api_clients(store: Store, ids: Collection[Any]) -> Records:
    found = _attribute("identity.auth.client_service:find_clients")(store, ids)
    return {one.client_id: Record(0, one.version, one) for one in found}


LISTED_OBJECTS: Mapping[str, ListedObject] = {
    "product": ListedObject(
        "/products",
        "products:read",
        "warehouse.catalog.repository:PRODUCTS",
        "warehouse.catalog.views:product",
    ),
    "product_category": ListedObject(
        "/product-categories", "products:read", "warehouse.catalog.repository:CATEGORIES"
    ),
    "entry_document": ListedObject(
        "/entry-documents",
        "receipts:read",
        "warehouse.documents.repository:ENTRIES",
        "warehouse.documents.views:entry_document",
    ),
    "exit_document": ListedObject(
        "/exit-documents",
        "pickings:read",
        "warehouse.documents.repository:EXITS",
        "warehouse.documents.views:exit_document",
    ),
    "hold": ListedObject(
        "/holds",
        "stocks:read",
        "warehouse.holds.repository:HOLDS",
        view_for=_at_present("warehouse.holds.views:hold_at"),
    ),
    "import": ListedObject(
        "/imports",
        "products:read",
        "integration.imports.repository:IMPORTS",
        view_for=_import,
        permission="imports.run",
        module="bulk_import",
        depends_on_reader=True,
    ),
    "export": ListedObject(
        "/exports",
        "changes:read",
        "integration.exports.repository:EXPORTS",
        "integration.exports.views:export_in_list",
    ),
    "client": ListedObject("/clients", "clients:read", "warehouse.partners.repository:CLIENTS"),
    "provider": ListedObject(
        "/providers", "providers:read", "warehouse.partners.repository:PROVIDERS"
    ),
    "api_client": ListedObject(
        "/api-clients",
        "settings:manage",
        view_for=_api_client,
        read=_read_api_clients,
        permission=_MANAGE_ACCESS,
    ),
    "user": ListedObject(
        "/users", "settings:manage", "identity.users.repository:USERS", permission=_MANAGE_ACCESS
    ),
    "role": ListedObject(
        "/roles",
        "settings:manage",
        "identity.users.repository:ROLES",
        view_for=_role,
        permission=_MANAGE_ACCESS,
    ),
    "stock": ListedObject(
        "/stocks",
        "stocks:read",
        "warehouse.stock.repository:STOCK",
        view_for=_stock,
        place=_in_list,
    ),
    "stock_level": ListedObject(
        "/stock-levels",
        "stocks:read",
        "warehouse.stock.repository:LEVELS",
        view_for=_stock_level,
        place=_levels_of_product,
    ),
    "stock_movement": ListedObject(
        "/stock-movements",
        "stocks:read",
        "warehouse.stock.repository:MOVEMENTS",
        "warehouse.stock.views:movement",
    ),
    "count": ListedObject(
        "/counts",
        "stocks:read",
        "warehouse.counts.repository:COUNTS",
        view_for=_count,
        depends_on_reader=True,
    ),
    "transfer_order": ListedObject(
        "/transfer-orders",
        "transfers:read",
        "warehouse.transfer_orders.repository:TRANSFER_ORDERS",
        "warehouse.transfer_orders.views:in_list",
        module="transfer_orders",
    ),
    "warehouse": ListedObject(
        "/warehouses",
        "warehouses:read",
        "warehouse.warehouses.repository:WAREHOUSES",
        view_for=_warehouse,
    ),
    "warehouse_position": ListedObject(
        "/warehouse-positions",
        "warehouses:read",
        "warehouse.warehouses.repository:POSITIONS",
        view_for=_position,
    ),
    "pick_face": ListedObject(
        "/pick-faces", "warehouses:read", "warehouse.pick_faces.repository:PICK_FACES"
    ),
    "wave": ListedObject(
        "/waves",
        "pickings:read",
        "warehouse.waves.repository:WAVES",
        "warehouse.waves.views:in_list",
        permission="exits.manage",
        module="waves",
    ),
    "webhook": ListedObject(
        "/webhooks",
        "webhooks:manage",
        "integration.webhooks.repository:WEBHOOKS",
        view_for=_webhook,
        permission=_MANAGE_ACCESS,
        feature=WEBHOOKS,
    ),
    "receipt": ListedObject(
        "/receipts",
        "receipts:read",
        "warehouse.receiving.repository:RECEIPTS",
        "warehouse.receiving.views:receipt_in_list",
    ),
    "picking": ListedObject(
        "/pickings",
        "pickings:read",
        "warehouse.picking.repository:PICKINGS",
        "warehouse.picking.views:picking_in_list",
    ),
    "packing_order": ListedObject(
        "/packing-orders",
        "pickings:read",
        "warehouse.packing.repository:PACKING_ORDERS",
        "warehouse.packing.views:order_in_list",
    ),
    "handling_unit": ListedObject(
        "/handling-units",
        "pickings:read",
        "warehouse.packing.repository:UNITS",
        "warehouse.packing.views:unit_shown",
    ),
    "transfer": ListedObject(
        "/transfers",
        "transfers:read",
        "warehouse.transfers.repository:TRANSFERS",
        "warehouse.transfers.views:transfer_in_list",
    ),
    "return": ListedObject(
        "/returns",
        "receipts:read",
        "warehouse.returns.repository:RETURNS",
        "warehouse.returns.views:in_list",
    ),
    "rfid_validation": ListedObject(
        "/rfid-validations",
        "pickings:read",
        "warehouse.rfid.repository:VALIDATIONS",
        "warehouse.rfid.views:validation_in_list",
    ),
    "approval": ListedObject(
        "/approvals",
        "receipts:read",
        "warehouse.approvals.repository:APPROVALS",
        view_for=_at_present("warehouse.approvals.views:approval_at"),
    ),
}
"""Every object of the feed, in the order of the API documentation."""
