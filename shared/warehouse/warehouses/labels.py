"""What the label of a position shows. Only reading: nothing here renders or imports what does."""

from collections.abc import Sequence

from shared.kernel.db.store import Store
from shared.warehouse.labels.models import CodeLabelContent
from shared.warehouse.warehouses.models import StoredPosition
from shared.warehouse.warehouses.service import stored_position, stored_positions


def position_label(store: Store, number: int) -> CodeLabelContent:
    """Return the content of the label of a position."""
    return _content_of(stored_position(store, number).entity)


def position_labels(store: Store, numbers: Sequence[int]) -> dict[int, CodeLabelContent]:
    """Return the contents of the labels of those of the positions that exist."""
    return {position.id: _content_of(position) for position in stored_positions(store, numbers)}


def _content_of(position: StoredPosition) -> CodeLabelContent:
    details = [position.whs_code, *filter(None, [position.description])]
    return CodeLabelContent(position.bin_code, details)
