"""Functions with rights of their own use all of them: each action, key, attribute and resource.

The recorded calls are also evaluated the other way: every one of them is allowed.
"""

from collections.abc import Sequence

import pytest

from functions.oauth.app import lambda_handler
from operations import signing_keys
from operations.api_clients import create_client
from shared.identity.tenancy import revocations
from shared.warehouse.settings.values import Settings
from tests import clock as clocks
from tests.aws_calls import Made, Watch
from tests.clock import Clock
from tests.expired_stock_run import RUN, run_expired_stock, set_time
from tests.feed_scenario import FeedScenario
from tests.gateway import Erp
from tests.iam import Access, Statement, unused
from tests.integration.roles import ARNS, Roles
from tests.integration.route_calls import call_route
from tests.integration.routes import handlers
from tests.integration.user_grants import oauth_requests
from tests.integration.user_grants.oauth_requests import (
    PASSWORD,
    create_example_user,
    enable_two_step,
    guess,
    refresh,
    request_token,
    revoke,
    token_of,
)
from tests.integration.write_routes import EXAMPLES
from tests.integration.write_settings import APPLICATION
from tests.stack import Stack, set_attributes
from tests.warehouse_scenario import WarehouseScenario
from tests.webhook_scenario import RELAY, WebhookScenario, run_relay, stream_batch

OAUTH = "functions.oauth.app.lambda_handler"
SETTINGS = "functions.settings.app.lambda_handler"
FALLBACK = "functions.fallback.app.lambda_handler"
CHANGES = "functions.changes.app.lambda_handler"
LABELS = "functions.labels.app.lambda_handler"

_BY_LAMBDA = {
    "logs:CreateLogStream", "logs:PutLogEvents",
    "xray:PutTelemetryRecords", "xray:PutTraceSegments",
    "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
}  # fmt: skip


_IN_RACES = "dynamodb:LeadingKeys idempotency#*"
"""Read if the request that holds an Idempotency-Key ends between two calls of another request."""

_OTHER_SETTINGS = {
    "receipt_tolerance": 2, "pick_substitution": "batch", "minutes_per_unit": 2,
    "minutes_per_trip": 6, "commit_drops": True, "imports_require_kind_scope": True,
    "approval_shortage_percent": 10, "approval_adjustment_qty": 10, "blind_returns": True,
    "packing_required": True, "dispatch_rest": "keep", "expired_stock": "allow",
    "rfid_required": True, "gs1_company_prefix": "8412345", "sscc_extension_digit": 1,
    "timezone": "Europe/Madrid", "oversell": "refuse", "capacity": "enforce",
    "request_log": True,
}  # fmt: skip


def _assert_all_are_used(roles: Roles, watch: Watch, handler: str, data_role: str) -> None:
    """Assert that the calls of a function are allowed, and that they use all of its rights."""
    calls = [made for made in watch.made if made.handler == handler]
    assert roles.denied(calls) == []
    own = [one for one in roles.functions[handler] if not _is_of_lambda(one)]
    left = [
        *unused(own, _accesses(calls, in_session=False)),
        *unused(roles.data_roles[data_role], _accesses(calls, in_session=True)),
    ]
    assert not [one for one in left if not one.endswith(_IN_RACES)], "\n".join(left)


def _is_of_lambda(statement: Statement) -> bool:
    """Return whether Lambda itself needs it: for logs, traces, and the stream with its failures."""
    return _BY_LAMBDA.issuperset(statement.actions) or (
        statement.actions == ["sqs:SendMessage"]
        and statement.resources == [ARNS.queue("/stowage-RelayFailures")]
    )


def _accesses(calls: Sequence[Made], *, in_session: bool) -> list[Access]:
    made = [one for one in calls if (one.session is not None) is in_session]
    return [access for one in made for access in one.accesses]


def _routes(function: str) -> list[str]:
    return [f"{each.method} {each.path}" for each in handlers()[function].operations]


def _rotate_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the signing key; functions may use the later ones by their tags."""
    monkeypatch.setattr(signing_keys, "_ACTIVATION_DELAY", 0)
    signing_keys.rotate()


def _sign_ins(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Request, use and revoke tokens of a client and of users with and without second factor."""
    client = create_client("acme", "ERP")
    form = oauth_requests.client_form(client)
    token = request_token(form).access_token
    assert request_token({**form, "client_secret": "wrong"}).status == 401
    assert revoke(token, **client._asdict()).status == 200
    monkeypatch.setattr(revocations, "PER_SUBJECT", 2)
    for _ in range(4):  # the last one revokes all tokens of the client
        assert revoke(token_of(client), **client._asdict()).status == 200
    person, careful = create_example_user("anna"), create_example_user("carla")
    enable_two_step(careful)
    assert guess(person) == oauth_requests.INVALID_GRANT
    first = person.sign_in()
    assert revoke(first.access_token).status == 200
    renewed = refresh(person.sign_in().refresh_token)
    assert refresh(renewed.refresh_token).status == 200
    assert refresh(renewed.refresh_token).status == 400  # used twice, which ends the session
    assert revoke(person.sign_in().refresh_token).status == 200
    assert careful.sign_in(otp=careful.code()).status == 200
    assert careful.sign_in(otp="000000").status == 400
    assert careful.sign_in(otp=careful.recovery_codes[0]).status == 200
    anybody = Erp(stack.gateway, None)
    assert anybody.get("/.well-known/oauth-authorization-server").status == 200


def test_sign_in_uses_its_rights(
    stack: Stack, roles: Roles, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks.install_for_tokens(monkeypatch)
    recorded = watch.wrap_function(OAUTH, lambda_handler)
    monkeypatch.setattr(oauth_requests, "lambda_handler", recorded)
    _sign_ins(stack, monkeypatch)
    _rotate_keys(monkeypatch)
    assert create_example_user("eva").sign_in().status == 200
    anybody = Erp(stack.gateway, None)
    assert anybody.get("/.well-known/jwks.json").status == 200
    _assert_all_are_used(roles, watch, OAUTH, "SignInDataRole")


def test_administration_uses_its_rights(stack: Stack, roles: Roles, watch: Watch) -> None:
    restore = stack.take_snapshot()
    for route in _routes("settings"):
        call_route(route, stack)
        restore()
    erp = stack.erp()
    assert _OTHER_SETTINGS.keys() >= Settings.model_fields.keys()
    assert erp.patch("/settings", _OTHER_SETTINGS).status == 200
    assert erp.patch("/settings", {"modules": {"transfer_orders": False}}).status == 200
    assert erp.patch("/settings", {"modules": {"transfer_orders": True}}).status == 422
    for _ in range(2):  # the repeated answer has the secret
        body = EXAMPLES["POST /api-clients"].body
        assert erp.post("/api-clients", body, key="twice").status == 201
    assert erp.post("/api-clients", APPLICATION).status == 201
    person, *_ = [create_example_user(f"anna{number}") for number in range(4)]
    own = Erp(stack.gateway, stack.user_token(sub=str(person.id)))
    for current, new in (("wrong", PASSWORD[::-1]), (person.password, "password1234")):
        passwords = {"current_password": current, "new_password": new}
        assert own.post("/users/me/password", passwords).status == 422
    for query in ({}, {"search": "Ann"}):
        assert erp.get("/users", query={"per_page": 1, "page": 2, **query}).status == 200
    _assert_all_are_used(roles, watch, SETTINGS, "SettingsDataRole")


def test_relay_uses_its_rights(
    webhooks: WebhookScenario, roles: Roles, watch: Watch, clock: Clock
) -> None:
    clock.advance(60)  # what is as old as the feed is recognized by its mark
    webhooks.subscribe()
    number = webhooks.create_product(1)["id"]
    webhooks.run_until_idle()
    assert webhooks.erp.patch(f"/products/{number}", {"name": "Another"}).status == 200
    batch = stream_batch(webhooks.stack.outbox_items("acme"))
    webhooks.run_until_idle()
    run_relay(batch)  # a repeat looks for its entries in the feed
    _assert_all_are_used(roles, watch, RELAY, "RelayDataRole")


def test_unknown_paths_use_their_rights(
    stack: Stack, roles: Roles, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.erp().get("/nowhere").status == 404
    _rotate_keys(monkeypatch)
    assert stack.erp().get("/nowhere").status == 404
    _assert_all_are_used(roles, watch, FALLBACK, "FallbackDataRole")


def test_labels_use_their_rights(stack: Stack, roles: Roles, watch: Watch) -> None:
    # One route of positions only: each prepares the same warehouse.
    for route in set(_routes("labels")) - {"GET /warehouse-positions/labels"}:
        call_route(route, stack, watch.paused)
    _assert_all_are_used(roles, watch, LABELS, "LabelsDataRole")


def test_changes_use_their_rights(
    webhooks: WebhookScenario, roles: Roles, watch: Watch, clock: Clock
) -> None:
    feed = FeedScenario.started(webhooks)
    clock.advance(1)
    WarehouseScenario.with_master_data(webhooks.erp, "YARD").stock("BRICK", 5)
    webhooks.subscribe()
    body = EXAMPLES["POST /api-clients"].body
    assert webhooks.erp.post("/api-clients", body).status == 201
    for entries in feed.items():
        feed.relay([entries])
    shown = webhooks.erp.get("/changes", query={"include": "resource"}).data
    objects = {change["object"] for one in shown for change in one["changes"]}
    assert objects > {"product", "api_client", "stock", "stock_level", "webhook", "warehouse"}
    assert webhooks.erp.get("/changes/latest").status == 200
    _assert_all_are_used(roles, watch, CHANGES, "ChangesDataRole")


def test_run_of_expired_goods_uses_its_rights(
    stack: Stack, roles: Roles, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = clocks.install(monkeypatch)
    set_time(time, "2030-03-09T12:00:00")
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD")
    for batch in ("L1", "L2"):
        yard.stock("CEMENT", 5, batch=batch, expiry_date="2030-03-10")
    yard.picking(yard.order(("CEMENT", 3)))
    set_time(time, "2030-03-11T00:00:00")
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
    set_attributes("beta", state={"S": "suspended"})
    run_expired_stock()
    _assert_all_are_used(roles, watch, RUN, "ExpiredStockDataRole")
    roles.assert_no_access_to_other_tenant([one for one in watch.made if one.handler == RUN])
