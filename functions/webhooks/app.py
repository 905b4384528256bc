"""HTTP handler of webhook subscriptions and their delivery log."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.tenancy.tenant import WEBHOOKS
from shared.integration.webhooks import service, views
from shared.integration.webhooks.models import (
    Delivery,
    DeliveryParameters,
    RecoveryDraft,
    SecretRotation,
    StoredDelivery,
    StoredWebhook,
    Webhook,
    WebhookChange,
    WebhookCreate,
    WebhookParameters,
    WebhookRecovery,
    WebhookWithSecret,
)
from shared.integration.webhooks.service import WebhookWithHealth
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked

routes = Routes()

_ACCESS: OperationOptions = {
    "scope": "webhooks:manage",
    "permission": "users.manage",
    "feature": WEBHOOKS,
}
_ONE_WEBHOOK: OperationOptions = {**_ACCESS, "errors": ("gone",)}
_DELIVERY_LOG: OperationOptions = {**_ACCESS, "errors": ("gone",), "response": Delivery}


@routes.read(
    "/webhooks",
    "List subscriptions",
    _ACCESS,
    response=Webhook,
    parameters=WebhookParameters,
)
def list_webhooks(
    store: Store, request: Request[None, WebhookParameters]
) -> ListResponse[StoredWebhook]:
    """Return a page of subscriptions."""
    page, health = service.list_webhooks(store, request.parameters)
    return ListResponse(page, lambda record: views.webhook(record.entity, health.get(record.id)))


@routes.write(
    "POST",
    "/webhooks",
    "Create a subscription",
    _ACCESS,
    response=WebhookWithSecret,
    body=WebhookCreate,
    response_has_secret=True,
    request_has_secret=True,
    statuses=(201,),
    errors=("limit_reached",),
    description="`url` must use https on port 443 or 8443, and its host must resolve only to public"
    " IP addresses; each delivery attempt checks this again. `secret` signs the deliveries; only"
    " this response contains it. A tenant has at most 20 subscriptions.",
)
def create_webhook(tx: Transaction, request: Request[Checked[WebhookCreate]]) -> ResourceResponse:
    """Create a subscription."""
    created, secret = service.create_webhook(tx, request.tenant, request.body)
    view = views.new_webhook(created.record.entity, created.health, secret)
    return ResourceResponse(view, 201, f"/webhooks/{created.record.id}")


@routes.read(
    "/webhooks/{id}",
    "Get a subscription",
    _ONE_WEBHOOK,
    response=Webhook,
    volatile_fields=("failure_count", "last_triggered_at"),
)
def get_webhook(store: Store, request: Request) -> ResourceResponse:
    """Return a subscription."""
    return _webhook_response(service.get_webhook(store, request.id))


@routes.write(
    "PATCH",
    "/webhooks/{id}",
    "Change a subscription",
    _ONE_WEBHOOK,
    response=Webhook,
    body=WebhookChange,
    description="The change applies to pending deliveries, too. Events that occur while a"
    " subscription is inactive are not delivered.",
)
def change_webhook(tx: Transaction, request: Request[Checked[WebhookChange]]) -> ResourceResponse:
    """Change the fields of a subscription that were sent."""
    return _webhook_response(service.change_webhook(tx, request.id, request.body))


@routes.write(
    "DELETE",
    "/webhooks/{id}",
    "Delete a subscription",
    _ONE_WEBHOOK,
    response=Webhook,
    description="Pending deliveries are dropped.",
)
def delete_webhook(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a subscription; return it as it was."""
    return _webhook_response(service.delete_webhook(tx, request.id))


@routes.write(
    "POST",
    "/webhooks/{id}/rotate-secret",
    "Rotate the secret",
    _ONE_WEBHOOK,
    response=WebhookWithSecret,
    body=SecretRotation,
    response_has_secret=True,
    request_has_secret=True,
    description="Only this response contains the new secret. The previous secret remains valid for"
    " `overlap_hours` (24 by default); until then each delivery has both signatures.",
)
def rotate_secret(tx: Transaction, request: Request[Checked[SecretRotation]]) -> ResourceResponse:
    """Replace the secret of a subscription."""
    found, secret = service.rotate_secret(tx, request.id, request.body)
    return ResourceResponse(views.new_webhook(found.record.entity, found.health, secret))


@routes.write(
    "POST",
    "/webhooks/{id}/test",
    "Send a test event",
    _ACCESS,
    response=Delivery,
    statuses=(202,),
    description="Delivers an event of the kind `webhook.test` like any other event; the returned"
    " delivery shows the result.",
    errors=("gone", "conflict"),
)
def send_test(tx: Transaction, request: Request) -> ResourceResponse:
    """Send a test event to a subscription."""
    return _accepted_response(service.send_test(tx, request.id))


@routes.write(
    "POST",
    "/webhooks/{id}/recover",
    "Recover events",
    _ONE_WEBHOOK,
    response=WebhookRecovery,
    body=RecoveryDraft,
    statuses=(202,),
    description="Delivers what the subscription has not received since then, in the order of the"
    " events, each once: deliveries that failed, were cancelled or wait for a retry, and events of"
    " its kinds that were never sent to it, because it was inactive or created later. The next one"
    " is sent when the one before has ended; the delivery log shows the results. It ends when the"
    " subscription becomes inactive.",
    errors=("conflict",),
)
def recover(tx: Transaction, request: Request[Checked[RecoveryDraft]]) -> ResourceResponse:
    """Request the delivery of what a subscription has not received."""
    view = service.recover(tx, request.id, request.body)
    return ResourceResponse(view, 202, f"/webhooks/{request.id}/deliveries")


@routes.read(
    "/webhooks/{id}/deliveries",
    "List the deliveries of a subscription",
    _DELIVERY_LOG,
    parameters=DeliveryParameters,
    description="Returns the newest 500 deliveries. With `status`, returns the newest 500 with that"
    " status; for `succeeded`, those among the newest 500 of any status. Deliveries are kept for"
    " 31 days.",
)
def list_deliveries(
    store: Store, request: Request[None, DeliveryParameters]
) -> ListResponse[StoredDelivery]:
    """Return a page of the deliveries of a subscription."""
    page = service.list_deliveries(store, request.id, request.parameters)
    return ListResponse(page, lambda record: Delivery.from_stored(record.entity))


@routes.read("/webhooks/{id}/deliveries/{delivery}", "Get a delivery", _DELIVERY_LOG)
def get_delivery(store: Store, request: Request) -> ResourceResponse:
    """Return a delivery."""
    found = service.get_delivery(store, request.id, request.path_values["delivery"])
    return ResourceResponse(Delivery.from_stored(found))


@routes.write(
    "POST",
    "/webhooks/{id}/deliveries/{delivery}/redeliver",
    "Redeliver an event",
    _DELIVERY_LOG,
    statuses=(202,),
    description="Delivers the event again at once, with all attempts, in whatever status the"
    " delivery is.",
    errors=("gone", "conflict"),
)
def redeliver(tx: Transaction, request: Request) -> ResourceResponse:
    """Start a new round of delivery attempts."""
    return _accepted_response(service.redeliver(tx, request.id, request.path_values["delivery"]))


def _webhook_response(found: WebhookWithHealth) -> ResourceResponse:
    return ResourceResponse(views.webhook(found.record.entity, found.health))


def _accepted_response(delivery: StoredDelivery) -> ResourceResponse:
    location = f"/webhooks/{delivery.webhook_id}/deliveries/{delivery.id}"
    return ResourceResponse(Delivery.from_stored(delivery), 202, location)


lambda_handler = ApiHandler(routes)
