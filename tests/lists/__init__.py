"""Specifications of all lists of the service."""

from collections.abc import Mapping

from tests.lists.approvals import APPROVAL_LIST
from tests.lists.audit import AUDIT_LIST
from tests.lists.counts import COUNT_LIST
from tests.lists.documents import ENTRY_LIST, EXIT_LIST
from tests.lists.exports import EXPORT_LIST
from tests.lists.holds import HOLD_LIST
from tests.lists.imports import IMPORT_LIST
from tests.lists.packing import HANDLING_UNIT_LIST, PACKING_ORDER_LIST
from tests.lists.partners import CLIENT_LIST, PROVIDER_LIST
from tests.lists.pick_faces import PICK_FACE_LIST
from tests.lists.products import CATEGORY_LIST, PRODUCT_LIST
from tests.lists.returns import RETURN_LIST
from tests.lists.rfid import RFID_VALIDATION_LIST
from tests.lists.spec import Listed
from tests.lists.stock import LEVEL_LIST, MOVEMENT_LIST, STOCK_LIST, TOTAL_LIST
from tests.lists.transfer_orders import TRANSFER_ORDER_LIST
from tests.lists.users import ROLE_LIST, USER_LIST
from tests.lists.warehouses import POSITION_LIST, WAREHOUSE_LIST
from tests.lists.waves import WAVE_LIST
from tests.lists.webhooks import WEBHOOK_LIST
from tests.lists.work import PICKING_LIST, RECEIPT_LIST, TRANSFER_LIST

LISTS: Mapping[str, Listed] = {
    listed.name: listed
    for listed in (
        WAREHOUSE_LIST,
        POSITION_LIST,
        PICK_FACE_LIST,
        PRODUCT_LIST,
        CATEGORY_LIST,
        CLIENT_LIST,
        PROVIDER_LIST,
        ENTRY_LIST,
        EXIT_LIST,
        HOLD_LIST,
        COUNT_LIST,
        RECEIPT_LIST,
        PICKING_LIST,
        PACKING_ORDER_LIST,
        HANDLING_UNIT_LIST,
        RFID_VALIDATION_LIST,
        TRANSFER_LIST,
        TRANSFER_ORDER_LIST,
        RETURN_LIST,
        WAVE_LIST,
        APPROVAL_LIST,
        IMPORT_LIST,
        EXPORT_LIST,
        WEBHOOK_LIST,
        USER_LIST,
        ROLE_LIST,
        STOCK_LIST,
        LEVEL_LIST,
        TOTAL_LIST,
        MOVEMENT_LIST,
        AUDIT_LIST,
    )
}
"""Name → specification, in the order of the API documentation."""

UNINDEXED_LISTS: Mapping[str, str] = {
    "/webhooks/{id}/deliveries": "tests/integration/webhooks/test_log.py",
    "/api-clients": "tests/integration/settings/test_api_client_list.py",
    "/users/{id}/sessions": "tests/integration/users/test_sessions.py",
}
"""Path of a list without totals and indexes, which is short or shows only the newest rows → the
tests of its pages, sort orders and filters."""
