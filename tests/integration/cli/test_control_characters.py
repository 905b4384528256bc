"""Nothing that callers have stored can control the operator's terminal."""

import json
import unicodedata
from typing import Any

import pytest

from operations.operator_identity import run_as_operator
from shared.identity.audit import service as audit
from shared.identity.audit.models import Actor
from shared.identity.auth.clients import OAuthClient, client_to_item
from shared.identity.tenancy.directory import tenant_key
from shared.identity.users.models import StoredRole
from shared.identity.users.repository import ROLES, USERS
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from tests.cases import each_case
from tests.integration.cli.command_line import Run

_AT = "2026-03-01T09:30:00.000Z"
_CONTROLS = "\x1b]0;\x07\x1b[2J\x9b31m\x7f\r\n\x08\u202e\u2066\u200f\u2028\x85"
HOSTILE = f"Evil{_CONTROLS}Name"
_CLIENT = "stw_acme_0123456789abcdef01234567"

_LISTINGS = (
    "tenant list", "tenant show acme", "tenant settings acme", "tenant limit acme",
    "tenant modules acme", "domain list", "domain list acme", "client list acme",
    f"client show {_CLIENT}", "user list acme", "user show acme eve", "role list acme",
    "audit acme", "key list",
)  # fmt: skip


@pytest.fixture
def hostile(stowage: Run) -> Run:
    """The command line, for a tenant whose stored texts contain control characters."""
    stowage("tenant", "create", "acme", "--host", "wms.acme.example")
    dynamodb, table = client("dynamodb"), config().control_table
    dynamodb.update_item(
        TableName=table, Key={"pk": {"S": tenant_key("acme")}},
        UpdateExpression="SET base_url = :text, #zone = :text",
        ExpressionAttributeNames={"#zone": "timezone"},
        ExpressionAttributeValues={":text": {"S": HOSTILE}},
    )  # fmt: skip
    for name in (HOSTILE, "wms.acme.example"):
        dynamodb.update_item(
            TableName=table, Key={"pk": {"S": f"HOST#{name}"}},
            UpdateExpression="SET tenant = :slug, certificate = :text, target = :text",
            ExpressionAttributeValues={":slug": {"S": "acme"}, ":text": {"S": HOSTILE}},
        )  # fmt: skip
    made = OAuthClient(
        _CLIENT, "acme", "integration", HOSTILE, frozenset({"products:read"}), active=True,
        secrets=(), created_at=_AT, updated_at=_AT,
    )  # fmt: skip
    dynamodb.put_item(TableName=table, Item=client_to_item(made))
    stowage("user", "create", "acme", "eve", "--name", "Eve")
    run_as_operator("acme", _add_people)
    return stowage


def _add_people(tx: Transaction) -> None:
    role: dict[str, Any] = {
        "id": 1, "name": "Eve", "description": HOSTILE, "permissions": [], "created_at": _AT,
        "updated_at": _AT,
    }  # fmt: skip
    ROLES.insert(tx, 1, StoredRole.model_validate(role))
    ROLES.insert(tx, 2, StoredRole.model_validate(role | {"id": 2, "name": HOSTILE}))
    user = USERS.get(tx.store, 1)
    USERS.update(tx, user, {"name": HOSTILE, "email": HOSTILE, "roles": [2]})
    audit.record(
        tx, "client.changed", "client", HOSTILE, changes={"url": (HOSTILE, [HOSTILE])},
        details={"file": HOSTILE}, reason=HOSTILE,
        actor=Actor(type="user", id="1", name=HOSTILE),
    )  # fmt: skip


def controls(text: str) -> set[str]:
    """Return the control characters of a text except line feeds."""
    return {
        char for char in text
        if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}
    }  # fmt: skip


@each_case("listing", _LISTINGS)
def test_listings_print_no_control_characters(listing: str, hostile: Run) -> None:
    shown = hostile(*listing.split())
    assert shown.exit_code == 0, shown.output
    assert controls(shown.stdout + shown.stderr) == set()
    if listing not in {"key list", "tenant limit acme"}:
        assert "Evil" in shown.stdout, "the text is shown"

    exact = hostile("--json", *listing.split())
    assert controls(exact.stdout + exact.stderr) == set()
    if "Evil" in exact.stdout:
        assert json.dumps(HOSTILE) in json.dumps(json.loads(exact.stdout)), "JSON stays exact"


def test_a_text_with_line_feeds_makes_no_second_row(hostile: Run) -> None:
    lines = hostile("client", "list", "acme").stdout.splitlines()
    assert len(lines) == 2, "the header and one client"


@each_case(
    "arguments",
    [
        ("tenant", "show", HOSTILE), ("tenant", HOSTILE), (HOSTILE,), ("--no\x1bsuch",),
        ("user", "show", "acme", HOSTILE), ("client", "show", HOSTILE),
        ("key", "retire", HOSTILE), ("tenant", "plan", "acme", HOSTILE),
        ("domain", "remove", HOSTILE), ("domain", "list", HOSTILE),
        ("tenant", "settings", "acme", "--timezone", HOSTILE), ("role", "delete", "acme", HOSTILE),
        ("tenant", "settings", "acme", "--receipt-tolerance", HOSTILE),
        ("user", "delete", "acme", "eve"), ("audit", "acme", "--since", HOSTILE),
        ("tenant", "delete", HOSTILE), ("tenant", "export", "acme", "--to", f"/proc/{HOSTILE}"),
    ],
)  # fmt: skip
def test_errors_and_questions_print_no_control_characters(
    arguments: tuple[str, ...], hostile: Run
) -> None:
    shown = hostile(*arguments)
    assert shown.exit_code != 0
    assert shown.stderr
    assert controls(shown.stdout + shown.stderr) == set()
