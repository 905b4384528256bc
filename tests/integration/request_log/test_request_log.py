"""Entries of the request log: how they are written and read."""

import threading
from typing import Any

import pytest

from shared.http import request_log
from shared.http.call import ApiCall
from shared.http.envelope import HttpResponse
from shared.http.request import headers_of
from shared.http.request_log import entry_of
from shared.identity.request_log.models import LoggedRequest
from shared.identity.request_log.repository import LogFilter, put_entry
from shared.identity.request_log.service import list_requests
from shared.kernel.clock import Deadline, instant, milliseconds_of
from shared.kernel.json_text import dumps
from tests.clock import Clock
from tests.dynamodb.capacity import item_size
from tests.export_scenario import CLIENT
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack, set_attributes

_NOW = "2026-03-08T09:00:00.000Z"
_NOW_MS = milliseconds_of(_NOW)
_MINUTE_MS = 60_000


def _call(stack: Stack, **more: Any) -> ApiCall:
    event = {
        "httpMethod": "POST", "path": "/v1/pickings", "headers": {"Idempotency-Key": "key-1"},
        "requestContext": {"requestId": "r-1"}, **more,
    }  # fmt: skip
    return ApiCall(
        event, "/pickings", headers_of(event), CLIENT, stack.tenant(), Deadline(1_000), {}
    )


def _refusal(*fields: str) -> HttpResponse:
    problems = [{"field": one, "message": "is required"} for one in fields]
    return HttpResponse(422, dumps({"error": {"code": "validation_failed"}, "errors": problems}))


def _entry(minutes_ago: int, **more: Any) -> LoggedRequest:
    at = instant(_NOW_MS - minutes_ago * _MINUTE_MS)
    facts = {"method": "GET", "path": "/stocks", "status": 200, "duration_ms": 9, **more}
    return LoggedRequest.model_validate({"request_id": f"r-{minutes_ago}", "at": at, **facts})


def test_entry_says_what_was_requested_and_answered(stack: Stack) -> None:
    entry = entry_of(_call(stack), _refusal("document_id", "lines.0.qty"), 12.4, _NOW_MS)

    assert entry.model_dump() == {
        "request_id": "r-1",
        "at": _NOW,
        "method": "POST",
        "path": "/pickings",
        "status": 422,
        "code": "validation_failed",
        "fields": ["document_id", "lines.0.qty"],
        "duration_ms": 12,
        "idempotency_key": "key-1",
        "replayed": False,
    }
    secret = HttpResponse(422, _refusal("password").body, has_secret=True)
    entry = entry_of(_call(stack), secret, 1, _NOW_MS)
    assert (entry.code, entry.fields) == (None, [])


def test_largest_entry_takes_one_write_unit(stack: Stack) -> None:
    call = _call(
        stack, path=f"/v1/{'p' * 3_000}", headers={"Idempotency-Key": "k" * 300},
        requestContext={"requestId": "r" * 36},
    )  # fmt: skip
    refusal = _refusal(*(f"lines.{at}." + "f" * 90 for at in range(200)))

    put_entry(stack.store(), f"stw_{'s' * 40}_{'c' * 32}", entry_of(call, refusal, 99_999, _NOW_MS))

    [stored] = _stored()
    assert 900 < item_size(stored) <= 1024


def _stored() -> list[dict[str, Any]]:
    items = stored_items(ACCOUNT, REGION, "stowage-tenant-acme")
    return [item for item in items if item["PK"]["S"].startswith("rate#log#")]


def test_requests_of_a_client_are_read_page_by_page_with_filters(stack: Stack) -> None:
    store, day = stack.store(), 24 * 60
    failed = {"status": 404, "code": "not_found", "path": "/stocks/7"}
    for minutes in (0, 1, day, day + 1, 6 * day):
        put_entry(store, "erp", _entry(minutes, **(failed if minutes == day else {})))
    put_entry(store, "erp", _entry(7 * day + 1))  # older, and not deleted yet
    put_entry(store, "other", _entry(2, fields=["qty", "lines.0.batch"]))
    [other] = list_requests(store, "other", now_ms=_NOW_MS).entries
    assert other == _entry(2, fields=["qty", "lines.0.batch"])

    def pages(most: int = 100, **more: Any) -> list[list[str]]:
        found, before = [], None
        while True:
            page = list_requests(store, "erp", now_ms=_NOW_MS, before=before, most=most, **more)
            found.append([one.request_id for one in page.entries])
            if page.next_before is None:
                return [one for one in found if one]
            before = page.next_before

    every = ["r-0", "r-1", f"r-{day}", f"r-{day + 1}", f"r-{6 * day}"]
    assert pages() == [every]
    assert pages(1) == [[one] for one in every]
    assert pages(2) == [every[:2], every[2:4], every[4:]]
    assert pages(wanted=LogFilter(status=404)) == [[f"r-{day}"]]
    assert pages(wanted=LogFilter(path="/stocks/*")) == [[f"r-{day}"]]
    assert pages(wanted=LogFilter(path="/stocks", status=200)) == [[*every[:2], *every[3:]]]
    since, until = instant(_NOW_MS - (day + 1) * _MINUTE_MS), instant(_NOW_MS - _MINUTE_MS)
    assert pages(since=since, until=until) == [every[1:4]]


@pytest.fixture
def logging(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The stack with a request log of acme, whose entries are written when a request ends."""
    monkeypatch.setattr(request_log, "WAIT_SECONDS", 60)
    set_attributes(request_log={"BOOL": True})
    return stack


def _shown(erp: Erp, **query: Any) -> list[tuple[str, str, int]]:
    rows = erp.get("/request-log", query=query).data
    return [(row["method"], row["path"], row["status"]) for row in rows]


def test_requests_of_clients_are_logged_while_the_setting_is_on(logging: Stack) -> None:
    erp = logging.erp()
    product = {"item_code": "BRICK", "name": "Brick"}
    created = erp.post("/products", product, key="k-1")
    erp.post("/products", product, key="k-1")
    refused = erp.post("/products", {"name": "A secret name", "barcode": 7})
    erp.get("/products", query={"search": "A secret name"})
    erp.get("/nothing")
    logging.erp(scopes={"clients:read"}).get("/products")

    rows = erp.get("/request-log").data
    assert [(row["method"], row["path"], row["status"], row["code"]) for row in rows] == [
        ("GET", "/products", 403, "missing_scope"),
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/products", 200, None),
        ("POST", "/products", 422, "validation_failed"),
        ("POST", "/products", 201, None),
        ("POST", "/products", 201, None),
    ]
    assert rows[3]["fields"] == refused.invalid_fields
    assert rows[5]["request_id"] == created.headers["X-Request-Id"]
    assert [(row["idempotency_key"], row["replayed"]) for row in rows[3:]] == [
        (None, False), ("k-1", True), ("k-1", False),
    ]  # fmt: skip

    set_attributes(request_log={"BOOL": False})
    erp.get("/clients")
    assert ("GET", "/clients", 200) not in _shown(erp)


def test_log_has_no_body_query_or_token(logging: Stack) -> None:
    token = logging.token()
    erp = Erp(logging.gateway, token)
    erp.post("/products", {"item_code": "S3CRET", "name": "S3CRET"}, key=f"Bearer {token}")
    erp.get(f"/products/{token}", query={"search": "S3CRET"})

    text = str(_stored())
    assert len(_stored()) == 2
    assert "S3CRET" not in text
    assert token not in text
    assert token[:20] not in text


def test_refused_tokens_and_users_without_an_application_are_not_logged(logging: Stack) -> None:
    gateway = logging.gateway
    Erp(gateway, None).get("/products")
    Erp(gateway, logging.user_token(client_id="stowage")).get("/products")
    assert _stored() == []

    Erp(gateway, logging.user_token(kind="mobile", client_id="scanner")).get("/products")
    [entry] = _stored()
    assert entry["PK"]["S"].startswith("rate#log#scanner#")

    erp = logging.erp()
    set_attributes(state={"S": "suspended"})
    assert erp.get("/products").code == "tenant_suspended"
    assert _stored() == [entry]


def test_client_reads_its_own_log_and_administrators_that_of_every_client(logging: Stack) -> None:
    logging.erp().get("/products")
    shop = logging.erp(client="shop", scopes=())
    assert _shown(shop) == []
    assert _shown(shop, client="shop") == [("GET", "/request-log", 200)]
    assert shop.get("/request-log", query={"client": "erp"}).code == "missing_scope"
    administrator = Erp(logging.gateway, logging.user_token(permissions="users.manage"))
    assert _shown(administrator, client="erp") == [("GET", "/products", 200)]
    assert _shown(logging.erp(client="admin"), client="erp") == [("GET", "/products", 200)]
    assert administrator.get("/request-log").problems == {"client": "is required"}
    clerk = Erp(logging.gateway, logging.user_token(permissions="inventory.manage"))
    assert clerk.get("/request-log", query={"client": "erp"}).code == "forbidden"
    assert _shown(logging.erp("beta"), client="erp") == []


def test_pages_of_the_log_have_filters_and_a_cursor(logging: Stack, clock: Clock) -> None:
    clock.freeze()
    erp, began = logging.erp(), clock.time()
    for path in ("/products", "/clients", "/products/7", "/products"):
        clock.advance(1)
        erp.get(path)
    set_attributes(request_log={"BOOL": False})

    assert len(_shown(erp)) == 4
    assert _shown(erp, status=404) == [("GET", "/products/7", 404)]
    assert [path for _, path, _ in _shown(erp, path="/products*")] == [
        "/products", "/products/7", "/products",
    ]  # fmt: skip
    period = {
        "from": instant(round((began + 1.5) * 1000)),
        "to": instant(round((began + 3.5) * 1000)),
    }
    assert [path for _, path, _ in _shown(erp, **period)] == ["/products/7", "/clients"]

    found: list[int] = []
    address = "/request-log?per_page=1&path=/products"
    while address and len(found) < 9:
        page = erp.get(address).json()
        found.append(len(page["data"]))
        following = page["links"]["next"]
        address = following and following.partition("/api/v1")[2]
    assert [count for count in found if count] == [1, 1]
    assert not address

    for cursor in ("nonsense", "2026-13-01T~"):
        refused = erp.get("/request-log", query={"cursor": cursor})
        assert refused.invalid_fields == ["cursor"], cursor
    for cursor in ("0001-01-01T~", "9999-12-31T~"):
        assert erp.get("/request-log", query={"cursor": cursor}).status == 200


def _fail_on_entries(call: Call, forward: Forward) -> Answer:
    if "rate#log#" in str(call.request):
        return None, ConnectionError()
    return forward()


def test_failed_or_slow_write_of_an_entry_changes_nothing(
    logging: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp = logging.erp()
    with aws_faults.faulty(_fail_on_entries):
        assert erp.post("/products", {"item_code": "A", "name": "A"}).status == 201
    assert _stored() == []

    may_end = threading.Event()
    monkeypatch.setattr(request_log, "WAIT_SECONDS", 0.02)
    monkeypatch.setattr(request_log, "put_entry", lambda *_: may_end.wait(30))
    assert erp.get("/products").status == 200
    may_end.set()
