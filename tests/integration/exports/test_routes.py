"""The routes of exports: who gets links, and what is refused."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from operations import provisioning
from shared.integration.exports.models import FILE_DAYS
from shared.kernel.db.items import to_attributes
from shared.kernel.events.feed import CHUNK_SECONDS, head_item
from tests.cases import each_case
from tests.clock import Clock
from tests.export_scenario import ExportScenario
from tests.gateway import Erp
from tests.stack import set_attributes
from tools.template_file import resources


def _made(exports: ExportScenario, *objects: str, **options: str) -> int:
    """Make an export for the ERP, and return its id."""
    body = {"objects": list(objects), **options}
    number: int = exports.feed.webhooks.erp.post("/exports", body).ok(202)["id"]
    exports.worker.drain_queue()
    return number


def _urls(caller: Erp, number: int = 1) -> list[str | None]:
    return [file["url"] for file in caller.get(f"/exports/{number}").ok()["files"]]


def test_an_export_is_started_made_and_downloaded(exports: ExportScenario) -> None:
    erp, head = exports.feed.webhooks.erp, exports.feed.head
    started = erp.post("/exports", {"objects": ["product", "stock"]})
    assert started.headers["Location"].endswith("/v1/exports/1")
    shown: dict[str, Any] = started.ok(202)
    assert shown == {
        "id": 1, "object": "export", "code": "XP-1", "status": "pending",
        "objects": ["product", "stock"], "format": "jsonl", "language": "en", "rows": 0,
        "position": head.position, "epoch": head.epoch, "failure": None, "files": [],
        "actions": ["cancel"], "expires_at": shown["expires_at"],
        "created_at": shown["created_at"], "updated_at": shown["created_at"],
    }  # fmt: skip
    exports.worker.drain_queue()
    made = erp.get("/exports/1").ok()
    assert (made["status"], made["actions"]) == ("completed", [])
    files = made["files"]
    assert [file["object"] for file in files] == ["product", "stock"]
    assert made["rows"] == sum(file["rows"] for file in files)
    address = urlsplit(files[0]["url"])
    query = parse_qs(address.query)
    assert address.path.endswith(f"/acme/{exports.get().files[0].name}")
    assert query["X-Amz-Expires"] == ["900"]
    assert query["response-content-disposition"] == [
        'attachment; filename="XP-1-product-1.jsonl.gz"'
    ]
    [row] = erp.get("/exports", query={"status": "completed"}).data
    assert row == {name: made[name] for name in made if name not in {"files", "actions"}}


def test_links_are_for_those_who_may_read_all_lists(exports: ExportScenario) -> None:
    stack = exports.feed.stack

    def client(*scopes: str, name: str = "other") -> Erp:
        return Erp(stack.gateway, stack.token(client=name, scopes=["changes:read", *scopes]))

    number = _made(exports, "product", "stock")
    assert all(_urls(exports.feed.webhooks.erp, number))
    assert all(_urls(client("products:read", "stocks:read"), number))
    assert _urls(client("products:read"), number) == [None, None]
    author = exports.get(number).author.subject
    assert _urls(client("stocks:read", name=author), number) == [None, None]
    user = Erp(stack.gateway, stack.user_token(permissions="imports.run"))
    assert all(_urls(user, number))
    assert any(_urls(exports.feed.webhooks.erp, _made(exports, "user")))
    assert not any(_urls(user, 2))


def test_links_to_rows_that_depend_on_the_reader_are_for_the_author(
    exports: ExportScenario,
) -> None:
    stack, erp = exports.feed.stack, exports.feed.webhooks.erp
    body = {"warehouse_code": "YARD", "item_codes": ["BRICK"]}
    assert erp.post("/counts", body).status == 201
    number = _made(exports, "count")
    assert all(_urls(erp, number))
    user = Erp(stack.gateway, stack.user_token(permissions="inventory.manage"))
    assert _urls(user, number) == [None]


def test_links_end_with_the_files_and_with_the_feed(exports: ExportScenario, clock: Clock) -> None:
    erp, store, head = exports.feed.webhooks.erp, exports.feed.store, exports.feed.head
    number = _made(exports, "product")
    clock.advance(FILE_DAYS * 86_400 - 120)
    assert all(_urls(erp, number))
    other = to_attributes(head_item(store.table, type(head)(head.epoch + 1, 0, {})))
    same = store.client.get_item(
        TableName=store.table, Key={name: other[name] for name in ("PK", "SK")}
    )["Item"]
    store.client.put_item(TableName=store.table, Item=other)
    assert _urls(erp, number) == [None]
    store.client.put_item(TableName=store.table, Item=same)
    clock.advance(121)
    assert _urls(erp, number) == [None]


def test_files_are_kept_as_long_as_exports_say_and_changes_longer() -> None:
    [rule] = resources("AWS::S3::Bucket")["ImportWorkBucket"]["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == FILE_DAYS < CHUNK_SECONDS / 86_400


def test_a_cancelled_export_shows_no_files(exports: ExportScenario) -> None:
    erp = exports.feed.webhooks.erp
    assert erp.post("/exports", {"objects": ["product"]}).status == 202
    assert erp.post("/exports/1/cancel").ok()["status"] == "cancelled"
    exports.worker.drain_queue()
    assert erp.get("/exports/1").ok()["files"] == []
    assert erp.post("/exports/1/cancel").code == "stale_state"


def test_all_missing_rights_are_named_at_once(exports: ExportScenario) -> None:
    stack = exports.feed.stack
    body = {"objects": ["product", "stock", "receipt", "user", "count", "wave"]}
    token = stack.token(scopes=["changes:read", "products:read"])
    refused = Erp(stack.gateway, token).post("/exports", body)
    assert (refused.status, refused.code) == (403, "missing_scope")
    assert refused.json()["error"]["scope"] == (
        "stocks:read receipts:read settings:manage pickings:read"
    )
    user = Erp(stack.gateway, stack.user_token(permissions="entries.manage"))
    refused = user.post("/exports", body)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert refused.json()["message"] == "This needs the permissions users.manage, exits.manage."
    assert user.post("/exports", {"objects": ["product"]}).status == 202


def test_modules_of_the_lists_are_needed(exports: ExportScenario) -> None:
    erp = exports.feed.webhooks.erp
    provisioning.switch_modules("acme", off=["waves", "transfer_orders", "bulk_import"])
    for name, code in (
        ("wave", "not_found"),
        ("transfer_order", "transfer_orders_disabled"),
        ("import", "bulk_import_disabled"),
    ):
        refused = erp.post("/exports", {"objects": ["product", name]})
        assert (refused.status, refused.code) == (404, code), name


@each_case(
    ("body", "fields"),
    [
        ({}, {"objects"}),
        ({"objects": []}, {"objects"}),
        ({"objects": "product"}, {"objects"}),
        ({"objects": ["bolt", "product", "product"]}, {"objects.0", "objects.2"}),
        ({"objects": [7, "bolt"], "format": "xml", "language": "fr"},
         {"objects.0", "objects.1", "format", "language"}),
        ({"objects": ["product"] * 31}, {"objects", *(f"objects.{at}" for at in range(1, 31))}),
    ],
)  # fmt: skip
def test_all_problems_of_a_body_are_named(
    exports: ExportScenario, body: dict[str, object], fields: set[str]
) -> None:
    refused = exports.feed.webhooks.erp.post("/exports", body)
    assert refused.status == 422
    assert {one["field"] for one in refused.json()["errors"]} == fields, refused.text


def test_a_table_without_a_feed_is_503(exports: ExportScenario) -> None:
    store = exports.feed.store
    item = to_attributes(head_item(store.table, exports.feed.head))
    key = {name: item[name] for name in ("PK", "SK")}
    store.client.delete_item(TableName=store.table, Key=key)
    refused = exports.feed.webhooks.erp.post("/exports", {"objects": ["product"]})
    assert (refused.status, refused.code) == (503, "service_unavailable")


def test_an_export_of_a_suspended_company_is_made_and_shown_to_nobody(
    exports: ExportScenario, clock: Clock
) -> None:
    erp = exports.feed.webhooks.erp
    assert erp.post("/exports", {"objects": ["product"]}).status == 202
    set_attributes("acme", state={"S": "suspended"})
    clock.advance(11)
    exports.worker.drain_queue()
    assert exports.get().status == "completed"
    assert erp.get("/exports/1").code == "tenant_suspended"
