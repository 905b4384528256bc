"""Commands that are refused: the exit code, the reason as text and as JSON, and no change."""

import json
import shlex

import pytest

from tests.cases import each_case
from tests.integration.cli.command_line import refused
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.integration.restore.test_restore import FIRST
from tests.integration.user_grants.oauth_requests import create_example_user
from tests.stack import ADDRESS

_AT = "2026-11-23T02:10:00Z"
_ADD = f"--certificate-arn {CERTIFICATE}"
_REFUSED: dict[tuple[int, str], dict[str, str]] = {
    (1, "not_found"): {
        "tenant show nobody": "The tenant nobody does not exist.",
        "tenant limit nobody --requests-per-minute 5": "The tenant nobody does not exist.",
        "client create nobody --name ERP --scope stocks:read": "The tenant nobody does not exist.",
        "client list nobody": "The tenant nobody does not exist.",
        "audit nobody": "The tenant nobody does not exist.",
        "verify nobody": "The tenant nobody does not exist.",
        "user list nobody": "The tenant nobody does not exist.",
        "domain list nobody": "The tenant nobody does not exist.",
        f"domain add nobody {HOST} {_ADD}": "The tenant nobody does not exist.",
        "client rotate stw_0": "The client stw_0 does not exist.",
        "client revoke stw_0": "The client stw_0 does not exist.",
        "key retire unknown": "The key unknown does not exist.",
        "user show acme nobody": "The user nobody does not exist.",
        "user disable acme nobody": "The user nobody does not exist.",
        "user roles acme anna --role Nothing": "The role Nothing does not exist.",
        "role delete acme Nothing": "The role Nothing does not exist.",
        "role change acme Nothing --name X": "The role Nothing does not exist.",
    },
    (1, "conflict"): {
        f"domain add beta {HOST} {_ADD}": f"The host {HOST} belongs to another tenant",
    },
    (1, "validation_failed"): {
        "tenant create Admin": "slug: must have 3 to 32 lower-case letters",
        "tenant create gamma --timezone Mars": "timezone: there is no time zone",
        "tenant create gamma --host localhost": "host: must be a lower-case host name",
        "tenant move gamma --to wms.acme.test": "moved_to: a move needs",
        "tenant settings nobody --timezone Mars": "timezone: there is no time zone",
        "tenant settings nobody --receipt-tolerance 101": (
            "receipt_tolerance: must be a number from 0 to 100"
        ),
        "tenant limit acme --requests-per-minute 0": (
            "requests_per_minute: must be from 1 to 1000000"
        ),
        "tenant create gamma --base-url https://a.test/api/v1": (
            "base_url: the deployment does not answer at"
        ),
        f"tenant address beta --host {HOST} --yes": f"host: nothing serves {HOST} for beta",
        "tenant address acme --host wms9.acme.test --yes": (
            "host: nothing serves wms9.acme.test for acme; add it first"
        ),
        "tenant address acme --base-url https://a.test/api/v1 --yes": (
            "base_url: the deployment does not answer at"
        ),
        f"tenant address acme --base-url https://{HOST}/api/v1 --yes": (
            "base_url: the deployment does not answer at"
        ),
        f"domain add acme 10.0.0.1 {_ADD}": "host: must be a lower-case host name",
        "domain remove *": "host: must be a lower-case host name",
        "audit acme --since yesterday": "since: must be a date-time with offset",
    },
    (2, "confirmation_required"): {"tenant suspend acme": "The state of the tenant"},
    (2, "wrong_usage"): {
        "nonsense": "No such command 'nonsense'",
        "--nonsense": "No such option: --nonsense",
        "tenant create": "Missing argument 'SLUG'",
        "tenant create -acme": "No such option: -a",
        "tenant create --acme": "No such option: --acme",
        "tenant create gamma --plan free": "Invalid value for '--plan'",
        "tenant limit acme --plan --requests-per-minute 5": "--requests-per-minute cannot be used",
        "tenant restore acme": "Use --at TIME, --to-table TABLE or --cancel.",
        f"tenant restore acme --at {_AT} --cancel": "Use --at TIME, --to-table TABLE or --cancel.",
        f"tenant restore acme --at {_AT} --to-table {FIRST}": "Use --at TIME, --to-table TABLE or",
        f"tenant restore acme --prepare --to-table {FIRST}": "--prepare needs --at TIME.",
        f"tenant import . --host a.test --base-url {ADDRESS}": "--host cannot be used with",
        "tenant import . --requests-per-minute 0": "Invalid value for '--requests-per-minute'",
        "tenant import . --module none --module waves": "--module none cannot be used with",
        "tenant upgrade": "Name tenants, or use --all.",
        "tenant upgrade acme --all": "Name tenants, or use --all.",
        "tenant upgrade --all --expand --contract": "--expand cannot be used with --contract.",
        "tenant upgrade --all --rate 0": "Invalid value for '--rate'",
        "client create acme --name x": "--scope is required",
        "client create acme --name x --scope x": "Invalid value for '--scope': 'x' is not one of",
        "client create acme --name x --mobile --scope stocks:read": "--scope cannot be used",
        "user roles acme anna --no-roles --role Packers": "--role cannot be used with --no-roles.",
        "role change acme X --no-permissions --permission imports.run": "--permission cannot be",
        "audit acme --action client": "Invalid value for '--action': 'client' is not one of",
        "queues redrive orders": (
            "Invalid value for '{imports|webhooks|relay}': 'orders' is not one of 'imports', "
            "'webhooks', 'relay'."
        ),
    },
    (3, "stack_not_found"): {
        "--stack elsewhere tenant list": (
            "There is no stack elsewhere in eu-west-1. Name another stack with --stack "
            "(STOWAGE_STACK), or another Region with --region (STOWAGE_REGION)."
        ),
    },
}
"""Exit code and code of the JSON error → commands, and how their messages begin."""


@pytest.fixture
def company(company: Company) -> Company:
    """The tenant acme with data of every kind, and the user anna."""
    create_example_user()
    return company


@each_case(
    ("exit_code", "code", "command", "message"),
    [
        (*expected, command, message)
        for expected, commands in _REFUSED.items()
        for command, message in commands.items()
    ],
)
def test_refused_command_says_why_and_changes_nothing(
    exit_code: int, code: str, command: str, message: str, company: Company
) -> None:
    stored = company.stack.items(), company.stack.control_items()
    words = shlex.split(command)
    text = refused(*words, code=exit_code)
    assert f"Error: {message}" in text

    shown = json.loads(refused("--json", *words, code=exit_code))
    assert shown.keys() == {"error", "errors"}
    assert shown["error"]["code"] == code
    assert shown["error"]["message"].startswith(message)
    assert len(shown["errors"]) == (code == "validation_failed")
    assert (company.stack.items(), company.stack.control_items()) == stored
