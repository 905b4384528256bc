"""Requests per minute, as an ERP meets the limit: through the gateway, to the item and back."""

from collections.abc import Iterator

import pytest

from shared.clock import instant, now_ms
from shared.config import config
from shared.http.leases import budget
from shared.tenancy import provisioning
from shared.tenancy.directory import directory
from shared.tenancy.settings import TenantSettings
from tests.clock import Clock
from tests.faults import Wire, refusal
from tests.gateway import Erp
from tests.integration.http.minutes import ERP, LIMIT, assert_refused, told
from tests.integration.write_routes import BOLT
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, ADDRESS, REGION, Stack


def use_up(erp: Erp) -> None:
    assert all(erp.get("/products").status == 200 for _ in range(LIMIT))


def counted(slug: str = "mini") -> Iterator[tuple[str, str]]:
    """The windows that a tenant's table knows of."""
    for item in stored_items(ACCOUNT, REGION, config().tenant_table(slug)):
        if item["PK"]["S"].startswith("rate#"):
            yield item["PK"]["S"], item["SK"]["S"]


# The limit, the headers, the next minute


def test_exactly_as_many_pass_as_the_plan_allows(mini: Erp, minute: Clock) -> None:
    answers = [mini.get("/products") for _ in range(LIMIT)]
    minute.advance(17.5)

    assert {answer.status for answer in answers} == {200}
    assert [told(answer) for answer in answers] == [
        (LIMIT, remaining, 60) for remaining in reversed(range(LIMIT))
    ]
    assert_refused(mini.get("/products"), seconds=43)
    minute.advance(42.4)
    assert_refused(mini.get("/products"), seconds=1)
    minute.advance(0.2)
    answer = mini.get("/products")
    assert (answer.status, told(answer)) == (200, (LIMIT, LIMIT - 1, 60))


def test_whoever_waits_as_long_as_told_is_served(mini: Erp, minute: Clock) -> None:
    minute.advance(31.7)
    use_up(mini)
    refused = mini.get("/products")

    minute.advance(int(refused.headers["Retry-After"]))

    assert mini.get("/products").status == 200


def test_a_window_that_is_used_up_is_asked_for_once(mini: Erp, wire: Wire) -> None:
    use_up(mini)

    with wire.recorded() as seen:
        for _ in range(10):
            assert_refused(mini.get("/products"), seconds=60)

    assert seen.calls == []


def test_most_requests_wait_for_no_lease(mini: Erp, wire: Wire) -> None:
    with wire.recorded() as seen:
        use_up(mini)

    leases = seen.operations.count("UpdateItem")
    assert leases == 2 + (LIMIT - 4) // (1 + budget(LIMIT))


def test_an_item_goes_soon_after_its_window(mini: Erp, stack: Stack) -> None:
    mini.get("/products")

    began = now_ms() // 60_000 * 60_000
    item = stack.store("mini").get((f"rate#{ERP}", instant(began)))
    assert item is not None
    assert item["expires_at"] == began // 1000 + 120


def test_an_environment_that_was_alone_expects_to_be_again(
    mini: Erp, stack: Stack, minute: Clock
) -> None:
    leased = []
    for _ in range(2):
        mini.get("/products")
        item = stack.store("mini").get((f"rate#{ERP}", instant(now_ms() // 60_000 * 60_000)))
        assert item is not None
        leased.append(item["leased"])
        minute.advance(60)

    assert leased == [1 + budget(LIMIT) // 2, 1 + budget(LIMIT)]


# Whose requests are counted together


def test_each_credential_has_a_limit_of_its_own(stack: Stack, mini: Erp) -> None:
    use_up(mini)

    assert_refused(stack.erp("mini").get("/products"), seconds=60)
    assert told(stack.erp("mini", client="shop").get("/products"))[1] == LIMIT - 1
    user = Erp(stack.gateway, stack.user_token("mini", sub="7"))
    assert told(user.get("/products"))[1] == LIMIT - 1
    mobile = Erp(stack.gateway, stack.user_token("mini", sub="7", kind="mobile"))
    assert told(mobile.get("/products"))[1] == LIMIT - 2, "the same person"
    named_alike = stack.erp("mini", client="7")
    assert told(named_alike.get("/products"))[1] == LIMIT - 1
    assert {name for name, _ in counted()} == {
        f"rate#{one}" for one in (ERP, "client#shop", "user#7", "client#7")
    }


def test_each_tenant_has_a_limit_of_its_own(stack: Stack, mini: Erp) -> None:
    provisioning.create_tenant(TenantSettings("tiny", base_url=ADDRESS))
    use_up(mini)

    assert told(stack.erp("tiny").get("/products")) == (LIMIT, LIMIT - 1, 60)


# The place in the order of checks


def test_the_limit_comes_before_the_right_and_the_route(stack: Stack, mini: Erp) -> None:
    use_up(mini)
    reader = stack.erp("mini", scopes=["clients:read"])

    assert_refused(reader.post("/products", BOLT), seconds=60)
    assert_refused(mini.get("/products/1/2/3"), seconds=60)
    assert_refused(mini.delete("/products"), seconds=60)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/products/9", 404),
        ("GET", "/products/1/2/3", 404),
        ("DELETE", "/products", 405),
        ("POST", "/products", 422),
        ("GET", "/waves", 404),
        ("GET", "/webhooks", 402),
    ],
)
def test_a_refused_request_counts(mini: Erp, method: str, path: str, status: int) -> None:
    answer = mini.send(method, path, {} if method == "POST" else None)

    assert (answer.status, told(answer)) == (status, (LIMIT, LIMIT - 1, 60))


def test_a_scope_that_is_missing_counts(stack: Stack, mini: Erp) -> None:
    assert mini
    answer = stack.erp("mini", scopes=["clients:read"]).get("/products")

    assert (answer.status, told(answer)) == (403, (LIMIT, LIMIT - 1, 60))


@pytest.mark.parametrize("state", ["suspended", "cancelled", "moved"])
def test_a_closed_tenant_is_told_of_its_limit_and_uses_none(mini: Erp, state: str) -> None:
    mini.get("/products")
    moved_to = "https://wms.mini.test" if state == "moved" else None
    provisioning.set_state("mini", state, moved_to=moved_to)  # type: ignore[arg-type]
    directory.forget()

    for path in ("/products", "/products/1/2/3"):
        answer = mini.get(path)
        assert answer.status == (410 if state == "moved" else 402)
        assert told(answer) == (LIMIT, LIMIT - 1, 60)


def test_a_revoked_client_is_told_of_its_limit_and_uses_none(stack: Stack, mini: Erp) -> None:
    assert mini
    credentials = provisioning.create_client("mini", "ERP")
    revoked = stack.erp("mini", client=credentials.client_id)
    provisioning.revoke_client(credentials.client_id)
    directory.forget()

    answer = revoked.get("/products")

    assert (answer.status, told(answer)) == (401, (LIMIT, LIMIT, 60))
    assert list(counted()) == []


def test_whoever_sends_no_token_has_no_limit_to_be_told_of(stack: Stack) -> None:
    for path in ("/nothing", "/products"):
        assert "RateLimit-Limit" not in Erp(stack.gateway, None).get(path).headers


# Other answers than the usual


def test_an_unchanged_answer_tells_the_limit(mini: Erp) -> None:
    tag = mini.get("/products").headers["ETag"]

    answer = mini.get("/products", headers={"If-None-Match": tag})

    assert (answer.status, told(answer)) == (304, (LIMIT, LIMIT - 2, 60))


def test_a_repeated_answer_tells_the_limit_of_now(mini: Erp, minute: Clock) -> None:
    first = mini.post("/products", BOLT, key="k1")
    minute.advance(20)

    again = mini.post("/products", BOLT, key="k1")

    assert again.text == first.text
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (told(first), told(again)) == ((LIMIT, LIMIT - 1, 60), (LIMIT, LIMIT - 2, 40))


def test_a_failure_tells_the_limit(mini: Erp, wire: Wire) -> None:
    mini.get("/products")

    with wire.faulty(lambda _call, _forward: refusal("ThrottlingException")):
        answer = mini.get("/products/1")

    assert (answer.status, told(answer)[:2]) == (503, (LIMIT, LIMIT - 2))


def test_a_refusal_leaves_the_key_alone(mini: Erp, minute: Clock, stack: Stack) -> None:
    use_up(mini)
    assert_refused(mini.post("/products", BOLT, key="k1"), seconds=60)
    assert stack.items("mini") == []

    minute.advance(60)

    answer = mini.post("/products", BOLT, key="k1")
    assert answer.status == 201
    assert "Idempotent-Replayed" not in answer.headers


# What the limit is


def test_another_plan_counts_in_the_same_minute(mini: Erp) -> None:
    use_up(mini)
    provisioning.set_plan("mini", "professional")
    directory.forget()

    answers = [mini.get("/products") for _ in range(181)]

    assert [answer.status for answer in answers] == [200] * 180 + [429]
    assert told(answers[0]) == (300, 179, 60)
    provisioning.set_plan("mini", "essentials")
    directory.forget()
    assert_refused(mini.get("/products"), seconds=60)


def test_what_was_leased_is_not_spent_beyond_a_lower_limit(mini: Erp) -> None:
    provisioning.set_requests_per_minute("mini", 5_000)
    directory.forget()
    assert mini.get("/products").status == 200
    provisioning.set_requests_per_minute("mini", 10)
    directory.forget()

    answers = [mini.get("/products") for _ in range(12)]

    assert [answer.status for answer in answers] == [200] * 9 + [429] * 3
    assert [told(answer)[:2] for answer in answers] == [
        (10, remaining) for remaining in (*reversed(range(9)), 0, 0, 0)
    ]


def test_an_agreed_limit_stands_for_the_plans(mini: Erp) -> None:
    provisioning.set_requests_per_minute("mini", 3)
    directory.forget()

    assert [mini.get("/products").status for _ in range(4)] == [200, 200, 200, 429]
    provisioning.set_plan("mini", "enterprise")
    directory.forget()
    assert mini.get("/products").headers["RateLimit-Limit"] == "3"
    provisioning.set_requests_per_minute("mini", None)
    directory.forget()
    assert told(mini.get("/products")) == (1_200, 1_196, 60)
