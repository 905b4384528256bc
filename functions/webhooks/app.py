"""Subscriptions to events, and the log of their deliveries."""

from shared.http.api_handler import ApiHandler
from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.tenancy.tenant import WEBHOOKS
from shared.integration.webhooks import service, views
from shared.integration.webhooks.models import (
    Delivery,
    DeliveryParameters,
    NewWebhook,
    SecretRotation,
    StoredDelivery,
    StoredWebhook,
    Webhook,
    WebhookChange,
    WebhookCreate,
    WebhookParameters,
)
from shared.integration.webhooks.service import Opened
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

routes = Routes()

_ALL: OperationOptions = {
    "scope": "webhooks:manage",
    "permission": "users.manage",
    "feature": WEBHOOKS,
}
_ONE: OperationOptions = {**_ALL, "errors": ("gone",)}
_LOG: OperationOptions = {**_ALL, "errors": ("gone",), "response": Delivery}


@routes.declare(
    "GET",
    "/webhooks",
    "List subscriptions",
    _ALL,
    response=Webhook,
    parameters=WebhookParameters,
)
def list_webhooks(
    store: Store, request: Request[None, WebhookParameters]
) -> ListResponse[StoredWebhook]:
    """Page through the subscriptions."""
    found = service.list_webhooks(store, request.parameters)
    return ListResponse(
        found.page, lambda record: views.webhook(record.entity, found.pulses.get(record.id))
    )


@routes.declare(
    "POST",
    "/webhooks",
    "Create a subscription",
    _ALL,
    response=NewWebhook,
    body=WebhookCreate,
    collects_problems=True,
    response_has_secret=True,
    request_has_secret=True,
    statuses=(201,),
    errors=("limit_reached",),
    description="`url` must be https, on port 443 or 8443, and its name must lead to public"
    " addresses alone; that is checked again at each delivery. `secret`, with which deliveries are"
    " signed, is shown this once. A tenant has at most 20 subscriptions.",
)
def create_webhook(tx: Transaction, request: Request[WebhookCreate]) -> ResourceResponse:
    """Create a subscription."""
    made, secret = service.create_webhook(tx, request.tenant, request.body, request.problems)
    view = views.new_webhook(made.record.entity, made.pulse, secret)
    return ResourceResponse(view, 201, f"/webhooks/{made.record.id}")


@routes.declare(
    "GET",
    "/webhooks/{id}",
    "Get a subscription",
    _ONE,
    response=Webhook,
    volatile_fields=("failure_count", "last_triggered_at"),
)
def get_webhook(store: Store, request: Request) -> ResourceResponse:
    """Read one subscription."""
    return _shown(service.get_webhook(store, request.id))


@routes.declare(
    "PATCH",
    "/webhooks/{id}",
    "Change a subscription",
    _ONE,
    response=Webhook,
    body=WebhookChange,
    collects_problems=True,
    description="Only the fields sent change, for what waits to be delivered, too. Events that"
    " happen while a subscription is not active are not delivered to it.",
)
def change_webhook(tx: Transaction, request: Request[WebhookChange]) -> ResourceResponse:
    """Change a subscription."""
    return _shown(service.change_webhook(tx, request.id, request.body, request.problems))


@routes.declare(
    "DELETE",
    "/webhooks/{id}",
    "Delete a subscription",
    _ONE,
    response=Webhook,
    description="What waits to be delivered to it is dropped.",
)
def delete_webhook(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a subscription; answers it as it was."""
    return _shown(service.delete_webhook(tx, request.id))


@routes.declare(
    "POST",
    "/webhooks/{id}/rotate-secret",
    "Rotate the secret",
    _ONE,
    response=NewWebhook,
    body=SecretRotation,
    response_has_secret=True,
    request_has_secret=True,
    description="The new secret is shown this once. The one before signs, too, for `overlap_hours`"
    " (24 unless given): until then each delivery bears both signatures.",
)
def rotate_secret(tx: Transaction, request: Request[SecretRotation]) -> ResourceResponse:
    """Give a subscription a new secret."""
    found, secret = service.rotate_secret(tx, request.id, request.body)
    return ResourceResponse(views.new_webhook(found.record.entity, found.pulse, secret))


@routes.declare(
    "POST",
    "/webhooks/{id}/test",
    "Send a test event",
    _ALL,
    response=Delivery,
    statuses=(202,),
    description="Delivers an event of the kind `webhook.test`, as any other event; its delivery"
    " tells what became of it.",
    errors=("gone", "conflict"),
)
def send_test(tx: Transaction, request: Request) -> ResourceResponse:
    """Send a subscription an event that says nothing."""
    return _accepted(service.send_test(tx, request.id))


@routes.declare(
    "GET",
    "/webhooks/{id}/deliveries",
    "List the deliveries of a subscription",
    _LOG,
    parameters=DeliveryParameters,
    description="The newest 500; with `status`, the newest 500 of that status, but of `succeeded`"
    " those among the newest 500 of all. Deliveries are kept for 30 days.",
)
def list_deliveries(
    store: Store, request: Request[None, DeliveryParameters]
) -> ListResponse[StoredDelivery]:
    """Page through the log of a subscription."""
    page = service.list_deliveries(store, request.id, request.parameters)
    return ListResponse(page, lambda record: views.delivery(record.entity))


@routes.declare("GET", "/webhooks/{id}/deliveries/{delivery}", "Get a delivery", _LOG)
def get_delivery(store: Store, request: Request) -> ResourceResponse:
    """Read one delivery."""
    found = service.get_delivery(store, request.id, request.path_values["delivery"])
    return ResourceResponse(views.delivery(found))


@routes.declare(
    "POST",
    "/webhooks/{id}/deliveries/{delivery}/redeliver",
    "Deliver once more",
    _LOG,
    statuses=(202,),
    description="At once, and with all attempts, whatever became of the delivery so far.",
    errors=("gone", "conflict"),
)
def redeliver(tx: Transaction, request: Request) -> ResourceResponse:
    """Deliver an event once more."""
    return _accepted(service.redeliver(tx, request.id, request.path_values["delivery"]))


def _shown(found: Opened) -> ResourceResponse:
    return ResourceResponse(views.webhook(found.record.entity, found.pulse))


def _accepted(delivery: StoredDelivery) -> ResourceResponse:
    where = f"/webhooks/{delivery.webhook_id}/deliveries/{delivery.id}"
    return ResourceResponse(views.delivery(delivery), 202, where)


lambda_handler = ApiHandler(routes)
