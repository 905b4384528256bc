"""What the label of a position shows. Only reading: nothing here renders or imports what does."""

from shared.kernel.db.store import Store
from shared.warehouse.labels.models import CodeLabelContent
from shared.warehouse.warehouses.service import stored_position


def position_label_content(store: Store, number: int) -> CodeLabelContent:
    """Return the content of the label of a position."""
    position = stored_position(store, number).entity
    details = [position.whs_code, *filter(None, [position.description])]
    return CodeLabelContent(f"position-{number}", position.bin_code, details)
