"""Numbers, lists and defaults that the pages quote are those of the code and the template."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAliasType, get_args

import pytest

from functions.oauth.request import MAX_BODY_BYTES
from operations import deletion, signing_keys
from shared.http import rate_limit_leases
from shared.identity.audit.models import AuditAction
from shared.identity.auth import attempt_limits as attempts
from shared.identity.auth import issuance_limits, key_ring, tokens
from shared.identity.auth.scopes import PERMISSIONS
from shared.identity.tenancy import directory, revocations
from shared.identity.tenancy import rules as tenancy
from shared.identity.tenancy.tenant import (
    MODULES,
    PLANS,
    TOTAL_REQUESTS,
    LimitName,
    Settings,
    State,
    Substitution,
    Tenant,
)
from shared.identity.users import passwords, recovery_codes, sessions, totp
from shared.identity.users.models import MAX_ROLES
from shared.integration.imports import context, validation
from shared.integration.imports import service as imports_service
from shared.integration.imports import worker as import_worker
from shared.integration.webhooks import http_client
from shared.integration.webhooks import rules as webhook_rules
from shared.kernel.db import bookmarks, claim, items, steps, transaction
from shared.kernel.db.cursor import MAX_PER_PAGE
from shared.kernel.events import outbox
from shared.warehouse.settings.models import SettingsChange
from shared.warehouse.stock.models import InventoryStatus
from shared.warehouse.transfer_orders.models import OrderStatus
from shared.warehouse.transfers import models as transfers
from shared.warehouse.warehouses import layout_models as layout
from shared.warehouse.waves import models as waves
from shared.warehouse.waves import rules as wave_rules
from shared.warehouse.work_records import WorkStatus
from tests.template import Template

ROOT = Path(__file__).parents[2]
TEMPLATE = Template({})
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60
_WORDS = {1: "one", 3: "three", 5: "five", 10: "ten"}


def page(name: str) -> str:
    """Return a page with single spaces in place of line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def plain(number: object) -> str:
    """Return a number as the pages write it: 100 000."""
    return f"{number:,}".replace(",", " ")


def per_plan(limit: LimitName) -> list[str]:
    return [plain(plan.limits[limit]) for plan in PLANS.values()]


def listed(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _queue(name: str, attribute: str) -> Any:
    return TEMPLATE.resources("AWS::SQS::Queue")[name][attribute]


def _relay(attribute: str) -> int:
    function = TEMPLATE.resources("AWS::Serverless::Function")["EventRelayFunction"]
    (event,) = function["Events"].values()
    seconds: int = event["Properties"][attribute]
    return seconds


def _kept_days(bucket: str) -> int:
    rules = TEMPLATE.resources("AWS::S3::Bucket")[bucket]["LifecycleConfiguration"]["Rules"]
    days: set[int] = {rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    assert len(days) == 1
    return days.pop()


def _result_seconds() -> int:
    (api,) = TEMPLATE.resources("AWS::Serverless::Api").values()
    (authorizer,) = api["Auth"]["Authorizers"].values()
    seconds: int = authorizer["Identity"]["ReauthorizeEvery"]
    return seconds


_SETTINGS = Settings()
_clients = per_plan("integration_clients")
_users = per_plan("users")
_tenants = {
    name: Tenant("acme", "active", name, frozenset(), "https://acme.test") for name in PLANS
}
_totals = [TOTAL_REQUESTS * plan.limits["requests_per_minute"] for plan in PLANS.values()]
_trips = wave_rules._PICKINGS_PER_TRIP

QUOTED: Mapping[str, Sequence[str]] = {
    "docs/limits.md": [
        *(
            f"| {name.capitalize()} | {plain(plan.limits['requests_per_minute'])} |"
            for name, plan in PLANS.items()
        ),
        f"**{_WORDS[TOTAL_REQUESTS]} times** as many requests per minute: "
        + " or ".join(", ".join(map(plain, _totals)).rsplit(", ", 1)),
        f"takes effect within {directory.CACHE_SECONDS:.0f} s",
        f"in advance to {100 * rate_limit_leases.spare_budget(1000) // 1000} % of the limit",
        f"A page can have up to {MAX_PER_PAGE} rows",
    ],
    "docs/settings.md": [
        *(f"`.{name}`" if name != "waves" else f"`modules.{name}`" for name in MODULES),
        (
            f"| `receipt_tolerance` | 0 to {tenancy.MAX_VALUES['receipt_tolerance']}, up to"
            f" {tenancy._DECIMALS} decimals; default {_SETTINGS.receipt_tolerance} |"
        ),
        (
            f"| `pick_substitution` | {listed(get_args(Substitution.__value__))};"
            f" default `{_SETTINGS.pick_substitution}` |"
        ),
        (
            f"0 to {tenancy.MAX_VALUES['minutes_per_unit']}, up to {tenancy._DECIMALS} decimals;"
            f" default {_SETTINGS.minutes_per_unit} and {_SETTINGS.minutes_per_trip} |"
        ),
        f"**within {directory.CACHE_SECONDS:.0f} seconds**",
    ],
    "docs/access.md": [
        f"A token is valid for {_WORDS[tokens.LIFETIME // _HOUR]} hour",
        f"at most {MAX_BODY_BYTES // 1024} kB",
        (
            f"| maximum number | {', '.join(_clients[:-1])} or {_clients[-1]},"
            f" depending on the plan | {PLANS['essentials'].limits['mobile_clients']} |"
        ),
        f"stored for {claim.WINDOW_SECONDS // _HOUR} hours",
        f"A session expires {sessions.LIFETIME // _DAY} days after the last use",
        f"effect **within {directory.CACHE_SECONDS:.0f} seconds** everywhere",
        f"within the next {revocations._COMMIT_ALLOWANCE} s",
        f"has {plain(revocations.SOFT_LIMIT)} entries at the same time",
        f"At {plain(revocations.HARD_LIMIT)} entries, all present tokens",
        *(
            f"| {name.capitalize()} | {plain(issuance_limits.per_minute(one))} |"
            f" {plain(issuance_limits.per_long_window(one))} |"
            for name, one in _tenants.items()
        ),
        (
            f"110 % of it, at least {issuance_limits.LEAST_PER_MINUTE}, and"
            f" {_WORDS[issuance_limits.LONG_WINDOW_MINUTES]} times as much in"
            f" {attempts.LONG_WINDOW // _MINUTE} minutes"
        ),
        f"| client id and IP address | {attempts.PER_CLIENT} | 1 minute |",
        f"| user name and IP address | {attempts.PER_USER} | 1 minute |",
        (
            f"| user name and IP address | {attempts.PER_USER_LONG_WINDOW} |"
            f" {attempts.LONG_WINDOW // _MINUTE} minutes |"
        ),
        (
            f"| user name, over all addresses | {attempts.PER_USER_ALL_ADDRESSES} |"
            f" {attempts.LONG_WINDOW // _MINUTE} minutes |"
        ),
        (
            f"| IP address (IPv6: /64 network) | {attempts.PER_ADDRESS} |"
            f" {attempts.WINDOW // _MINUTE} minute |"
        ),
        f"{_WORDS[attempts.PER_USER]} attempts are checked at a time",
        f"starts to sign {_WORDS[signing_keys._ACTIVATION_DELAY // _MINUTE]} minutes later",
        f"after {_WORDS[key_ring.PUBLISH_LEAD // _MINUTE]} more it signs",
        f"at most once in {key_ring.UNKNOWN_KEY_REREAD:.0f} seconds",
        f"Known keys are cached for {key_ring._CACHE_SECONDS / _MINUTE:.0f} minutes",
    ],
    "docs/users.md": [
        f"A user can have up to {MAX_ROLES} roles",
        *(f"| `{permission}` |" for permission in PERMISSIONS),
        f"A company can have {', '.join(_users[:-1])} or {_users[-1]} users",
        f"A password has {passwords.MIN_LENGTH} to {passwords.MAX_LENGTH} characters",
        f"({passwords._MEMORY_KIB // 1024} MiB, {passwords._PASSES} passes)",
        f"{_WORDS[recovery_codes.COUNT]} recovery codes",
        f"six digits, {totp.PERIOD} seconds",
        f"from {totp.PERIOD * totp._DRIFT} seconds before its period",
        f"Within {directory.CACHE_SECONDS:.0f} seconds:",
    ],
    "docs/webhooks.md": [
        f"up to {_WORDS[webhook_rules._MAX_OLD_SECRETS]} previous secrets",
        f"its last {webhook_rules._MAX_LOGGED_ATTEMPTS} attempts",
        f"or {http_client._MAX_BODY // 1024} kB; see the two queues",
        (
            f"After {_relay('MaximumRetryAttempts')} retries or"
            f" {_relay('MaximumRecordAgeInSeconds') // _HOUR} hours the batch is discarded"
        ),
        f"the message after {_queue('WebhookQueue', 'VisibilityTimeout') // _MINUTE} minutes",
        f"fails {_queue('WebhookQueue', 'RedrivePolicy')['maxReceiveCount']} times",
    ],
    "examples/webhooks/README.md": [
        f"A body has at most {outbox._MAX_BODY // 1000} kB",
        f"must not exceed {http_client._MAX_BODY // 1024} kB",
        f"at most {_WORDS[http_client._MAX_RETRY_AFTER // _DAY]} day",
        f"each up to {100 * webhook_rules._JITTER:.0f} % later",
        f"After {_WORDS[webhook_rules.MAX_FAILURES]} consecutive failed deliveries",
    ],
    "docs/imports.md": [
        f"workers fail {_WORDS[import_worker.MAX_ATTEMPTS]} times at the same point",
        f"rules need for {plain(validation._CHUNK_ROWS)} rows at a time",
        f"makes the worker resume after {context.LEASE_MS // 1000} s",
        f"delivered after {import_worker._LEASE_SECONDS} s",
        f"again after {_queue('ImportQueue', 'VisibilityTimeout') // _MINUTE} minutes",
        f"| retention of files and reports | {_kept_days('ImportBucket')} days |",
    ],
    "docs/map.md": [
        (
            f"| zones · aisles · bays · points | {layout.MAX_ZONES} · {layout.MAX_AISLES} ·"
            f" {layout.MAX_BAYS} · {layout.MAX_POINTS} |"
        ),
        f"| 3 to {layout.MAX_CORNERS} · {layout.MAX_CORNERS_IN_ALL} |",
        f"| levels of a bay | {layout.MAX_LEVELS} |",
        f"more than 0, at most {plain(layout._MAX_LENGTH_M)} m |",
        f"| `rotation` | 0 to {layout._FULL_TURN} |",
    ],
    "docs/warehouse-operations.md": [
        f"at most {transfers.MAX_LINES} lines within a warehouse, 8 lines between two",
        f"one line of {transfers.MAX_SERIALS} serials",
        f"A wave has up to {waves.MAX_PICKINGS} pickings",
        f"| `max_orders` | it is among this number of pickings; {waves.MAX_PICKINGS} unless",
        f"| `cluster`, `pick_and_pass` | one per {_trips['cluster']} pickings",
        f"| `batch`, `zone` | one per {_trips['batch']} pickings",
        f"with at most {steps.STEP_ACTIONS} of its {transaction.MAX_ACTIONS} actions",
        *(f"`{strategy}`" for strategy in get_args(waves.Strategy.__value__)),
        *(status for status in get_args(InventoryStatus.__value__)),
    ],
    "docs/deploy.md": [
        (
            f"after {_relay('MaximumRetryAttempts')} retries or"
            f" {_relay('MaximumRecordAgeInSeconds') // _HOUR} hours"
        ),
        (
            f"Processing a message failed"
            f" {_queue('WebhookQueue', 'RedrivePolicy')['maxReceiveCount']} times"
        ),
    ],
    "docs/operating.md": [
        *(f"| `{state}` |" for state in (*get_args(State.__value__), *directory.HIDDEN_STATES)),
        f"It waits {deletion.DRAIN_SECONDS:.0f} s",
        f"({directory.CACHE_SECONDS:.0f} s of cache, {deletion._LONGEST_INVOCATION_SECONDS} s of",
        f"upload forms are valid for {imports_service.FORM_SECONDS // _MINUTE} minutes",
    ],
    "docs/storage.md": [
        f"compressed from {items._COMPRESS_FROM // 1024} KB on",
        f"counting pages up; expires after {bookmarks._LIFETIME_MS // 60_000} min",
        f"until it expires after {bookmarks._SNAPSHOT_EXPIRY_MS // 3_600_000} h",
        f"Taken within {bookmarks.LAG_MS // 1000} s of a change",
        f"it is relayed: {outbox._RETENTION_SECONDS // _DAY} days later",
        f"(up to {outbox._MAX_ATTRIBUTES // 1000} kB)",
    ],
    "docs/architecture.md": [
        f"keeps the result for {_WORDS[_result_seconds() // _MINUTE]} minutes",
        f"delayed the commit for more than {_WORDS[transaction._STALE_MS // 1000]} seconds",
    ],
}
"""Page → what it must say."""


@pytest.mark.parametrize(
    ("name", "quoted"), [(name, one) for name, quoted in QUOTED.items() for one in sorted(quoted)]
)
def test_page_quotes_the_code(name: str, quoted: str) -> None:
    assert quoted in page(name)


# Lists: the page has each entry, and no other


def _column(name: str, header: str) -> list[str]:
    """Return what is in backticks in the first column of the table with a header."""
    text = (ROOT / name).read_text(encoding="utf-8")
    table = text.partition(header + "\n")[2].partition("\n\n")[0]
    return [
        part
        for row in table.splitlines()[1:]
        for part in re.findall(r"`([^`]+)`", row.split("|")[1])
    ]


def test_page_lists_the_actions_of_the_audit_log() -> None:
    found = list[str]()
    for action in _column("docs/settings.md", "| Actions | Target |"):
        subject = found[-1].partition(".")[0] if action.startswith(".") else ""
        found.append(subject + action)

    assert sorted(found) == sorted(get_args(AuditAction.__value__))


def test_page_lists_the_permissions_of_roles() -> None:
    assert _column("docs/users.md", "| Permission | What it covers |") == list(PERMISSIONS)


def test_page_lists_the_states_of_a_tenant() -> None:
    header = "| State | API requests | Token requests | Webhooks, imports | Data |"
    states = {*get_args(State.__value__), *directory.HIDDEN_STATES}
    assert set(_column("docs/operating.md", header)) == states


def test_page_lists_the_strategies_of_waves() -> None:
    names = _column("docs/warehouse-operations.md", "| Strategy | Trips |")
    assert sorted(names) == sorted(get_args(waves.Strategy.__value__))


def test_page_lists_the_parameters_of_the_template_with_their_defaults() -> None:
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    table = text.partition("| Parameter | Default | Meaning |\n")[2].partition("\n\n")[0]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:3]] for line in table.splitlines()[1:]]

    declared = TEMPLATE._document["Parameters"].items()
    assert dict(rows) == {
        name: str(parameter["Default"]) or "empty" for name, parameter in declared
    }


def test_page_lists_what_the_settings_route_changes() -> None:
    names = _column("docs/settings.md", "| Field | Values | Meaning |")
    fields = {"modules" if "." in name else name for name in names}
    assert fields == set(SettingsChange.model_fields)


@pytest.mark.parametrize(
    ("heading", "statuses"),
    [
        ("Receipts", WorkStatus),
        ("Pickings", WorkStatus),
        ("Transfers", transfers.TransferStatus),
        ("Transfer orders", OrderStatus),
        ("Waves", waves.WaveStatus),
    ],
)
def test_state_diagrams_have_the_statuses_of_the_code(
    heading: str, statuses: TypeAliasType
) -> None:
    text = (ROOT / "docs/warehouse-operations.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("```\n")[0]
    moves = re.findall(r"^ +(\S+) --> (\w+|\[\*\])", section, re.MULTILINE)

    assert {state for move in moves for state in move} - {"[*]"} == set(
        get_args(statuses.__value__)
    )
