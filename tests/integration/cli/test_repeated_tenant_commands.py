"""Every command for tenants can be repeated: the second run changes nothing."""

from typing import Any

import pytest

from operations.control_table import scan_items
from tests.integration.cli.command_line import as_json, run
from tests.integration.offboarding.company import CERTIFICATE, HOST, Company
from tests.stack import ADDRESS, Stack

MOVED_TO = "https://wms.acme.example/api/v1"


@pytest.mark.parametrize(
    "command",
    [
        f"tenant create gamma --plan professional --module waves --base-url {ADDRESS}",
        "tenant list",
        "tenant show acme",
        "tenant suspend acme --yes",
        "tenant resume acme",
        "tenant cancel acme --yes",
        f"tenant move acme --to {MOVED_TO} --yes",
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
def test_second_run_of_a_command_changes_nothing(
    stack: Stack, company: Company, command: str
) -> None:
    words = command.split()
    first = as_json(run("--json", *words))
    stored = _stored(stack)
    assert as_json(run("--json", *words)) == first
    assert _stored(stack) == stored
    assert company.remains()


def _stored(stack: Stack) -> tuple[Any, Any]:
    """Return all items of the tenant's table and of the control table."""
    control = sorted(scan_items(""), key=lambda item: str(item["pk"]["S"]))
    return stack.items(), control
