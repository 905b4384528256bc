"""The list of approvals."""

from shared.kernel.clock import instant, milliseconds_of
from shared.warehouse.approvals.models import StoredApproval
from shared.warehouse.approvals.repository import APPROVALS
from tests.lists import spec

_STAGES = ("pending", "granted", "denied", "used")
_STATUSES = ("expired", "denied", "used", "pending", "granted")
_DAY_MS = 86_400_000
_CODES = ("over_receipt", "shortage", "adjustment")


def _approval(number: int, times: spec.Times) -> StoredApproval:
    stage = _STAGES[number % 4]
    is_decided = stage != "pending"
    user = {"user_id": spec.unless(number, 3, 5), "name": spec.unless(number, 5, "Luisa Vega")}
    return StoredApproval.model_validate(
        {
            **times.of(number),
            "stage": stage,
            "code": _CODES[number % 3],
            "message": "12.5 of BOLT-M8 would be received, 12 ordered",
            "resource": {"object": "receipt", "id": number},
            "method": "POST",
            "path": f"/receipts/{number}/lines",
            "body_json": spec.unless(number, 5, '{"item_code":"BOLT-M8","qty":0.500001}'),
            "digest": f"{number:064x}",
            "requested_by": {
                "user_id": 7 if number % 2 else None,
                "client_id": None if number % 2 else f"stw_acme_{number:024x}",
                "name": spec.unless(number, 5, "Luisa Vega"),
            },
            "decided_by": user if is_decided else None,
            "decided_at": times.updated(number) if is_decided else None,
            "comment": spec.unless(number, 3, "Goes to the next truck") if is_decided else None,
            "expires_at": instant(milliseconds_of(times.created(number)) + _DAY_MS),
        }
    )


APPROVAL_LIST = spec.Listed(
    path="/approvals",
    collection=APPROVALS,
    make=_approval,
    period=True,
    fields=spec.fields("""
        integer: id resource.id requested_by.user_id? decided_by.user_id?
        string: object status code message comment? resource.object request.method request.path
        string: request.body.item_code requested_by.client_id? requested_by.name? decided_by.name?
        number: request.body.qty
        object: resource request request.body? requested_by decided_by?
        date-time: decided_at? expires_at created_at updated_at
    """),
    # The rows are years old, so those that are open have expired.
    filters={"status": spec.one_of("status", _STATUSES, wrong=("", "open", "Used"))},
)
