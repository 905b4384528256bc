"""The life of a subscription, through its routes."""

from base64 import b64decode
from typing import Any

import pytest
from botocore.exceptions import ClientError

from shared.config import config
from shared.events.kinds import EVENT_KINDS
from shared.http.idempotency import fingerprint
from shared.sealing import unseal
from shared.tenancy import provisioning
from shared.webhooks.repository import WEBHOOKS
from tests.gateway import Response
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack
from tests.webhook_desk import URL, WebhookDesk

FIELDS = {
    "id", "url", "events", "is_active", "failure_count", "last_triggered_at", "created_at",
    "updated_at",
}  # fmt: skip


def problems(answer: Response) -> dict[str, str]:
    """Field → message of a refusal."""
    assert answer.status == 422, answer.text
    body = answer.json()
    assert body["error"]["code"] == "validation_failed"
    return {problem["field"]: problem["message"] for problem in body["errors"]}


def stored_texts() -> str:
    """All that the control table, the outbox and acme's table hold, as one text."""
    settings = config()
    tables = (settings.control_table, settings.outbox_table, settings.tenant_table("acme"))
    return "".join(repr(item) for table in tables for item in stored_items(ACCOUNT, REGION, table))


def test_a_subscription_shows_its_secret_when_it_is_created_and_never_again(
    desk: WebhookDesk,
) -> None:
    answer = desk.erp.post("/webhooks", {"url": URL, "events": ["stock.updated", "wave.planned"]})

    assert answer.status == 201
    assert answer.headers["Location"] == f"https://api.stowage.test/api/v1/webhooks/{1}"
    made = answer.data
    assert made.keys() == {*FIELDS, "secret"}
    assert made["secret"].startswith("whsec_")
    assert made == {
        "id": 1,
        "url": URL,
        "events": ["stock.updated", "wave.planned"],
        "is_active": True,
        "failure_count": 0,
        "last_triggered_at": None,
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "secret": made["secret"],
    }
    shown = {name: value for name, value in made.items() if name != "secret"}
    assert desk.show(1) == shown
    assert desk.erp.get("/webhooks").data == [shown]


def test_no_secret_lies_in_a_table_in_the_clear(desk: WebhookDesk) -> None:
    key = {"key": "9f5a"}
    made = desk.erp.post("/webhooks", {"url": URL, "events": ["stock.updated"]}, **key).data
    own = "a-secret-of-our-own"
    desk.erp.post(f"/webhooks/{made['id']}/rotate-secret", {"secret": own}, key="9f5b")

    held = stored_texts()
    assert made["secret"] not in held
    assert own not in held


def test_the_same_request_again_shows_the_same_secret(desk: WebhookDesk) -> None:
    body = {"url": URL, "events": ["stock.updated"]}
    first = desk.erp.post("/webhooks", body, key="a")
    second = desk.erp.post("/webhooks", body, key="a")

    assert second.headers["Idempotent-Replayed"] == "true"
    assert (second.status, second.text) == (201, first.text)
    assert len(desk.erp.get("/webhooks").data) == 1


def test_every_kind_of_event_can_be_asked_for(desk: WebhookDesk) -> None:
    assert desk.subscribe(*EVENT_KINDS)["events"] == list(EVENT_KINDS)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://hooks.example.com/", "https"),
        ("ftp://hooks.example.com/", "https"),
        ("https://user:pass@hooks.example.com/", "user"),
        ("https://hooks.example.com/#part", "fragment"),
        ("https://127.0.0.1/", "address"),
        ("https://2130706433/", "address"),
        ("https://0x7f.1/", "address"),
        ("https://[::1]/", "address"),
        ("https://hooks.example.com:80/", "port"),
        ("https://localhost/", ""),
        ("http://localhost:8080/", "https"),
        ("https://private.example.com/", "private"),
        ("not a url", ""),
        ("", ""),
    ],
)
def test_addresses_that_are_refused(desk: WebhookDesk, url: str, message: str) -> None:
    found = problems(desk.erp.post("/webhooks", {"url": url, "events": ["stock.updated"]}))

    assert found.keys() == {"url"}
    assert message in found["url"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"url", "events"}),
        ({"url": URL, "events": []}, {"events"}),
        ({"url": URL, "events": ["stock.updated", "stock.updated"]}, {"events.1"}),
        ({"url": URL, "events": ["stock.updated", "stock.gone", 7]}, {"events.1", "events.2"}),
        (
            {"url": URL, "events": ["wave.gone", "stock.updated", "stock.updated", {}]},
            {"events.0", "events.2", "events.3"},
        ),
        (
            {"url": URL, "events": ["stock.updated"] * 50_000},
            {"events", *(f"events.{number}" for number in range(1, 22))},
        ),
        ({"url": URL, "events": ["webhook.test"]}, {"events.0"}),
        ({"url": URL, "events": "stock.updated"}, {"events"}),
        ({"url": 5, "events": None}, {"url", "events"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "x" * 15}, {"secret"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "x" * 129}, {"secret"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "sixteen chars ok"}, {"secret"}),
        ({"url": URL, "events": ["stock.updated"], "secret": "señor-secreto-1234"}, {"secret"}),
        (
            {"url": "https://private.example.com/", "events": ["nothing"], "secret": "short"},
            {"url", "events.0", "secret"},
        ),
    ],
)
def test_all_that_is_wrong_is_told_at_once(
    desk: WebhookDesk, body: dict[str, Any], fields: set[str]
) -> None:
    assert problems(desk.erp.post("/webhooks", body)).keys() == fields
    assert desk.erp.get("/webhooks").data == []


def test_a_secret_of_ones_own_and_none(desk: WebhookDesk) -> None:
    own = "x" * 16
    assert desk.subscribe(secret=own)["secret"] == own
    assert desk.subscribe(secret=None)["secret"].startswith("whsec_")


def test_a_tenant_has_at_most_20(desk: WebhookDesk) -> None:
    made = [desk.subscribe() for _ in range(20)]
    body = {"url": URL, "events": ["stock.updated"]}

    refused = desk.erp.post("/webhooks", body)

    assert (refused.status, refused.code) == (402, "limit_reached")
    offer = refused.json()["error"]["offer"]
    assert offer == {
        "limit": 20,
        "used": 20,
        "plan": "enterprise",
        "next_plan": None,
        "upgrade_url": config().upgrade_url,
    }
    desk.erp.delete(f"/webhooks/{made[3]['id']}")
    assert desk.erp.post("/webhooks", body).status == 201


def test_only_what_is_sent_changes(desk: WebhookDesk) -> None:
    made = desk.subscribe("stock.updated", "wave.planned")
    path = f"/webhooks/{made['id']}"

    moved = desk.erp.patch(path, {"url": "https://other.example.com:8443/x?y=1"}).data
    assert moved["url"] == "https://other.example.com:8443/x?y=1"
    assert (moved["events"], moved["is_active"]) == (["stock.updated", "wave.planned"], True)

    fewer = desk.erp.patch(path, {"events": ["wave.planned"]}).data
    assert (fewer["url"], fewer["events"]) == (moved["url"], ["wave.planned"])

    ended = desk.erp.patch(path, {"is_active": False}).data
    assert (ended["events"], ended["is_active"]) == (["wave.planned"], False)
    assert ended.keys() == FIELDS
    assert desk.show(made["id"]) == ended
    assert desk.erp.patch(path, {}).status == 200


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"url": "https://private.example.com/", "events": [], "is_active": "no"},
         {"url", "events", "is_active"}),
        ({"url": None}, {"url"}),
        ({"events": None, "is_active": None}, {"events", "is_active"}),
    ],
)  # fmt: skip
def test_a_bad_change_changes_nothing(
    desk: WebhookDesk, body: dict[str, Any], fields: set[str]
) -> None:
    made = desk.subscribe()
    before = desk.show(made["id"])

    assert problems(desk.erp.patch(f"/webhooks/{made['id']}", body)).keys() == fields
    assert desk.show(made["id"]) == before


def test_a_stale_change_is_refused(desk: WebhookDesk) -> None:
    path = f"/webhooks/{desk.subscribe()['id']}"
    seen = desk.erp.get(path).headers["ETag"]
    desk.erp.patch(path, {"is_active": False})

    refused = desk.erp.patch(path, {"is_active": True}, headers={"If-Match": seen})

    assert (refused.status, refused.code) == (409, "stale_state")


def test_deliveries_do_not_stand_against_a_change(desk: WebhookDesk) -> None:
    path = f"/webhooks/{desk.subscribe()['id']}"
    first = desk.erp.get(path).headers["ETag"]
    desk.happen()
    desk.flow()

    answer = desk.erp.get(path, headers={"If-None-Match": first})
    assert answer.status == 200, "it was triggered, which its readers want to see"
    assert desk.erp.get(path, headers={"If-None-Match": answer.headers["ETag"]}).status == 304
    changed = desk.erp.patch(path, {"events": ["wave.planned"]}, headers={"If-Match": first})
    assert changed.status == 200
    stale = desk.erp.patch(path, {"is_active": False}, headers={"If-Match": first})
    assert (stale.status, stale.code) == (409, "stale_state")
    anything = desk.erp.patch(path, {"is_active": False}, headers={"If-Match": "*"})
    assert anything.status == 200


def test_a_secret_of_ones_own_cannot_be_tried_out_quickly(desk: WebhookDesk) -> None:
    body = {"url": URL, "events": ["wave.planned"], "secret": "CorrectHorse2026"}
    assert desk.erp.post("/webhooks", body, key="k").status == 201

    plain = fingerprint("POST", "/webhooks", body)
    records = [item for item in desk.stack.items() if item["PK"]["S"].startswith("idempotency#")]
    assert len(records) == 1
    assert records[0]["fingerprint"]["S"] != plain
    assert len(records[0]["fingerprint"]["S"]) == len(plain)


def test_what_is_deleted_is_gone(desk: WebhookDesk) -> None:
    made = desk.subscribe()
    path = f"/webhooks/{made['id']}"

    answer = desk.erp.delete(path)

    assert answer.status == 200
    assert answer.data == {name: value for name, value in made.items() if name != "secret"}
    below = ("", "/deliveries", f"/deliveries/evt_{'0' * 32}")
    assert {desk.erp.get(path + end).status for end in below} == {410}
    assert desk.erp.patch(path, {"is_active": True}).status == 410
    assert {desk.erp.post(f"{path}/{act}").status for act in ("test", "rotate-secret")} == {410}
    assert desk.erp.get("/webhooks").data == []


def test_what_never_was_is_not_found(desk: WebhookDesk) -> None:
    made = desk.subscribe()
    paths = [
        "/webhooks/77",
        "/webhooks/x",
        "/webhooks/77/deliveries",
        f"/webhooks/{made['id']}/deliveries/evt_{'0' * 32}",
        f"/webhooks/{made['id']}/deliveries/1",
        f"/webhooks/{made['id']}/deliveries/{'x' * 2000}",
    ]
    assert {desk.erp.get(path).status for path in paths} == {404}
    again = f"/webhooks/{made['id']}/deliveries/evt_{'0' * 32}/redeliver"
    assert desk.erp.post(again).status == 404


def test_another_tenant_sees_nothing(desk: WebhookDesk, stack: Stack) -> None:
    made = desk.subscribe()
    beta = stack.erp("beta")

    assert beta.get("/webhooks").data == []
    assert beta.get(f"/webhooks/{made['id']}").status == 404
    assert beta.delete(f"/webhooks/{made['id']}").status == 404


def test_a_plan_without_webhooks(desk: WebhookDesk) -> None:
    provisioning.set_plan("acme", "essentials")

    for answer in (desk.erp.get("/webhooks"), desk.erp.post("/webhooks", {"url": "no"})):
        assert (answer.status, answer.code) == (402, "feature_not_in_plan")
        assert answer.json()["error"]["feature"] == "webhooks.enabled"


def test_who_may_not(desk: WebhookDesk, stack: Stack) -> None:
    reader = stack.erp(scopes=["products:read"])
    assert reader.get("/webhooks").json()["error"]["scope"] == "webhooks:manage"
    assert desk.subscribe()["id"] == 1


def test_a_list_is_filtered(desk: WebhookDesk) -> None:
    first = desk.subscribe("stock.updated", "wave.planned")["id"]
    second = desk.subscribe("wave.planned")["id"]
    desk.erp.patch(f"/webhooks/{second}", {"is_active": False})

    def ids(question: str) -> list[int]:
        return [row["id"] for row in desk.erp.get(f"/webhooks?{question}").data]

    assert ids("is_active=true") == [first]
    assert ids("is_active=false") == [second]
    assert ids("event=wave.planned&sort=-id") == [second, first]
    assert ids("event=stock.updated") == [first]
    assert ids("event=layout.published") == []
    assert desk.erp.get("/webhooks?event=wave").status == 422


def test_what_is_sealed_for_one_cannot_be_unsealed_for_another(desk: WebhookDesk) -> None:
    made = desk.subscribe()
    (stored,) = WEBHOOKS.get(desk.stack.store(), made["id"]).entity.secrets
    sealed = b64decode(stored.sealed)

    assert unseal(sealed, "signing", "acme", "webhook 1").decode() == made["secret"]
    for tenant, what in (("beta", "webhook 1"), ("acme", "webhook 2")):
        with pytest.raises(ClientError, match="InvalidCiphertext"):
            unseal(sealed, "signing", tenant, what)
