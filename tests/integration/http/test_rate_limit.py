"""The rate limit as an ERP sees it, through the gateway."""

from collections.abc import Iterator

import pytest

from operations import api_clients, provisioning
from operations.tenant_rules import NewTenant
from shared.http.rate_limit_leases import spare_budget
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from tests.clock import Clock
from tests.faults import AwsFaults, refusal
from tests.gateway import Erp
from tests.integration.http.rate_limit_headers import (
    ERP,
    LIMIT,
    TOTAL,
    assert_refused,
    read_rate_limit,
)
from tests.integration.write_routes import BOLT
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, ADDRESS, REGION, Stack
from tests.tenant_cache import apply_now


def use_up(erp: Erp) -> None:
    """Use up the limit of a client with the requests that cost least."""
    assert all(erp.get("/nothing").status == 404 for _ in range(LIMIT))


def counted(slug: str = "mini") -> Iterator[tuple[str, str]]:
    """Yield the windows that are stored in the table of a tenant."""
    for item in stored_items(ACCOUNT, REGION, config().tenant_table(slug)):
        if item["PK"]["S"].startswith("rate#"):
            yield item["PK"]["S"], item["SK"]["S"]


# The limit, the headers, the next minute


def test_plan_limit_is_admitted_exactly(mini: Erp, minute_clock: Clock) -> None:
    answers = [mini.get("/products") for _ in range(LIMIT)]
    minute_clock.advance(17.5)

    assert {answer.status for answer in answers} == {200}
    assert [read_rate_limit(answer) for answer in answers] == [
        (LIMIT, remaining, 60) for remaining in reversed(range(LIMIT))
    ]
    assert_refused(mini.get("/products"), seconds=43)
    minute_clock.advance(42.4)
    assert_refused(mini.get("/products"), seconds=1)
    minute_clock.advance(0.2)
    answer = mini.get("/products")
    assert (answer.status, read_rate_limit(answer)) == (200, (LIMIT, LIMIT - 1, 60))


def test_most_requests_need_no_lease(mini: Erp, aws_faults: AwsFaults) -> None:
    leases = []
    for _ in range(LIMIT):
        with aws_faults.recorded() as seen:
            assert mini.get("/products").status == 200
        leases.append(
            [
                call.request["Key"]["PK"]["S"]
                for call in seen.calls
                if call.operation == "UpdateItem"
            ]
        )

    own = [made for made in leases if f"rate#{ERP}" in made]
    assert len(own) == 2 + (LIMIT - 4) // (1 + spare_budget(LIMIT))
    of_tenant = [made for made in leases if "rate#tenant" in made]
    assert 1 <= len(of_tenant) <= 2 + LIMIT // spare_budget(TOTAL) * 2
    assert all(made in own for made in of_tenant), "the tenant's lease costs no round trip"


def test_item_expires_soon_after_its_window(mini: Erp, stack: Stack) -> None:
    mini.get("/products")

    began = now_ms() // 60_000 * 60_000
    item = stack.store("mini").get((f"rate#{ERP}", instant(began)))
    assert item is not None
    assert item["expires_at"] == began // 1000 + 120


# Requests that share a limit


def test_each_credential_has_its_own_limit(stack: Stack, mini: Erp) -> None:
    use_up(mini)

    assert_refused(stack.erp("mini").get("/products"), seconds=60)
    assert read_rate_limit(stack.erp("mini", client="shop").get("/products"))[1] == LIMIT - 1
    user = Erp(stack.gateway, stack.user_token("mini", sub="7"))
    assert read_rate_limit(user.get("/products"))[1] == LIMIT - 1
    mobile = Erp(stack.gateway, stack.user_token("mini", sub="7", kind="mobile"))
    assert read_rate_limit(mobile.get("/products"))[1] == LIMIT - 2, "the same person"
    named_alike = stack.erp("mini", client="7")
    assert read_rate_limit(named_alike.get("/products"))[1] == LIMIT - 1
    assert {name for name, _ in counted()} == {
        f"rate#{one}" for one in (ERP, "client#shop", "user#7", "client#7", "tenant")
    }


def use_up_total(stack: Stack) -> list[Erp]:
    """Use up the limit of the tenant with five clients; return them."""
    clients = [stack.erp("mini", client=f"client-{number}") for number in range(TOTAL // LIMIT)]
    for client in clients:
        use_up(client)
    return clients


def test_all_credentials_of_a_tenant_share_a_limit(
    stack: Stack, mini: Erp, minute_clock: Clock
) -> None:
    use_up_total(stack)
    user = Erp(stack.gateway, stack.user_token("mini", sub="7"))

    for caller in (mini, user):
        refused = caller.get("/products")
        assert_refused(refused, seconds=60, limit=TOTAL)
        assert "600 requests per minute of all clients and users together" in refused.text
    minute_clock.advance(60)
    assert read_rate_limit(mini.get("/products")) == (LIMIT, LIMIT - 1, 60)


def test_headers_show_the_limit_with_fewer_remaining_requests(stack: Stack, mini: Erp) -> None:
    clients = [stack.erp("mini", client=f"client-{number}") for number in range(5)]
    for client in clients[:4]:
        use_up(client)
    for _ in range(LIMIT - 1):
        assert read_rate_limit(clients[4].get("/nothing"))[0] == LIMIT

    assert read_rate_limit(mini.get("/products")) == (TOTAL, 0, 60)


def test_request_refused_by_the_total_does_not_use_the_limit_of_its_client(
    stack: Stack, mini: Erp
) -> None:
    assert mini.get("/products").status == 200
    for number in range(5):
        client = stack.erp("mini", client=f"client-{number}")
        while client.get("/nothing").status == 404:
            pass
    for _ in range(10):
        assert_refused(mini.get("/products"), seconds=60, limit=TOTAL)
    apply_now(provisioning.set_plan, "mini", "professional")

    assert read_rate_limit(mini.get("/products")) == (300, 298, 60)


def test_request_refused_by_its_client_does_not_use_the_total(stack: Stack, mini: Erp) -> None:
    use_up(mini)
    for _ in range(TOTAL):
        assert_refused(mini.get("/products"), seconds=60)

    other = stack.erp("mini", client="shop")
    use_up(other)


def test_each_tenant_has_its_own_limit(stack: Stack, mini: Erp) -> None:
    provisioning.create_tenant(NewTenant("tiny", base_url=ADDRESS))
    use_up(mini)

    assert read_rate_limit(stack.erp("tiny").get("/products")) == (LIMIT, LIMIT - 1, 60)


# Order of checks


def test_limit_is_checked_before_permission_and_route(stack: Stack, mini: Erp) -> None:
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
        ("GET", "/nothing", 404),
        ("POST", "/", 404),
        ("POST", "/products", 422),
        ("GET", "/waves", 404),
        ("GET", "/webhooks", 402),
    ],
)
def test_refused_request_is_counted(mini: Erp, method: str, path: str, status: int) -> None:
    answer = mini.send(method, path, {} if method == "POST" else None)

    assert (answer.status, read_rate_limit(answer)) == (status, (LIMIT, LIMIT - 1, 60))


def test_request_without_the_scope_is_counted(stack: Stack, mini: Erp) -> None:
    assert mini
    answer = stack.erp("mini", scopes=["clients:read"]).get("/products")

    assert (answer.status, read_rate_limit(answer)) == (403, (LIMIT, LIMIT - 1, 60))


@pytest.mark.parametrize("state", ["suspended", "cancelled", "moved"])
def test_request_of_inactive_tenant_has_headers_and_is_not_counted(mini: Erp, state: str) -> None:
    mini.get("/products")
    moved_to = "https://wms.mini.test" if state == "moved" else None
    apply_now(provisioning.set_state, "mini", state, moved_to=moved_to)  # type: ignore[arg-type]

    for path in ("/products", "/products/1/2/3"):
        answer = mini.get(path)
        assert answer.status == (410 if state == "moved" else 402)
        assert read_rate_limit(answer) == (LIMIT, LIMIT - 1, 60)


def test_request_of_revoked_client_has_headers_and_is_not_counted(stack: Stack, mini: Erp) -> None:
    assert mini
    credentials = api_clients.create_client("mini", "ERP")
    revoked = stack.erp("mini", client=credentials.client_id)
    apply_now(api_clients.revoke_client, credentials.client_id)

    answer = revoked.get("/products")

    assert (answer.status, read_rate_limit(answer)) == (401, (LIMIT, LIMIT, 60))
    assert list(counted()) == []


def test_request_without_a_token_has_no_limit_headers(stack: Stack) -> None:
    for path in ("/nothing", "/products"):
        assert "RateLimit-Limit" not in Erp(stack.gateway, None).get(path).headers


# Other responses


def test_304_has_the_limit_headers(mini: Erp) -> None:
    tag = mini.get("/products").headers["ETag"]

    answer = mini.get("/products", headers={"If-None-Match": tag})

    assert (answer.status, read_rate_limit(answer)) == (304, (LIMIT, LIMIT - 2, 60))


def test_replayed_response_has_the_current_limit_headers(mini: Erp, minute_clock: Clock) -> None:
    first = mini.post("/products", BOLT, key="k1")
    minute_clock.advance(20)

    again = mini.post("/products", BOLT, key="k1")

    assert again.text == first.text
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (read_rate_limit(first), read_rate_limit(again)) == (
        (LIMIT, LIMIT - 1, 60),
        (LIMIT, LIMIT - 2, 40),
    )


def test_failure_has_the_limit_headers(mini: Erp, aws_faults: AwsFaults) -> None:
    mini.get("/products")

    with aws_faults.faulty(lambda _call, _forward: refusal("ThrottlingException")):
        answer = mini.get("/products/1")

    assert (answer.status, read_rate_limit(answer)[:2]) == (503, (LIMIT, LIMIT - 2))


def test_refused_request_does_not_use_the_key(mini: Erp, minute_clock: Clock, stack: Stack) -> None:
    use_up(mini)
    assert_refused(mini.post("/products", BOLT, key="k1"), seconds=60)
    assert stack.items("mini") == []

    minute_clock.advance(60)

    answer = mini.post("/products", BOLT, key="k1")
    assert answer.status == 201
    assert "Idempotent-Replayed" not in answer.headers


# Changes of the limit


def test_new_plan_applies_in_the_same_minute(mini: Erp) -> None:
    use_up(mini)
    apply_now(provisioning.set_plan, "mini", "professional")

    answers = [mini.get("/products") for _ in range(181)]

    assert [answer.status for answer in answers] == [200] * 180 + [429]
    assert read_rate_limit(answers[0]) == (300, 179, 60)
    apply_now(provisioning.set_plan, "mini", "essentials")
    # More than two minutes of the smaller plan are used, as if a request had cost as much.
    assert_refused(mini.get("/products"), seconds=120)


def test_agreed_limit_replaces_that_of_the_plan(mini: Erp) -> None:
    apply_now(provisioning.set_requests_per_minute, "mini", 3)

    assert [mini.get("/products").status for _ in range(4)] == [200, 200, 200, 429]
    apply_now(provisioning.set_plan, "mini", "enterprise")
    assert mini.get("/products").headers["RateLimit-Limit"] == "3"
    apply_now(provisioning.set_requests_per_minute, "mini", None)
    assert read_rate_limit(mini.get("/products")) == (1_200, 1_196, 60)
