"""Routes of RFID validations."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.rfid import service, views
from shared.warehouse.rfid.models import (
    RfidValidation,
    RfidValidationDetail,
    RfidValidationDraft,
    RfidValidationParameters,
    StoredValidation,
)

routes = Routes()

_READ: OperationOptions = {"scope": "pickings:read"}


@routes.read(
    "/rfid-validations",
    "List RFID validations",
    _READ,
    response=RfidValidation,
    parameters=RfidValidationParameters,
)
def list_validations(
    store: Store, request: Request[None, RfidValidationParameters]
) -> ListResponse[StoredValidation]:
    """Return a page of validations, without their differences."""
    page = service.list_validations(store, request.parameters)
    return ListResponse(page, views.validation_in_list)


@routes.read(
    "/rfid-validations/{id}",
    "Get an RFID validation",
    _READ,
    response=RfidValidationDetail,
)
def get_validation(store: Store, request: Request) -> ResourceResponse:
    """Return one validation with its differences."""
    return _shown(service.get_validation(store, request.id))


@routes.write(
    "POST",
    "/rfid-validations",
    "Validate RFID tags",
    scope="pickings:write",
    permission="exits.manage",
    body=RfidValidationDraft,
    response=RfidValidationDetail,
    statuses=(201,),
    description="Compares the tags that a reader has read with the goods of a packing order, a"
    " handling unit, a picking, a receipt or a return; exactly one of them is named. Each tag"
    " counts once. The result is `passed` when nothing is missing, unexpected, unknown or"
    " unreadable. At most 10,000 EPCs.",
)
def create_validation(
    tx: Transaction, request: Request[Checked[RfidValidationDraft]]
) -> ResourceResponse:
    """Compare tags with goods, and return the validation."""
    created = service.create_validation(tx, request.body)
    view = views.validation_in_detail(created.record, created.differences)
    return ResourceResponse(view, 201, f"/rfid-validations/{created.record.id}")


def _shown(found: service.Validation) -> ResourceResponse:
    return ResourceResponse(views.validation_in_detail(found.record, found.differences))
