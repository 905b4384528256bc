"""The work of moving stock between positions."""

from shared.db.transaction import Transaction
from shared.http.operations import Answer, Routes
from shared.http.request import Request
from shared.work import transferring, views
from shared.work.models import TransferDetail
from shared.work.transferring_models import ErpAnswer, TransferDraft

routes = Routes("work")

_WRITE = {
    "scope": "transfers:write",
    "permission": "inventory.manage",
    "answer": TransferDetail,
    "errors": ("conflict",),
}


@routes.declare(
    "POST",
    "/transfers",
    "Transfer stock",
    body=TransferDraft,
    collects_problems=True,
    statuses=(201,),
    description="Moves free stock between positions of one warehouse or of two, all lines at once"
    " or none: `transferred`, or `conflict` when too little is free. With `execute` false it is"
    " `pending` until it is executed. At most 12 lines inside a warehouse or 8 between two; one"
    " line alone may have 40 serials.",
    **_WRITE,
)
def create_transfer(tx: Transaction, request: Request) -> Answer:
    """Move stock, now or later."""
    record = transferring.create_transfer(tx, request.body, request.problems)
    return Answer(views.transfer_in_detail(record), 201, f"/transfers/{record.id}")


@routes.declare(
    "POST",
    "/transfers/{id}/execute",
    "Execute a transfer",
    description="pending or error becomes transferred; or error, with the reason in `message`,"
    " when the goods are not there. Then it may be executed again.",
    **_WRITE,
)
def execute_transfer(tx: Transaction, request: Request) -> Answer:
    """Move the stock of a transfer that waits."""
    return Answer(views.transfer_in_detail(transferring.execute_transfer(tx, request.id)))


@routes.declare(
    "POST",
    "/transfers/{id}/acknowledge",
    "Note the ERP's answer to a transfer",
    body=ErpAnswer,
    description="Once it is transferred. Each answer replaces the one before.",
    **_WRITE,
)
def acknowledge_transfer(tx: Transaction, request: Request) -> Answer:
    """Keep what the ERP answered."""
    record = transferring.acknowledge_transfer(tx, request.id, request.body)
    return Answer(views.transfer_in_detail(record))
