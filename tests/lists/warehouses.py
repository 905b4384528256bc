"""The lists of warehouses and of their positions."""

from decimal import Decimal

from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.warehouses.models import StoredPosition, StoredWarehouse
from shared.warehouse.warehouses.repository import POSITIONS, WAREHOUSES, warehouse_key
from tests.lists import spec

WAREHOUSE_CODES = {1: "W1", 2: "W2", 3: "W3"}
"""Id → code of the warehouses of rows of other lists."""
WAREHOUSE_NAMES = {"W1": "Central", "W2": "Harbour", "W3": "Yard"}


def put_warehouses(tx: Transaction) -> None:
    """Stage the items of the warehouses."""
    for number, code in WAREHOUSE_CODES.items():
        partition, sort = warehouse_key(code)
        name = WAREHOUSE_NAMES[code]
        tx.put({PARTITION_KEY: partition, SORT_KEY: sort, "id": number, "name": name})


def warehouse_of(number: int) -> int:
    """Return the id of the warehouse of row n."""
    return number % len(WAREHOUSE_CODES) + 1


def _code(number: int) -> str:
    return f"W{number * 7919 % 10**6:06d}"


def _warehouse(number: int, times: spec.Times) -> StoredWarehouse:
    return StoredWarehouse(
        id=number,
        whs_code=_code(number),
        name=f"{('Halle', 'ÉTÉ', 'été', 'Yard')[number % 4]} {number % 19}",
        site_code=spec.unless(number, 2, f"S{number % 3}"),
        is_virtual=number % 3 == 0,
        timezone=spec.unless(number, 3, "America/Caracas"),
        street=spec.unless(number, 4, "Calle 7"),
        block=spec.unless(number, 5, "B"),
        city=spec.unless(number, 3, "Valparaíso"),
        state=spec.unless(number, 2, "V"),
        zip_code=spec.unless(number, 4, "2340000"),
        country=spec.unless(number, 5, "CL"),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


WAREHOUSE_LIST = spec.Listed(
    path="/warehouses",
    collection=WAREHOUSES,
    make=_warehouse,
    fields=spec.fields("""
        id integer
        whs_code string
        name string
        site_code string?
        is_virtual boolean
        timezone string?
        street string?
        block string?
        city string?
        state string?
        zip_code string?
        country string?
        positions_count integer
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"created_at", "updated_at"}),
    filters={
        "whs_code": spec.equal("whs_code", _code),
        "search": spec.contains_text(
            "whs_code", "name", values=["été", "w0", "YARD 1", "?"], code=_code
        ),
        "is_virtual": spec.flag("is_virtual", selective=True),
    },
    sorts={
        "whs_code": spec.by("whs_code"),
        "name": spec.by_folded_text("name"),
        "updated_at": spec.by("updated_at"),
    },
    default_sort="whs_code",
)


def bin_code(number: int) -> str:
    """Return the position code of row n; every warehouse has the position."""
    place = number // len(WAREHOUSE_CODES)
    return f"{'CABÑ'[place % 4]}-{place:06d}"


def _position(number: int, times: spec.Times) -> StoredPosition:
    return StoredPosition(
        id=number,
        warehouse_id=warehouse_of(number),
        whs_code=WAREHOUSE_CODES[warehouse_of(number)],
        bin_code=bin_code(number),
        description=spec.unless(number, 2, "by the gate"),
        type=spec.unless(number, 5, "pick_face" if number % 2 else "reserve"),
        zone_id=spec.unless(number, 3, number % 7 + 1),
        aisle=spec.unless(number, 4, "A"),
        rack=spec.unless(number, 5, "01"),
        level=spec.unless(number, 2, "2"),
        slot=spec.unless(number, 3, "3"),
        pick_sequence=spec.unless(number, 4, number * 13 % 50),
        is_pickable=number % 2 == 0,
        is_blocked=number % 5 == 0,
        is_crossdock=number % 7 == 0,
        disabled=number % 11 == 0,
        capacity_units=spec.unless(number, 2, Decimal(40)),
        capacity_weight_kg=spec.unless(number, 3, Decimal("812.5")),
        capacity_volume_m3=spec.unless(number, 4, Decimal("1.25")),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


POSITION_LIST = spec.Listed(
    path="/warehouse-positions",
    collection=POSITIONS,
    make=_position,
    related_items=put_warehouses,
    fields=spec.fields("""
        id integer
        warehouse_id integer
        whs_code string?
        bin_code string
        description string?
        type string?
        zone_id integer?
        aisle string?
        rack string?
        level string?
        slot string?
        pick_sequence integer?
        is_pickable boolean
        is_blocked boolean
        is_crossdock boolean
        disabled boolean
        capacity_units number?
        capacity_weight_kg number?
        capacity_volume_m3 number?
        warehouse object?
        warehouse.id integer
        warehouse.whs_code string
        warehouse.name string
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"whs_code", "warehouse", "created_at", "updated_at"}),
    filters={
        "warehouse_id": spec.Filter(
            lambda _: ("2", "1", "4"),
            lambda row, value: row["warehouse_id"] == int(value),
            spec.INVALID_IDS,
            selective=True,
        ),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W3", "W4", "w2"),
            lambda row, value: row["warehouse"]["whs_code"] == value,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "bin_code": spec.equal("bin_code", bin_code),
        "search": spec.contains_text(
            "bin_code", values=["ñ-", "b-0000", "00001", "?"], code=bin_code
        ),
    },
    sorts={
        "bin_code": spec.by("bin_code"),
        "pick_sequence": spec.by("pick_sequence"),
        "updated_at": spec.by("updated_at"),
    },
    default_sort="bin_code",
)
