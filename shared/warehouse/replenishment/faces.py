"""What lies at pick faces that are to be filled, read by their positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.store import Store
from shared.kernel.fields import ZERO
from shared.warehouse.catalog import service as catalog
from shared.warehouse.master_data import uses
from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import StockRow
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse


@dataclass(frozen=True, slots=True)
class FaceStock:
    """The rows with stock at the position of a pick face, also of other products.

    `room` is how many units of its product fit, None for any; with the setting `capacity` at
    `ignore`, any do. `index_lags` says that the position has more rows than an index has, not than
    were read of it.
    """

    rows: list[StockRow]
    room: Decimal | None
    index_lags: bool


def is_room_enforced(store: Store) -> bool:
    """Return whether a pick face gets no more than fits."""
    return settings_of(store.company).capacity == "enforce"


def read_faces(
    store: Store,
    warehouse: KnownWarehouse,
    faces: Sequence[PickFace],
    positions: Mapping[str, KnownPosition],
) -> dict[int, FaceStock]:
    """Return what lies at pick faces, by their ids; `positions` has the position of each."""
    enforces = is_room_enforced(store)
    ids = {face.id: positions[face.bin_code].id for face in faces}
    # The counts are read before the rows that they count.
    counts, stored, listed = run_all(
        lambda: uses.position_counts(store, ids.values()),
        lambda: warehouses.stored_positions(store, ids.values() if enforces else ()),
        lambda: map_concurrently(
            lambda face: stock.listed_at(store, warehouse.id, face.bin_code), [*faces]
        ),
    )
    listed_rows = [*chain(*(at for at, _ in listed))]
    found = stock.rows_by_id(store, [one.id for one in listed_rows])
    # A serial may have left, which the index does not show yet.
    rows = {
        face.id: [
            row
            for one in at
            if (row := found.get(one.id)) and row.qty and row.position_id == ids[face.id]
        ]
        for face, (at, _) in zip(faces, listed, strict=True)
    }
    at = {one.id: one for one in stored}
    products = {face.product_id for face in faces} | {one.product_id for one in listed_rows}
    packagings = catalog.packagings(store, sorted(products)) if enforces else {}

    def room_at(face: PickFace) -> Decimal | None:
        if not enforces:
            return None
        contents: dict[int, Decimal] = {}
        for row in rows[face.id]:
            contents[row.product_id] = contents.get(row.product_id, ZERO) + row.qty
        return stock.room_for(face.product_id, at[ids[face.id]], contents, packagings)

    return {
        face.id: FaceStock(
            rows[face.id],
            room_at(face),
            index_lags=is_all and len(rows[face.id]) < counts[ids[face.id]].rows,
        )
        for face, (_, is_all) in zip(faces, listed, strict=True)
    }
