"""The kinds of items in a tenant's table other than entities, each with its form.

`docs/internals/storage.md` lists the same kinds. An import accepts only items of these kinds and of
the collections, in the form that is declared here (`operations.tenant_import.item_checks`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from operations import stored_fields as fields
from shared.identity.tenancy.tenant import PLANS
from shared.identity.users.recovery_codes import COUNT
from shared.identity.users.sessions import index_entry, is_session_id, session_from_item
from shared.integration.webhooks.repository import delivery_item, parse_delivery
from shared.kernel.clock import now_ms
from shared.kernel.db.items import Item
from shared.kernel.db.records import MAX_PARTS
from shared.kernel.db.schema import SCHEMA_VERSION
from shared.kernel.db.search import SEARCH
from shared.kernel.db.table import INDEX_COUNT, index_keys
from shared.kernel.fields import MAX_ID, Quantity, Unit
from shared.warehouse.stock.level_marks import left_entry, places_of

MAX_WEBHOOKS = max(plan.limits["webhook_subscriptions"] for plan in PLANS.values())
"""Most subscriptions that any plan allows."""
_NUMBERS = frozenset({"n", "version", "touched", "epoch", "retired"})
"""Attributes of totals other than those of the values of a facet."""


class Attributes(BaseModel):
    """The attributes of an item other than its keys. Those of another release are kept."""

    model_config = ConfigDict(strict=True, extra="allow", defer_build=True)


# Items of entities


class Head(Attributes):
    """The first item of an entity."""

    id: Annotated[int, Field(ge=1, le=(MAX_ID + 1) ** 2)]
    version: fields.Version
    parts: Annotated[int, Field(ge=1, le=MAX_PARTS)]
    data: bytes
    schema_: Annotated[int, Field(ge=1, le=SCHEMA_VERSION)] | None = Field(None, alias="schema")
    queued: bool | None = None
    facets: fields.Facets | None = None
    volatile: fields.Facets | None = None


class Tombstone(Attributes):
    """What remains of a deleted entity."""

    id: Annotated[int, Field(ge=1, le=(MAX_ID + 1) ** 2)]
    version: fields.Version
    deleted: Literal[True]
    deleted_at: fields.Instant


class Tail(Attributes):
    """A further item with data of an entity."""

    version: fields.Version
    data: bytes


class Derived(Attributes):
    """A further item with index entries of an entity."""

    facets: fields.Facets | None = None


# Other items


class _Alias(Attributes):
    id: fields.Id


class _ExpiringAlias(_Alias):
    expires_at: fields.Expiry


class _FormerAlias(_Alias):
    former: Literal[True]


class _CodeAlias(_Alias):
    unused: bool | None = None
    retired_by: fields.Text | None = None
    retired_until: fields.Count | None = None


class _ProductAlias(_CodeAlias):
    name: fields.Text
    by_batch: bool
    by_serial: bool
    in_stock: bool
    units: dict[Unit, Quantity] | None = None
    facets: fields.Facets | None = None


class _PartnerAlias(_Alias):
    name: fields.Text


class _WarehouseAlias(_CodeAlias):
    name: fields.Text


class _PositionAlias(_CodeAlias):
    type: fields.Text | None = None
    pickable: bool
    disabled: bool
    blocked: bool
    assigned: fields.Ids | None = None


class _GtinAlias(_Alias):
    item_code: fields.Text
    units: fields.Count


class _OpenWork(Attributes):
    product: fields.Ids | None = None
    warehouse: fields.Ids | None = None
    position: fields.Ids | None = None


class _OpenApproval(_ExpiringAlias):
    stage: Literal["pending", "granted", "used"]
    until: fields.Count
    figures: fields.HexDigest | None = None


class _CountedPlace(_Alias):
    line: fields.Count


class _Replenished(Attributes):
    version: fields.Version
    transfers: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,11}$")], fields.Id],
        Field(min_length=1),
    ]


class _CountSums(Attributes):
    counted: fields.Difference
    differences: fields.Difference
    units: Decimal | int
    closed: bool | None = None


class _PendingWave(_ExpiringAlias):
    mark: fields.Text
    until: fields.Count
    touches: fields.Count | None = None
    stirred: fields.Count | None = None


class _Batch(Attributes):
    expiry_date: Annotated[str, AfterValidator(fields.check_day)] | None = None
    version: fields.Version
    changed_ms: fields.Count
    new_rows: fields.Ids | None = None


class _Holds(Attributes):
    holds: fields.Difference
    arrivals: fields.Version | None = None
    stocked: fields.Ids | None = None


class _LevelMark(Attributes):
    state: Literal["committed", "aborted"]
    places: bytes | None = None
    expires_at: fields.Expiry | None = None


class _Passed(_Alias):
    passed: fields.Version


class _Register(Attributes):
    version: fields.Version
    ids: Annotated[fields.Ids, Field(max_length=MAX_WEBHOOKS)] | None = None
    wanted: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,11}$")], fields.Text],
        Field(max_length=MAX_WEBHOOKS),
    ]


class _Health(Attributes):
    failure_count: fields.Count = 0
    last_triggered_at: fields.Instant | None = None
    quick: bool | None = None


class _Delivery(Attributes):
    version: fields.Version
    data: bytes
    expires_at: fields.Expiry


class _StoredResponse(Attributes):
    partition: fields.Text
    until: fields.Count


class _SecondFactor(Attributes):
    sealed: bytes
    confirmed: bool
    last_step: fields.Count
    salt: Annotated[bytes, Field(min_length=16, max_length=16)]
    codes: Annotated[dict[fields.HexDigest, Literal[True]], Field(max_length=COUNT)]
    response: _StoredResponse | None = None


class _Login(Attributes):
    version: fields.Version
    password: Annotated[str, AfterValidator(fields.check_password)]
    tokens_from: fields.Count
    epoch: fields.Count
    code_epoch: fields.Count
    kept_session: fields.Text | None = None
    wrong_codes: fields.Count = 0
    wrong_code_at: fields.Count = 0
    totp: _SecondFactor | None = None


class _Session(Attributes):
    user_id: fields.Id
    client_id: fields.Text | None = None
    second_factor: bool
    epoch: fields.Count
    generation: fields.Version
    created_at: fields.Past
    used_at: fields.Past | None = None
    family: fields.Digest
    secret: fields.Digest
    expires_at: fields.Expiry


class _Fence(Attributes):
    epoch: fields.Count


class _Holders(Attributes):
    holders: fields.Count


class _SchemaVersion(Attributes):
    version: Annotated[int, Field(ge=1, le=SCHEMA_VERSION)]


class _Sequence(Attributes):
    last: Annotated[int, Field(ge=0, le=MAX_ID)]


class _Totals(Attributes):
    """Totals of any value of a facet. A text is of another release, and nothing counts it."""

    __pydantic_extra__: dict[str, fields.Difference | str]

    @model_validator(mode="after")
    def _check_numbers(self) -> Self:
        for name, value in (self.__pydantic_extra__ or {}).items():
            if isinstance(value, str) and ("=" in name or name.rpartition(":")[2] in _NUMBERS):
                raise ValueError(f"{name} must be a number")
        return self


class _Claim(Attributes):
    fingerprint: fields.Text
    owner: fields.Text
    request: fields.Text | None = None
    has_steps: bool | None = None
    progress: bytes | None = None
    lease_until: fields.Count
    expires_at: fields.Expiry


class _Response(Attributes):
    fingerprint: fields.Text
    status: Annotated[int, Field(ge=200, le=599)]
    headers: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,60}$")], fields.Text]
    body: bytes
    sealed: bool | None = None
    parts: Annotated[int, Field(ge=1, le=MAX_PARTS)] | None = None
    expires_at: fields.Expiry


class _ResponseTail(Attributes):
    body: bytes
    expires_at: fields.Expiry


@dataclass(frozen=True, slots=True)
class ItemKind:
    """Where the items of a kind are, and what they have.

    Attributes:
        attributes: Their attributes.
        rest: What follows the first `#` of their partition key; None if it has none.
        sort: Their sort key.
        variants: Attribute → the attributes of the items that have it.
        index: Returns an item with the index keys that an item must have; None if it has none.
    """

    attributes: type[Attributes]
    rest: str | None
    sort: str = "ALIAS"
    variants: Mapping[str, type[Attributes]] = field(default_factory=dict)
    index: Callable[[Item], Item] | None = None

    def has(self, rest: str | None, sort: str) -> bool:
        """Return whether an item with the rest of a partition key and a sort key is of the kind."""
        is_at_place = rest is None if self.rest is None else _matches(self.rest, rest)
        return is_at_place and _matches(self.sort, sort)

    def model_of(self, item: Item) -> type[Attributes]:
        """Return the model of the attributes of an item."""
        found = (model for name, model in self.variants.items() if name in item)
        return next(found, self.attributes)


def _matches(pattern: str, text: str | None) -> bool:
    return text is not None and re.fullmatch(pattern, text) is not None


def _session_index(item: Item) -> Item:
    session = session_from_item(item)
    if session is None or not is_session_id(session.id, session.user_id):
        raise ValueError("user_id: must be that of the key")
    expected = index_entry(session)
    return expected if expected.keys() & item.keys() else {}  # an earlier release has none


def _delivery_index(item: Item) -> Item:
    logged = parse_delivery(item)
    return delivery_item(logged, logged.delivery, now_ms()) if logged else {}


def _level_mark_index(item: Item) -> Item:
    return left_entry(fields.check_instant(str(item.get("S1")))) if places_of(item) else {}


def _product_index(item: Item) -> Item:
    partitions = (index_keys(number)[0] for number in range(1, INDEX_COUNT + 1))
    begin = f"product#{SEARCH}#"
    return item if all(str(item.get(name, begin)).startswith(begin) for name in partitions) else {}


_ID, _NUMBER, _TEXT = r"\d{12}", r"[1-9]\d{0,11}", r"[^\x00-\x1f]+"
_OPTIONAL = r"[^\x00-\x1f]*"
_OF_TWO = f"{_TEXT}\x1f{_TEXT}"
_PLACE = f"{_ID}\x1f{_TEXT}"
_GOODS = f"{_ID}\x1f{_TEXT}\x1f{_OPTIONAL}\x1f{_OPTIONAL}"
_REFERENCES = ItemKind(_Alias, _TEXT)
_PARTNERS = ItemKind(_PartnerAlias, _TEXT)
_DOCUMENT_REFERENCES = ItemKind(_Alias, _OF_TWO)
_IMPORTS = ItemKind(_ExpiringAlias, _TEXT)
_PENDING_WAVES = ItemKind(_PendingWave, _ID, "HEAD")

ITEM_KINDS: Mapping[str, tuple[ItemKind, ...]] = {
    "administrators": (ItemKind(_Fence, None, "FENCE"),),
    "approval_request": (ItemKind(_OpenApproval, "[0-9a-f]{64}", "OPEN"),),
    "batch": (ItemKind(_Batch, f"{_ID}\x1f{_TEXT}", "HEAD"),),
    "bin": (ItemKind(_PositionAlias, _OF_TWO, variants={"former": _FormerAlias}),),
    "client_code": (_PARTNERS,),
    "count": (ItemKind(_Totals, _TEXT, "0[0-9]|1[0-5]"),),
    "count_sums": (ItemKind(_CountSums, _ID, "0[0-3]"),),
    "counted": (ItemKind(_CountedPlace, _PLACE, f"EMPTY|{_GOODS}"),),
    "delivery": (ItemKind(_Delivery, _ID, r"evt_[0-9a-f]{32}", index=_delivery_index),),
    "document_id": (_REFERENCES,),
    "entry_ref": (_DOCUMENT_REFERENCES,),
    "exit_ref": (_DOCUMENT_REFERENCES,),
    "export_newest": (ItemKind(_Alias, "all"),),
    "gtin": (ItemKind(_GtinAlias, r"\d{14}"),),
    "held": (ItemKind(_Holds, f"position#{_NUMBER}", "COUNT"),),
    "hold_ref": (_REFERENCES,),
    "idempotency": (
        ItemKind(_Response, _TEXT, "HEAD", variants={"owner": _Claim}),
        ItemKind(_ResponseTail, _TEXT, r"PART#\d{3}"),
    ),
    "import_contents": (_IMPORTS,),
    "import_origin": (_IMPORTS,),
    "item_code": (
        ItemKind(
            _ProductAlias, _TEXT,
            variants={"former": _FormerAlias}, index=_product_index,
        ),
        ItemKind(_Alias, _TEXT, f"FACE#bin#{_OF_TWO}"),
    ),
    "level_mark": (ItemKind(_LevelMark, "[0-9a-f]{32}", "HEAD", index=_level_mark_index),),
    "login": (ItemKind(_Login, _ID, "LOGIN"),),
    "open": (
        ItemKind(
            _OpenWork, None,
            f"(entry|exit|transfer|transfer_order|return|stock_count)#{_NUMBER}",
        ),
    ),
    "pending_wave": (_PENDING_WAVES,),
    "provider_code": (_PARTNERS,),
    "replenished": (ItemKind(_Replenished, f"{_TEXT}\x1f{_ID}", "HEAD"),),
    "return_ref": (_REFERENCES,),
    "rfid_passed": (ItemKind(_Passed, _NUMBER, "VERSION"),),
    "role_name": (_REFERENCES,),
    "role_users": (ItemKind(_Holders, _ID, "COUNT"),),
    "schema": (ItemKind(_SchemaVersion, None, "HEAD"),),
    "sequence": (ItemKind(_Sequence, None, "[a-z_]+"),),
    "session": (
        ItemKind(_Session, f"{_NUMBER}-[0-9a-f]{{24}}", "HEAD", index=_session_index),
    ),
    "sscc": (ItemKind(_Alias, r"\d{18}"),),
    "stock_row": (ItemKind(_Alias, f"{_ID}\x1f{_ID}\x1f{_OPTIONAL}", f"{_TEXT}\x1f{_OPTIONAL}"),),
    "stock_serial": (ItemKind(_Alias, f"{_ID}\x1f{_TEXT}"),),
    "transfer_order_ref": (_REFERENCES,),
    "transfer_order_request": (_IMPORTS,),
    "username": (_REFERENCES,),
    "warehouses": (ItemKind(_WarehouseAlias, None, _TEXT, variants={"former": _FormerAlias}),),
    "webhooks": (
        ItemKind(_Register, None, "REGISTER"),
        ItemKind(_Health, None, f"(HEALTH|PULSE)#{_ID}"),
    ),
}  # fmt: skip
"""Beginning of a partition key, up to the first `#` → kinds of items."""


def kind_of(partition: str, sort: str) -> ItemKind | None:
    """Return the kind of an item that belongs to no entity; None if no release writes it."""
    begin, mark, rest = partition.partition("#")
    kinds = ITEM_KINDS.get(begin, ())
    return next((kind for kind in kinds if kind.has(rest if mark else None, sort)), None)


__all__ = [
    "ITEM_KINDS", "MAX_WEBHOOKS", "Attributes", "Derived", "Head", "ItemKind", "Tail", "Tombstone",
    "kind_of",
]  # fmt: skip
