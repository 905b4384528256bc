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


def by_warehouse(path: str) -> spec.Filter:
    """Return a filter by the code of a warehouse, which is that of a field."""
    codes = ("W2", "W1", "W4", "w2")
    return spec.among(path, codes, wrong=spec.INVALID_TEXTS, narrow=True)


def _code(number: int) -> str:
    return f"W{number * 7919 % 10**6:06d}"


def _warehouse(number: int, times: spec.Times) -> StoredWarehouse:
    return StoredWarehouse(
        **times.of(number),
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
        metadata={"erp_id": str(number)},
    )


WAREHOUSE_LIST = spec.Listed(
    path="/warehouses",
    collection=WAREHOUSES,
    make=_warehouse,
    fields=spec.fields("""
        integer: id positions_count
        string: whs_code name site_code? timezone? street? block? city? state? zip_code? country?
        string: metadata.erp_id
        object: metadata
        boolean: is_virtual
        date-time: created_at?! updated_at?!
    """),
    filters={
        "whs_code": spec.equal("whs_code", _code),
        "search": spec.contains_text(
            "whs_code", "name", values=["été", "w0", "YARD 1", "?"], code=_code
        ),
        "is_virtual": spec.flag("is_virtual", selective=True),
    },
    sorts=spec.sorted_by("whs_code name updated_at"),
    default_sort="whs_code",
)


def bin_code(number: int) -> str:
    """Return the position code of row n; every warehouse has the position."""
    place = number // len(WAREHOUSE_CODES)
    return f"{'CABÑ'[place % 4]}-{place:06d}"


def _position(number: int, times: spec.Times) -> StoredPosition:
    return StoredPosition(
        **times.of(number),
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
    )


POSITION_LIST = spec.Listed(
    path="/warehouse-positions",
    collection=POSITIONS,
    make=_position,
    related_items=put_warehouses,
    fields=spec.fields("""
        integer: id warehouse_id zone_id? pick_sequence? warehouse.id
        number: capacity_units? capacity_weight_kg? capacity_volume_m3?
        string: whs_code?! bin_code description? type? aisle? rack? level? slot?
        string: warehouse.whs_code warehouse.name
        boolean: is_pickable is_blocked is_crossdock disabled
        object: warehouse?!
        date-time: created_at?! updated_at?!
    """),
    filters={
        "warehouse_id": spec.among(
            "warehouse_id", ("2", "1", "4"), wrong=spec.INVALID_IDS, narrow=True
        ),
        "warehouse": by_warehouse("warehouse.whs_code"),
        "bin_code": spec.equal("bin_code", bin_code),
        "search": spec.contains_text(
            "bin_code", values=["ñ-", "b-0000", "00001", "?"], code=bin_code
        ),
    },
    sorts=spec.sorted_by("bin_code pick_sequence updated_at"),
    default_sort="bin_code",
)
