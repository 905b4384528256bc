"""Examples of the write routes of webhooks."""

from collections.abc import Mapping

from shared.kernel.clock import instant, now_ms
from tests.dns import HOOKS
from tests.gateway import Erp
from tests.integration.route_example import Example, Values, creation, deletion

_HOOK = {"url": f"https://{HOOKS}/stowage", "events": ["picking.completed", "shipment.dispatched"]}
_MOVED = {"url": f"https://{HOOKS}:8443/v2", "events": ["stock.updated"], "is_active": True}
_AUDITED = {"audit": 1}


_hook = creation("/webhooks", _HOOK)


def subscribe(erp: Erp) -> int:
    """Create a subscription as this caller; return its id."""
    return int(str(_hook(erp)["id"]))


def _delivery(erp: Erp) -> Values:
    values = _hook(erp)
    return {**values, "delivery": erp.post(f"/webhooks/{values['id']}/test").ok(202)["id"]}


def webhook_examples() -> Mapping[str, Example]:
    """Return `METHOD /path` → example."""
    return {
        "POST /webhooks": Example(201, body=_HOOK, grows={"webhook": 1, **_AUDITED}),
        "PATCH /webhooks/{id}": Example(200, body=_MOVED, prepare=_hook, grows=_AUDITED),
        "DELETE /webhooks/{id}": deletion(_hook, "webhook", **_AUDITED),
        "POST /webhooks/{id}/rotate-secret": Example(
            200, body={"overlap_hours": 48}, prepare=_hook, grows=_AUDITED
        ),
        "POST /webhooks/{id}/test": Example(
            202, prepare=_hook, grows=_AUDITED, events=["webhook.test"]
        ),
        "POST /webhooks/{id}/recover": Example(
            202,
            body={},
            dynamic_fields=lambda _: {"since": instant(now_ms() - 86_400_000)},
            prepare=_hook,
            grows=_AUDITED,
            events=["recovery"],
            status_afterwards=405,  # what follows is in the log
        ),
        "POST /webhooks/{id}/deliveries/{delivery}/redeliver": Example(
            202, prepare=_delivery, grows=_AUDITED, events=["redelivery"]
        ),
    }
