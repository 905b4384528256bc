"""The log of deliveries: a window of the newest, in pages, orders and filters of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from shared.integration.webhooks.models import DeliveryStatus, StoredDelivery
from shared.integration.webhooks.repository import LOG_DAYS, WINDOW, find_delivery, log_delivery
from shared.kernel.clock import instant, now_ms
from shared.kernel.events.kinds import AnyKind
from tests.clock import Clock
from tests.gateway import Response
from tests.lists.spec import NO_MOMENT
from tests.stack import ADDRESS
from tests.webhook_desk import WebhookDesk, fail

_STATUSES: Sequence[DeliveryStatus] = ("pending", "retrying", "succeeded", "failed", "cancelled")
_KINDS: Sequence[AnyKind] = ("product.created", "product.updated", "webhook.test")
_ROWS = 26
_NO_NUMBER = ("0", "-1", "abc", "1.5", "", "1e3", "٣")


def _event(number: int) -> str:
    return f"evt_{number:032x}"


def _plant(desk: WebhookDesk, webhook: int, numbers: range) -> list[StoredDelivery]:
    """Log deliveries of events that happened one second after the other; the oldest first."""
    now = now_ms()
    planted = [
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
    for delivery in planted:
        log_delivery(desk.stack.store(), None, delivery, now)
    return planted


class Log:
    """The log of one subscription with 26 deliveries in it, beside that of another."""

    def __init__(self, desk: WebhookDesk) -> None:
        self.desk = desk
        self.webhook: int = desk.subscribe()["id"]
        self.path = f"/webhooks/{self.webhook}/deliveries"
        self.planted = _plant(desk, self.webhook, range(1, _ROWS + 1))
        _plant(desk, desk.subscribe()["id"], range(1, 4))

    def get(self, **query: object) -> Response:
        """Ask for a page."""
        answer = self.desk.erp.get(self.path, query=query)
        assert answer.status == 200, answer.text
        return answer

    def ids(self, **query: object) -> list[str]:
        """Ids of all that a query finds, by links.next, pages of seven."""
        rows = self.desk.erp.walk(self.path, per_page=7, **query)
        return [row["id"] for row in rows]

    def expected(self, **wanted: str) -> list[str]:
        """Ids of what was planted with these values, the newest first."""
        return [
            one.id
            for one in reversed(self.planted)
            if all(getattr(one, name) == value for name, value in wanted.items())
        ]


@pytest.fixture
def log(desk: WebhookDesk) -> Log:
    return Log(desk)


def _asked(link: str | None) -> Mapping[str, str] | None:
    """What a link asks for, without the cursor, which is nobody's business."""
    if link is None:
        return None
    assert link.startswith(ADDRESS)
    query = dict(parse_qsl(urlsplit(link).query))
    query.pop("cursor", None)
    return query


def test_the_frame_is_that_of_every_list(log: Log) -> None:
    body = log.get(per_page=10, page=2).json()

    assert set(body) == {"data", "links", "meta"}
    assert {name: _asked(link) for name, link in body["links"].items()} == {
        "first": {"per_page": "10", "page": "1"},
        "last": {"per_page": "10", "page": "3"},
        "prev": {"per_page": "10", "page": "1"},
        "next": {"per_page": "10", "page": "3"},
    }
    meta = dict(body["meta"])
    buttons = meta.pop("links")
    assert meta == {
        "current_page": 2,
        "from": 11,
        "last_page": 3,
        "path": ADDRESS + log.path,
        "per_page": 10,
        "to": 20,
        "total": _ROWS,
    }
    assert [one["label"] for one in buttons if one["active"]] == ["2"]
    assert (buttons[0]["url"], buttons[-1]["url"]) == (body["links"]["prev"], body["links"]["next"])


def test_an_empty_log(desk: WebhookDesk) -> None:
    body = desk.erp.get(f"/webhooks/{desk.subscribe()['id']}/deliveries").json()
    assert body["data"] == []
    assert body["links"]["prev"] is body["links"]["next"] is None
    assert (body["meta"]["total"], body["meta"]["last_page"]) == (0, 1)
    assert body["meta"]["from"] is body["meta"]["to"] is None


def test_pages_by_number(log: Log) -> None:
    expected = log.expected()
    for page in (1, 2, 3, 4, 99):
        answer = log.get(per_page=10, page=page)
        assert [row["id"] for row in answer.data] == expected[(page - 1) * 10 : page * 10]
        assert (answer.json()["links"]["next"] is None) == (page >= 3)


def test_page_sizes(log: Log) -> None:
    for size in (1, 25, 26, 100, 1000):
        answer = log.get(per_page=size)
        assert len(answer.data) == min(size, _ROWS)
        assert answer.json()["meta"]["per_page"] == min(size, 100)


def test_the_default_page(log: Log) -> None:
    answer = log.get()
    assert [row["id"] for row in answer.data] == log.expected()[:25]
    assert answer.data == log.get(sort="-created_at", per_page=25, page=1).data


def test_both_orders(log: Log) -> None:
    assert log.ids() == log.ids(sort="-created_at") == log.expected()
    assert log.ids(sort="created_at") == log.expected()[::-1]


def test_each_status_in_both_orders(log: Log) -> None:
    for status in _STATUSES:
        expected = log.expected(status=status)
        assert 0 < len(expected) < _ROWS
        assert log.ids(status=status) == expected
        assert log.ids(status=status, sort="created_at") == expected[::-1]


def test_each_kind_of_event(log: Log) -> None:
    for kind in _KINDS:
        assert log.ids(event=kind) == log.expected(event=kind) != []
        failed = log.expected(event=kind, status="failed")
        assert log.ids(event=kind, status="failed") == failed != []


def test_a_kind_that_nothing_has(log: Log) -> None:
    assert log.ids(event="wave.planned") == []


def test_what_changed_since(log: Log) -> None:
    moments = sorted({one.updated_at for one in log.planted})
    for moment in moments:
        since = [one.id for one in reversed(log.planted) if one.updated_at >= moment]
        assert log.ids(updated_since=moment) == since
    assert 0 < len(log.ids(updated_since=moments[-1])) < _ROWS
    assert log.ids(updated_since=moments[-1].replace("Z", "+00:00")) == since


def test_parameters_that_are_not_known_are_ignored(log: Log) -> None:
    assert log.ids(colour="red", webhook_id="2") == log.expected()


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("page", _NO_NUMBER),
        ("per_page", _NO_NUMBER),
        ("sort", ("", "-", "id", "updated_at", "--created_at", "Created_at")),
        ("updated_since", NO_MOMENT),
        ("status", ("", "Failed", "done", "failed,retrying")),
        ("event", ("", "product", "Product.created", "webhook.tests")),
    ],
)
def test_wrong_values_are_refused_and_named(
    log: Log, parameter: str, values: Sequence[str]
) -> None:
    for value in values:
        answer = log.desk.erp.get(log.path, query={parameter: value})
        assert (answer.status, answer.code) == (422, "validation_failed"), value
        assert [problem["field"] for problem in answer.json()["errors"]] == [parameter], value


def test_all_wrong_values_are_named_at_once(log: Log) -> None:
    wrong = {"page": "0", "sort": "id", "status": "done", "event": "x", "updated_since": "now"}
    answer = log.desk.erp.get(log.path, query=wrong)
    assert {problem["field"] for problem in answer.json()["errors"]} == set(wrong)


def _walk(log: Log, answer: Response) -> Iterator[str]:
    while True:
        yield from (row["id"] for row in answer.data)
        following = answer.json()["links"]["next"]
        if following is None:
            return
        answer = log.desk.erp.follow(following)


def test_what_comes_meanwhile_moves_no_walk(log: Log) -> None:
    first = log.get(per_page=7)
    _plant(log.desk, log.webhook, range(_ROWS + 1, _ROWS + 9))
    assert list(_walk(log, first)) == log.expected()

    oldest = log.get(per_page=30, sort="created_at")
    later = _plant(log.desk, log.webhook, range(_ROWS + 9, _ROWS + 12))
    assert list(_walk(log, oldest))[-3:] == [one.id for one in later]


def test_what_gets_another_status_meanwhile_moves_no_walk(log: Log) -> None:
    """The row at which a page ended may not be found by the filter any more."""
    expected = log.expected(status="failed")
    first = log.get(status="failed", per_page=2)
    assert [row["id"] for row in first.data] == expected[:2]
    store = log.desk.stack.store()
    for event in expected[:2]:
        seen = find_delivery(store, log.webhook, event)
        assert seen
        pending = seen.delivery.model_copy(update={"status": "pending"})
        log_delivery(store, seen, pending, now_ms())

    rest = log.desk.erp.follow(first.json()["links"]["next"])

    assert list(_walk(log, rest)) == expected[2:]


@pytest.mark.parametrize("cursor", ["nonsense", "evt_1", "12"])
def test_a_cursor_that_was_made_up_is_no_place(log: Log, cursor: str) -> None:
    answer = log.get(cursor=cursor, page=2, per_page=10)
    assert [row["id"] for row in answer.data] == log.expected()[10:20]


def test_the_window_ends_after_the_newest(desk: WebhookDesk) -> None:
    webhook = desk.subscribe()["id"]
    planted = _plant(desk, webhook, range(1, WINDOW + 4))
    oldest_failed = next(one.id for one in planted if one.status == "failed")
    path = f"/webhooks/{webhook}/deliveries"

    everything = desk.erp.walk(path, per_page=100)
    failed = desk.erp.walk(path, per_page=100, status="failed")

    assert [row["id"] for row in everything] == [one.id for one in reversed(planted[3:])]
    # What went wrong is found however much went well since.
    assert oldest_failed == _event(3) == failed[-1]["id"]


def test_a_delivery_is_in_the_log_as_it_is(desk: WebhookDesk, clock: Clock) -> None:
    desk.endpoint = fail
    webhook = desk.subscribe()["id"]
    desk.happen()
    assert desk.relay() == []
    (body,) = desk.take()

    assert desk.work({**body, "slow": True}) == []

    (row,) = desk.log(webhook, status="retrying")
    assert row == desk.erp.get(f"/webhooks/{webhook}/deliveries/{row['id']}").data
    (attempt,) = row["attempts"]
    assert (attempt["status"], attempt["error"]) == (500, "answered 500")
    assert (attempt["response"], attempt["duration_ms"]) == ("oh no", 12)
    assert row["next_attempt_at"] > attempt["at"]
    assert desk.log(webhook, status="succeeded") == []

    clock.advance(LOG_DAYS * 86_400 + 1)
    assert desk.log(webhook) == []
    assert desk.erp.get(f"/webhooks/{webhook}/deliveries/{row['id']}").status == 404


def test_a_log_is_its_subscriptions_and_its_tenants(log: Log) -> None:
    event, neighbour = log.expected()[0], log.desk.stack.erp("beta")
    assert log.desk.erp.get(f"{log.path}/{event}").status == 200
    assert log.desk.erp.get(f"/webhooks/2/deliveries/{event}").status == 404
    for path in (log.path, f"{log.path}/{event}"):
        assert neighbour.get(path).status == 404
    assert log.desk.erp.get("/webhooks/99/deliveries").status == 404

    assert log.desk.erp.delete(f"/webhooks/{log.webhook}").status == 200
    assert log.desk.erp.get(log.path).status == 410
    assert log.desk.erp.get(f"{log.path}/{event}").status == 410


@pytest.mark.parametrize("name", ["evt_1", "req_" + 32 * "0", _event(1).upper(), _event(0) + "0"])
def test_what_is_no_event_is_not_there(log: Log, name: str) -> None:
    answer: Any = log.desk.erp.get(f"{log.path}/{name}")
    assert (answer.status, answer.code) == (404, "not_found")
