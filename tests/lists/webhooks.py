"""Description of the list of subscriptions."""

from shared.integration.webhooks.models import StoredWebhook
from shared.integration.webhooks.repository import WEBHOOKS, health_key
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from tests.lists import spec

_KINDS = (
    "receipt.created", "receipt.completed", "picking.completed", "transfer.created",
    "transfer.dispatched", "shipment.dispatched", "product.created", "product.updated",
    "stock.updated", "wave.released",
)  # fmt: skip
_CREATORS = (
    {"type": "client", "id": "stw_acme_3f9c0a1b2c3d4e5f60718293", "name": "ERP"},
    {"type": "user", "id": "7", "name": None},
    {"type": "operator", "id": None, "name": "marta"},
    None,
)
_MAX_ROWS = 250
"""Most rows that a test creates."""


def _webhook(number: int, times: spec.Times) -> StoredWebhook:
    return StoredWebhook.model_validate(
        {
            **times.of(number),
            "url": f"https://hooks-{number}.example.com/stowage?source=wms",
            "events": [_KINDS[number % 10], _KINDS[(number + 3) % 10]],
            "is_active": number % 4 != 0,
            "created_by": _CREATORS[number % len(_CREATORS)],
            "url_set_by": _CREATORS[(number + 1) % len(_CREATORS)],
            "secret_set_by": _CREATORS[(number + 2) % len(_CREATORS)],
            "activated_by": _CREATORS[(number + 3) % len(_CREATORS)],
            "secrets": [{"sealed": "AQICAHg="}],
        }
    )


def _health_items(tx: Transaction) -> None:
    """Insert health items: every third subscription has deliveries, every ninth has failures."""
    for number in range(1, _MAX_ROWS + 1):
        partition, sort = health_key(number)
        sent = {"last_triggered_at": spec.HOURLY.updated(number)} if number % 3 == 0 else {}
        failures = {"failure_count": 2 if number % 9 == 0 else 0}
        tx.insert({PARTITION_KEY: partition, SORT_KEY: sort, **failures, **sent})


WEBHOOK_LIST = spec.Listed(
    path="/webhooks",
    collection=WEBHOOKS,
    make=_webhook,
    related_items=_health_items,
    bounded=True,
    fields=spec.fields("""
        integer: id failure_count
        uri: url
        string: created_by.type created_by.id? created_by.name? url_set_by.type url_set_by.id?
        string: url_set_by.name? secret_set_by.type secret_set_by.id? secret_set_by.name?
        string: activated_by.type activated_by.id? activated_by.name?
        boolean: is_active
        array: events
        object: created_by? url_set_by? secret_set_by? activated_by?
        date-time: last_triggered_at? created_at updated_at
    """),
    filters={
        "is_active": spec.flag("is_active"),
        "event": spec.Filter(
            lambda _: ("picking.completed", "product.created", "return.received"),
            lambda row, value: value in row["events"],
            ("", "picking", "Picking.completed", "webhook.test", "picking.completed,stock.updated"),
        ),
    },
    sorts=spec.sorted_by("id"),
    default_sort="id",
)
