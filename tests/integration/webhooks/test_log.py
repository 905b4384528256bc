"""The list of deliveries: the newest 500, with pages, sort orders and filters."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest

from shared.integration.webhooks import repository
from shared.integration.webhooks.models import DeliveryStatus, StoredDelivery
from shared.integration.webhooks.repository import (
    RETENTION_DAYS,
    find_delivery,
    log_delivery,
)
from shared.kernel.clock import instant, now_ms
from shared.kernel.events.kinds import AnyEventKind
from tests.clock import Clock
from tests.gateway import Response
from tests.lists.spec import NO_MOMENT
from tests.webhook_scenario import WebhookScenario, respond_500

_STATUSES: Sequence[DeliveryStatus] = ("pending", "retrying", "succeeded", "failed", "cancelled")
_KINDS: Sequence[AnyEventKind] = ("product.created", "product.updated", "webhook.test")
_ROWS = 26


def _event(number: int) -> str:
    return f"evt_{number:032x}"


def _log_deliveries(
    webhooks: WebhookScenario, webhook: int, numbers: range
) -> list[StoredDelivery]:
    """DeliveryLog deliveries of events at intervals of one second, oldest first."""
    now = now_ms()
    logged = [
        StoredDelivery(
            id=_event(number),
            webhook_id=webhook,
            event=_KINDS[number % 3],
            status=_STATUSES[number % 5],
            created_at=instant(now - 100_000_000 + number * 1000),
            updated_at=instant(now - 50_000_000 + number % 7 * 1000),
        )
        for number in numbers
    ]
    for delivery in logged:
        log_delivery(webhooks.stack.store(), None, delivery, now)
    return logged


class DeliveryLog:
    """A subscription with 26 logged deliveries; another subscription has three."""

    def __init__(self, webhooks: WebhookScenario) -> None:
        self.webhooks = webhooks
        self.webhook: int = webhooks.subscribe()["id"]
        self.path = f"/webhooks/{self.webhook}/deliveries"
        self.logged = _log_deliveries(webhooks, self.webhook, range(1, _ROWS + 1))
        _log_deliveries(webhooks, webhooks.subscribe()["id"], range(1, 4))

    def get(self, **query: object) -> Response:
        """Request a page."""
        answer = self.webhooks.erp.get(self.path, query=query)
        assert answer.status == 200, answer.text
        return answer

    def ids(self, **query: object) -> list[str]:
        """Return the ids of all pages of a query; follows links.next, seven per page."""
        rows = self.webhooks.erp.walk(self.path, per_page=7, **query)
        return [row["id"] for row in rows]

    def expected(self, **values: str) -> list[str]:
        """Return the ids of logged deliveries with these values, newest first."""
        return [
            one.id
            for one in reversed(self.logged)
            if all(getattr(one, name) == value for name, value in values.items())
        ]


@pytest.fixture
def log(webhooks: WebhookScenario) -> DeliveryLog:
    return DeliveryLog(webhooks)


def test_pages_by_number(log: DeliveryLog) -> None:
    expected = log.expected()
    for page in (1, 2, 3, 4, 99):
        answer = log.get(per_page=10, page=page)
        assert [row["id"] for row in answer.data] == expected[(page - 1) * 10 : page * 10]
        assert (answer.json()["links"]["next"] is None) == (page >= 3)


def test_both_sort_orders(log: DeliveryLog) -> None:
    assert log.ids() == log.ids(sort="-created_at") == log.expected()
    assert log.ids(sort="created_at") == log.expected()[::-1]


def test_filter_by_status_in_both_sort_orders(log: DeliveryLog) -> None:
    for status in _STATUSES:
        expected = log.expected(status=status)
        assert 0 < len(expected) < _ROWS
        assert log.ids(status=status) == expected
        assert log.ids(status=status, sort="created_at") == expected[::-1]
    several = sorted(
        (one for status in _STATUSES[1:4] for one in log.expected(status=status)), reverse=True
    )
    assert log.ids(status=",".join(_STATUSES[1:4])) == several


def test_filter_by_event(log: DeliveryLog) -> None:
    for kind in _KINDS:
        assert log.ids(event=kind) == log.expected(event=kind) != []
        failed = log.expected(event=kind, status="failed")
        assert log.ids(event=kind, status="failed") == failed != []


def test_filter_by_updated_since(log: DeliveryLog) -> None:
    moments = sorted({one.updated_at for one in log.logged})
    for moment in moments:
        since = [one.id for one in reversed(log.logged) if one.updated_at >= moment]
        assert log.ids(updated_since=moment) == since
    assert 0 < len(log.ids(updated_since=moments[-1])) < _ROWS
    assert log.ids(updated_since=moments[-1].replace("Z", "+00:00")) == since


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("sort", ("", "-", "id", "updated_at", "--created_at", "Created_at")),
        ("updated_since", NO_MOMENT),
        ("status", ("", "Failed", "done", "failed,")),
        ("event", ("", "product", "Product.created", "webhook.tests")),
    ],
)
def test_invalid_parameter_is_rejected_with_its_name(
    log: DeliveryLog, parameter: str, values: Sequence[str]
) -> None:
    for value in values:
        answer = log.webhooks.erp.get(log.path, query={parameter: value})
        assert answer.invalid_fields == [parameter], value


def _walk(log: DeliveryLog, answer: Response) -> Iterator[str]:
    while True:
        yield from (row["id"] for row in answer.data)
        following = answer.json()["links"]["next"]
        if following is None:
            return
        answer = log.webhooks.erp.follow(following)


def test_a_new_delivery_does_not_shift_the_following_pages(log: DeliveryLog) -> None:
    first = log.get(per_page=7)
    _log_deliveries(log.webhooks, log.webhook, range(_ROWS + 1, _ROWS + 9))
    assert list(_walk(log, first)) == log.expected()

    oldest = log.get(per_page=30, sort="created_at")
    later = _log_deliveries(log.webhooks, log.webhook, range(_ROWS + 9, _ROWS + 12))
    assert list(_walk(log, oldest))[-3:] == [one.id for one in later]


def test_a_changed_status_does_not_shift_the_following_pages(log: DeliveryLog) -> None:
    """The last row of a page may no longer match the filter."""
    expected = log.expected(status="failed")
    first = log.get(status="failed", per_page=2)
    assert [row["id"] for row in first.data] == expected[:2]
    store = log.webhooks.stack.store()
    for event in expected[:2]:
        seen = find_delivery(store, log.webhook, event)
        assert seen
        pending = seen.delivery.model_copy(update={"status": "pending"})
        log_delivery(store, seen, pending, now_ms())

    rest = log.webhooks.erp.follow(first.json()["links"]["next"])

    assert list(_walk(log, rest)) == expected[2:]


def test_cursor_of_the_log_of_another_subscription_is_refused(log: DeliveryLog) -> None:
    following = urlsplit(log.get(per_page=10).json()["links"]["next"])
    other = log.webhooks.subscribe(url="https://other.example/hook")["id"]

    answer = log.webhooks.erp.send("GET", f"/webhooks/{other}/deliveries?{following.query}")

    assert (answer.status, answer.json()["error"]["field"]) == (422, "cursor")


def test_the_list_is_limited_to_the_newest_per_status(
    webhooks: WebhookScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 50
    monkeypatch.setattr(repository, "MAX_LISTED", most)
    webhook = webhooks.subscribe()["id"]
    logged = _log_deliveries(webhooks, webhook, range(1, most + 4))
    oldest_failed = next(one.id for one in logged if one.status == "failed")
    path = f"/webhooks/{webhook}/deliveries"

    everything = webhooks.erp.walk(path, per_page=100)
    failed = webhooks.erp.walk(path, per_page=100, status="failed")

    assert [row["id"] for row in everything] == [one.id for one in reversed(logged[3:])]
    # The filter by status finds deliveries that are older than the newest of all.
    assert oldest_failed == _event(3) == failed[-1]["id"]


def test_a_failed_attempt_is_listed_until_its_expiry(
    webhooks: WebhookScenario, clock: Clock
) -> None:
    webhooks.endpoint = respond_500
    webhook = webhooks.subscribe()["id"]
    webhooks.create_product()
    assert webhooks.run_relay() == []
    (body,) = webhooks.take_messages()

    assert webhooks.run_worker({**body, "slow": True}) == []

    (row,) = webhooks.deliveries(webhook, status="retrying")
    assert row == webhooks.erp.get(f"/webhooks/{webhook}/deliveries/{row['id']}").data
    (attempt,) = row["attempts"]
    assert (attempt["status"], attempt["error"]) == (500, "responded with status 500")
    assert (attempt["response"], attempt["duration_ms"]) == ("internal error", 12)
    assert row["next_attempt_at"] > attempt["at"]
    assert webhooks.deliveries(webhook, status="succeeded") == []

    clock.advance(RETENTION_DAYS * 86_400 + 1)
    assert webhooks.deliveries(webhook) == []
    assert webhooks.erp.get(f"/webhooks/{webhook}/deliveries/{row['id']}").status == 404


def test_deliveries_are_visible_only_to_their_tenant_and_subscription(log: DeliveryLog) -> None:
    event, neighbour = log.expected()[0], log.webhooks.stack.erp("beta")
    assert log.webhooks.erp.get(f"{log.path}/{event}").status == 200
    assert log.webhooks.erp.get(f"/webhooks/2/deliveries/{event}").status == 404
    for path in (log.path, f"{log.path}/{event}"):
        assert neighbour.get(path).status == 404
    assert log.webhooks.erp.get("/webhooks/99/deliveries").status == 404

    assert log.webhooks.erp.delete(f"/webhooks/{log.webhook}").status == 200
    assert log.webhooks.erp.get(log.path).status == 410
    assert log.webhooks.erp.get(f"{log.path}/{event}").status == 410


@pytest.mark.parametrize("name", ["evt_1", "req_" + 32 * "0", _event(1).upper(), _event(0) + "0"])
def test_an_invalid_delivery_id_is_not_found(log: DeliveryLog, name: str) -> None:
    answer: Any = log.webhooks.erp.get(f"{log.path}/{name}")
    assert (answer.status, answer.code) == (404, "not_found")
