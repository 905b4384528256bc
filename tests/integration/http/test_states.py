"""What operators switch takes effect within ten seconds: at every door, and where tokens are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from operations import provisioning
from operations.api_clients import Credentials, create_client
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import MODULES, WEBHOOKS
from shared.kernel.config import config
from tests.gateway import Erp, Response
from tests.stack import Stack

MOVED_TO = "https://wms.acme.example/api/v1"
PATHS = ("/products", "/warehouses", "/entry-documents", "/stock-levels", "/receipts", "/imports")


@dataclass(frozen=True, slots=True)
class Switch:
    """What an operator does to a company, and what its callers are told then."""

    do: Callable[[], Any]
    undo: Callable[[], Any]
    status: int
    code: str
    paths: tuple[str, ...] = PATHS
    says: str = ""
    """Part of the message."""
    error: dict[str, str] = field(default_factory=dict)
    """What else stands in `error`."""
    ends_tokens: bool = True
    """Whether the token route answers so, too."""


def state(name: str, moved_to: str | None = None) -> Callable[[], Any]:
    return partial(provisioning.set_state, "acme", name, moved_to=moved_to)  # type: ignore[arg-type]


def without(module: str, code: str, path: str) -> Switch:
    """Switch one module off."""
    return Switch(
        partial(provisioning.set_modules, "acme", MODULES - {module}),
        partial(provisioning.set_modules, "acme", MODULES),
        404,
        code,
        (path, f"{path}/1"),
        ends_tokens=False,
    )


RESUMED = state("active")
SWITCHES = {
    "suspended": Switch(state("suspended"), RESUMED, 402, "tenant_suspended"),
    "cancelled": Switch(state("cancelled"), RESUMED, 402, "tenant_cancelled"),
    "moved": Switch(state("moved", MOVED_TO), RESUMED, 410, "tenant_moved", says=MOVED_TO),
    "without webhooks": Switch(
        partial(provisioning.set_plan, "acme", "essentials"),
        partial(provisioning.set_plan, "acme", "enterprise"),
        402,
        "feature_not_in_plan",
        ("/webhooks",),
        error={"feature": WEBHOOKS},
        ends_tokens=False,
    ),
    "without transfer orders": without(
        "transfer_orders", "transfer_orders_disabled", "/transfer-orders"
    ),
    "without imports": without("bulk_import", "bulk_import_disabled", "/imports"),
    "without waves": without("waves", "not_found", "/waves"),
}
EACH = pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)


class Clock:
    """The clock of what this environment remembers of tenants."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Time that passes for the directory of this environment when the test says so."""
    clock = Clock()
    monkeypatch.setattr(directory, "_clock", clock)
    directory.forget()
    yield clock
    directory.forget()


@pytest.fixture
def credentials(stack: Stack) -> Credentials:
    """Acme's client."""
    assert stack
    return create_client("acme", "ERP")


def ask_for_token(stack: Stack, credentials: Credentials) -> Response:
    form = {"grant_type": "client_credentials", **credentials._asdict()}
    return stack.gateway.request(
        "POST",
        "/v1/oauth/token",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=urlencode(form),
    )


def assert_refused(answer: Response, switch: Switch) -> None:
    assert (answer.status, answer.code) == (switch.status, switch.code), answer.text
    body = answer.json()
    assert body["errors"] == []
    assert body["message"] == body["error"]["message"]
    assert switch.says in body["message"]
    for name, value in switch.error.items():
        assert body["error"][name] == value
    if switch.code == "feature_not_in_plan":
        assert body["error"]["upgrade_url"] == config().upgrade_url


@EACH
def test_it_takes_effect_within_ten_seconds_and_ends_so(
    stack: Stack, credentials: Credentials, remembered: Clock, switch: Switch
) -> None:
    erp = stack.erp(client=credentials.client_id)
    before = [erp.get(path).status for path in switch.paths]
    assert ask_for_token(stack, credentials).status == 200

    switch.do()
    remembered.now += 9.9
    assert [erp.get(path).status for path in switch.paths] == before, "what is kept may still hold"
    remembered.now += 0.1
    for path in switch.paths:
        assert_refused(erp.get(path), switch)
    token = ask_for_token(stack, credentials)
    if switch.ends_tokens:
        assert_refused(token, switch)
    else:
        assert token.status == 200
    assert stack.erp("beta").get(switch.paths[0]).status == 200

    switch.undo()
    remembered.now += 10
    assert [erp.get(path).status for path in switch.paths] == before
    assert ask_for_token(stack, credentials).status == 200


@EACH
def test_an_environment_that_begins_knows_it_at_once(
    stack: Stack, credentials: Credentials, switch: Switch
) -> None:
    erp = stack.erp(client=credentials.client_id)
    switch.do()
    directory.forget()
    for path in switch.paths:
        assert_refused(erp.get(path), switch)
    assert_refused(erp.send("POST", switch.paths[0], raw="{", key="k"), switch)


def test_a_wrong_secret_is_not_told_in_which_state_the_tenant_is(
    stack: Stack, credentials: Credentials
) -> None:
    provisioning.set_state("acme", "suspended")
    directory.forget()
    answer = ask_for_token(stack, credentials._replace(client_secret="sws_no"))
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")


def test_limited_tokens_and_users_are_told_the_same(stack: Stack) -> None:
    provisioning.set_state("acme", "moved", moved_to=MOVED_TO)
    directory.forget()
    for claims in ({}, {"kind": "mobile"}, {"second_factor": False}):
        user = Erp(stack.gateway, stack.user_token(**claims))
        assert_refused(user.get("/products"), SWITCHES["moved"])
