"""Commands that end access or remove something ask before; repeated, they change nothing."""

from collections.abc import Callable
from typing import Any

import click
import pytest

from cli.main import main
from operations.api_clients import create_client
from tests.cases import each_case
from tests.integration.cli.command_line import as_json, refused, run
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.integration.user_grants.oauth_requests import create_example_user, enable_two_step
from tests.integration.write_webhooks import subscribe
from tests.stack import ADDRESS, STACK_ID, clear_caches_except_clients

_MOVED_TO = "https://wms.acme.example/api/v1"

_ASKING = {
    "tenant suspend acme": "changes from active to suspended",
    "tenant suspend acme --for-move": "402 tenant_suspended with Retry-After to its",
    "tenant cancel acme": "answer 402 tenant_cancelled to its 2 integration clients",
    f"tenant move acme --to {_MOVED_TO}": f"410 tenant_moved and the address {_MOVED_TO}",
    "tenant plan acme essentials": "webhooks.enabled is not included",
    "tenant modules acme --off waves": "switches off waves",
    f"tenant address acme --host {HOST}": f"changes from {ADDRESS} to https://{HOST}/api/v1",
    f"domain add acme {HOST} --certificate-arn {CERTIFICATE}": f"to https://{HOST}/api/v1",
    f"domain remove {HOST}": f"removes the host {HOST} of the tenant acme",
    "client change CLIENT --scope stocks:read": "(Shop) of acme loses the scopes products:read",
    "client rotate CLIENT --now": "its previous secrets and all its tokens stop working",
    "client revoke CLIENT": "The integration client CLIENT (Shop) of acme is revoked for good",
    "user roles acme anna --role Packers": (
        "change from Role of anna to Packers: gets the permissions exits.manage, loses "
        "entries.manage"
    ),
    "user disable acme anna": "sign-ins are refused",
    "user reset-password acme anna": "gets a new password",
    "user remove-second-factor acme anna": "can sign in with the password alone",
    "user delete acme anna": "The user anna (Anna) of acme is deleted",
    "role change acme Packers --no-permissions": "loses exits.manage. 0 users have the role",
    "role delete acme Packers": "the role Packers of acme with the permissions exits.manage",
    "key retire KEY --now": "clients and users of all tenants have to request new ones",
    "tenant delete beta": "deletes the tenant beta (cancelled) permanently",
}
"""Command → a part of what it says before it asks."""

_SILENT = {
    "tenant create", "tenant list", "tenant show", "tenant resume", "tenant limit",
    "tenant settings", "tenant export", "domain list", "client create", "client list",
    "client show", "user create", "user list", "user show", "user enable", "user unlock",
    "role create", "role list", "audit", "key list", "key rotate", "events relay", "tenant upgrade",
    "queues redrive", "smoke", "tenant import", "tenant restore", "verify",
}  # fmt: skip
"""Commands that ask nothing: they read, add, give access back, or set a value that was typed.
`smoke` works in a tenant of its own, and `verify --repair` writes what other data says.
`tenant upgrade` asks only about a table of an earlier version (`tests/integration/upgrade`).
`tenant restore` needs a moment that can be restored (`test_restore.py`)."""


_prepared: list[tuple[Callable[[], None], dict[str, str]]] = []
"""Restores the tables and keys that the first test of the process prepared; the ids."""


@pytest.fixture
def command(company: Company, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Return the words of a command, with the ids of the example client and key.

    Before each command, tables and keys are as prepared.
    """
    if not _prepared:
        ids = _prepare()
        _prepared.append((company.stack.take_snapshot(), ids))
    restore, ids = _prepared[0]

    def prepared(text: str) -> list[str]:
        restore()
        monkeypatch.setenv("STACK_ID", STACK_ID)  # the owner of the tables; a command sets another
        clear_caches_except_clients()
        return [ids.get(word, word) for word in text.split()]

    return prepared


def _prepare() -> dict[str, str]:
    """Create a user, a role, a client and a key, and cancel beta; return the ids."""
    anna = create_example_user("anna", permissions=["entries.manage"])
    enable_two_step(anna)
    run("role", "create", "acme", "Packers", "--permission", "exits.manage")
    run("key", "rotate")
    ids = {
        "CLIENT": create_client("acme", "Shop", ["products:read"]).client_id,
        "KEY": as_json("key", "list")[0]["kid"],
    }
    assert run("tenant", "cancel", "beta", "--yes").exit_code == 0
    return ids


def _stored(company: Company) -> tuple[Any, Any]:
    """Return all items of the tenant's table and of the control table."""
    control = sorted(company.stack.control_items(), key=lambda item: str(item["pk"]["S"]))
    return company.stack.items(), control


def _every_command() -> set[str]:
    found = set()
    for name, group in main.commands.items():
        inner = group.commands if isinstance(group, click.Group) else {"": group}
        found |= {f"{name} {each}".strip() for each in inner}
    return found


def test_every_command_asks_or_is_known_to_ask_nothing() -> None:
    asking = {" ".join(text.split()[:2]) for text in _ASKING}
    assert not asking & _SILENT
    assert asking | _SILENT == _every_command()


@each_case(("text", "said"), _ASKING.items())
def test_command_without_a_terminal_needs_the_option_yes(
    text: str, said: str, company: Company, command: Callable[[str], list[str]]
) -> None:
    words = command(text)
    said = " ".join(command(said))
    before = _stored(company)

    error = refused(*words, code=2)
    assert said in error
    assert "Nothing was changed" in error
    assert "--yes" in error
    assert _stored(company) == before

    done = run(*words, "--yes")
    assert done.exit_code == 0, done.stderr
    assert said in done.stderr
    assert _stored(company) != before


@pytest.mark.usefixtures("terminal")
@each_case("text", _ASKING)
def test_command_that_is_not_confirmed_changes_nothing(
    text: str, company: Company, command: Callable[[str], list[str]]
) -> None:
    words = command(text)
    before = _stored(company)
    assert "othing was changed." in refused(*words, typed="n\n")
    assert _stored(company) == before


@each_case(
    ("text", "said"),
    [
        ("role change acme Packers --no-permissions --name Clerks", "name: is already taken"),
        (f"role change acme Packers --no-permissions --name {'x' * 101}", "name: must have at"),
        (f"client change CLIENT --scope stocks:read --name {'x' * 201}", "name: must have at most"),
    ],
)
def test_command_with_an_invalid_name_asks_nothing(
    text: str, said: str, command: Callable[[str], list[str]]
) -> None:
    words = command(text)
    assert run("role", "create", "acme", "Clerks").exit_code == 0
    for error in (refused(*words), refused(*words, "--yes")):
        assert said in error
        assert "loses" not in error


@pytest.mark.usefixtures("terminal")
def test_confirmed_command_is_run(command: Callable[[str], list[str]]) -> None:
    done = run(*command("tenant suspend acme"), typed="y\n")
    assert done.exit_code == 0
    assert "Continue? [y/N]" in done.stderr
    assert as_json("tenant", "show", "acme")["state"] == "suspended"


@each_case(
    "text",
    [
        "tenant resume acme", "tenant plan acme enterprise", "tenant modules acme --on waves",
        f"tenant address acme --base-url {ADDRESS}", "user roles acme anna",
        "user enable acme anna",
        "role change acme Packers --description Packs.",
        "role change acme Packers --permission exits.manage --permission imports.run",
    ],
)  # fmt: skip
def test_command_that_takes_nothing_away_asks_nothing(
    text: str, command: Callable[[str], list[str]]
) -> None:
    done = run(*command(text))
    assert done.exit_code == 0, done.stderr


@each_case(
    "text",
    [
        f"tenant create gamma --plan professional --module waves --base-url {ADDRESS}",
        "tenant list",
        "tenant show acme",
        "tenant suspend acme --yes",
        "tenant resume acme",
        "tenant cancel acme --yes",
        f"tenant move acme --to {_MOVED_TO} --yes",
        "tenant plan acme professional --yes",
        "tenant limit acme --requests-per-minute 500",
        "tenant limit acme --plan",
        "tenant modules acme --off waves --yes",
        "tenant settings acme --receipt-tolerance 5 --commit-drops",
        f"tenant address acme --host {HOST} --yes",
        f"tenant address acme --base-url {ADDRESS} --yes",
        f"domain add acme wms2.acme.test --certificate-arn {CERTIFICATE} --yes",
        "domain list",
    ],
)
def test_second_run_of_a_command_for_tenants_changes_nothing(
    text: str, company: Company, command: Callable[[str], list[str]]
) -> None:
    words = command(text)
    first = as_json(*words)
    stored = _stored(company)
    assert as_json(*words) == first
    assert _stored(company) == stored
    assert company.remains()


def test_rotation_asks_if_it_ends_the_older_of_two_secrets(
    command: Callable[[str], list[str]],
) -> None:
    rotate = command("client rotate CLIENT")
    assert run(*rotate).exit_code == 0
    assert "the older of its two secrets stops working" in refused(*rotate, code=2)
    assert run(*rotate, "--yes").exit_code == 0


def test_question_names_the_subscriptions_that_continue(company: Company) -> None:
    made = create_client("acme", "Shop")
    number = subscribe(company.stack.erp(client=made.client_id))
    asked = run("client", "revoke", made.client_id)
    assert f"Affected webhook subscriptions continue to send events: {number}." in asked.stderr
    asked = run("client", "revoke", made.client_id, "--deactivate-webhooks")
    assert f"Affected webhook subscriptions are deactivated: {number}." in asked.stderr
