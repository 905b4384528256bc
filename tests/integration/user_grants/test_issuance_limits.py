"""Limits on the tokens that are issued to a client or a user."""

from collections import Counter

import pytest

from operations import provisioning
from operations.api_clients import Credentials, create_client
from operations.tenant_rules import NewTenant
from shared.identity.auth import issuance_limits
from shared.identity.auth.issuance_limits import LONG_WINDOW_MINUTES
from shared.kernel import aws
from shared.kernel.config import config
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    Killed,
    kill_after,
    kill_before,
    refusal,
)
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    RATE_LIMITED,
    ExampleUser,
    OAuthResponse,
    client_form,
    create_example_user,
    refresh,
    request_token,
)
from tests.sampling import sampled
from tests.stack import ADDRESS, Stack

MINUTE, QUARTER = 60, 15 * 60
LEAST_PER_MINUTE = 6
"""Tokens of acme per minute in these tests."""


@pytest.fixture(autouse=True)
def quarter_clock(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands at the start of a quarter of an hour."""
    assert stack
    clock.freeze()
    clock.advance(QUARTER - clock.time() % QUARTER + 0.001)
    monkeypatch.setattr("shared.identity.auth.client_grants.time", clock)
    return clock


@pytest.fixture
def low(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agree on one request per minute with acme, so that it gets the fewest tokens."""
    assert stack
    monkeypatch.setattr(issuance_limits, "LEAST_PER_MINUTE", LEAST_PER_MINUTE)
    provisioning.set_requests_per_minute("acme", 1)


@pytest.fixture
def client(low: None) -> Credentials:
    """A client of acme."""
    assert low is None
    return create_client("acme", "ERP")


@pytest.fixture
def user(low: None) -> ExampleUser:
    """A user of acme."""
    assert low is None
    return create_example_user()


def client_token(client: Credentials, **more: str) -> OAuthResponse:
    return request_token(client_form(client, **more))


def assert_refused(answer: OAuthResponse, *, seconds: int) -> None:
    assert answer.outcome == RATE_LIMITED, answer
    assert answer.headers["Retry-After"] == str(seconds)
    assert answer.body["error"]["request_id"] == "req-1"
    assert f"{seconds} s" in answer.body["error"]["message"]


@pytest.mark.parametrize(
    ("plan", "tokens"), sampled("plans", [("professional", 330), ("essentials", 132)], every=2)
)
def test_erp_may_request_a_token_per_request_for_a_minute(
    quarter_clock: Clock, plan: str, tokens: int
) -> None:
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    limits = provisioning.set_plan("mini", plan).limits
    client = create_client("mini", "ERP")

    answers = [client_token(client) for _ in range(tokens)]

    assert tokens >= limits["requests_per_minute"]
    assert {answer.status for answer in answers} == {200}
    assert_refused(client_token(client), seconds=MINUTE)
    quarter_clock.advance(17.5)
    assert_refused(client_token(client), seconds=43)
    quarter_clock.advance(42.5)
    assert client_token(client).status == 200


def test_client_gets_three_full_minutes_per_quarter_of_an_hour(
    client: Credentials, quarter_clock: Clock
) -> None:
    for minute in range(LONG_WINDOW_MINUTES):
        assert all(client_token(client).status == 200 for _ in range(LEAST_PER_MINUTE)), minute
        quarter_clock.advance(MINUTE)

    assert_refused(client_token(client), seconds=QUARTER - LONG_WINDOW_MINUTES * MINUTE)
    quarter_clock.advance(QUARTER - LONG_WINDOW_MINUTES * MINUTE)
    assert client_token(client).status == 200


def test_agreed_limit_applies_at_once(client: Credentials) -> None:
    for _ in range(LEAST_PER_MINUTE):
        client_token(client)
    assert_refused(client_token(client), seconds=MINUTE)

    provisioning.set_requests_per_minute("acme", 10)

    outcomes = Counter(client_token(client).status for _ in range(8))
    assert outcomes == {200: 11 - LEAST_PER_MINUTE, 429: 3}


def test_each_client_and_user_has_a_limit_of_its_own(
    client: Credentials, user: ExampleUser
) -> None:
    for _ in range(LEAST_PER_MINUTE):
        client_token(client)
        user.sign_in()

    assert client_token(client).outcome == user.sign_in().outcome == RATE_LIMITED
    assert client_token(create_client("acme", "Shop")).status == 200
    assert create_example_user("berta").sign_in().status == 200


def test_sign_ins_and_refreshes_of_a_user_count_together(
    user: ExampleUser, quarter_clock: Clock
) -> None:
    sessions = [user.sign_in().refresh_token for _ in range(LEAST_PER_MINUTE // 2)]
    for token in sessions:
        last = refresh(token).refresh_token

    assert_refused(user.sign_in(), seconds=MINUTE)
    assert_refused(refresh(last), seconds=MINUTE)
    quarter_clock.advance(MINUTE)
    assert refresh(last).status == 200, "a refused refresh does not use the refresh token"


def test_only_successful_requests_count(client: Credentials, user: ExampleUser) -> None:
    for _ in range(5):
        assert client_token(client, scope="nonsense").outcome == (400, "invalid_scope")
        assert request_token(user.form(password="wrong")).outcome == INVALID_GRANT
        assert client_token(client, client_secret="wrong").outcome == (401, "invalid_client")

    assert all(client_token(client).status == 200 for _ in range(LEAST_PER_MINUTE))
    assert all(user.sign_in().status == 200 for _ in range(LEAST_PER_MINUTE))


def test_limit_is_shown_only_to_callers_with_the_right_secret(
    client: Credentials, user: ExampleUser
) -> None:
    for _ in range(LEAST_PER_MINUTE):
        client_token(client)
        user.sign_in()

    assert client_token(client, client_secret="wrong").outcome == (401, "invalid_client")
    assert request_token(user.form(password="wrong")).outcome == INVALID_GRANT


def test_refused_request_costs_no_signature(
    client: Credentials, user: ExampleUser, aws_faults: AwsFaults
) -> None:
    for _ in range(LEAST_PER_MINUTE):
        client_token(client)
        user.sign_in()

    with aws_faults.recorded() as seen:
        assert client_token(client).outcome == user.sign_in().outcome == RATE_LIMITED

    assert "Sign" not in seen.operations


def test_counting_costs_no_round_trip(client: Credentials, aws_faults: AwsFaults) -> None:
    client_token(client)
    aws_faults.latency = 0.03  # so that concurrent calls overlap
    with aws_faults.recorded() as seen:
        client_token(client)

    assert seen.round_trips == 3
    assert sorted(seen.operations) == ["BatchGetItem", "GenerateMac", "Sign", "UpdateItem"]


def test_concurrent_requests_do_not_exceed_the_limit(
    client: Credentials, user: ExampleUser, aws_faults: AwsFaults
) -> None:
    aws_faults.latency = 0.001
    for _ in range(LEAST_PER_MINUTE - 3):
        client_token(client)
        user.sign_in()

    by_client = Counter(run_concurrently(20, lambda _: client_token(client).status))
    by_user = Counter(run_concurrently(8, lambda _: user.sign_in().status))

    assert (by_client, by_user) == ({200: 3, 429: 17}, {200: 3, 429: 5})


def test_expired_items_are_deleted_by_their_attribute(
    client: Credentials, quarter_clock: Clock
) -> None:
    client_token(client)

    (item,) = (
        item
        for item in aws.client("dynamodb").scan(TableName=config().control_table)["Items"]
        if item["pk"]["S"].startswith("ISSUED#")
    )
    now = quarter_clock.time()
    assert item == {
        "pk": {"S": f"ISSUED#{int(now) // QUARTER}#CLIENT#{client.client_id}"},
        "issued": {"N": "1"},
        "minute_0": {"N": "1"},
        "expires_at": {"N": str((int(now) // QUARTER + 1) * QUARTER)},
    }


# Faults


def test_token_that_cannot_be_counted_is_not_issued(
    client: Credentials, user: ExampleUser, aws_faults: AwsFaults
) -> None:
    def uncounted(call: Call, forward: Forward) -> Answer:
        if "ISSUED#" in str(call.request.get("Key")):
            return refusal("ThrottlingException")
        return forward()

    session = user.sign_in().refresh_token
    with aws_faults.faulty(uncounted):
        for answer in (client_token(client), user.sign_in(), refresh(session)):
            assert answer.outcome == (503, "service_unavailable")

    assert refresh(session).status == 200


@pytest.mark.parametrize("kill", [kill_before, kill_after])
def test_killed_requests_issue_no_more_tokens_than_allowed(
    client: Credentials, aws_faults: AwsFaults, kill: object
) -> None:
    for at in range(4):
        with pytest.raises(Killed), aws_faults.faulty(kill(at)):  # type: ignore[operator]
            client_token(client)

    outcomes = Counter(client_token(client).status for _ in range(LEAST_PER_MINUTE + 1))
    assert LEAST_PER_MINUTE - 4 <= outcomes[200] <= LEAST_PER_MINUTE
