"""The webhook pages for developers and receivers match the code."""

import re
from pathlib import Path
from typing import get_args

from shared.identity.tenancy.tenant import PLANS
from shared.integration.webhooks import rules
from shared.integration.webhooks.models import DEFAULT_OVERLAP_HOURS, DeliveryStatus
from shared.integration.webhooks.repository import MAX_LISTED, RETENTION_DAYS
from shared.kernel.events.kinds import EVENT_KINDS, TEST_EVENT
from tests.template import Template

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
RECEIVERS = (ROOT / "examples" / "webhooks" / "README.md").read_text(encoding="utf-8")
TEMPLATE = Template({})


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without the header."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_event_is_documented() -> None:
    named = [kind for row in rows("Events") for kind in re.findall(r"`([^`]+)`", row[0])]
    assert set(named) == {*EVENT_KINDS, TEST_EVENT}


def test_every_event_is_raised() -> None:
    modules = [path for path in (ROOT / "shared").rglob("*.py") if path.name != "kinds.py"]
    raised = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert [kind for kind in EVENT_KINDS if f'"{kind}"' not in raised] == []


def test_every_delivery_status_is_documented() -> None:
    assert [row[0] for row in rows("Delivery log")] == [
        f"`{status}`" for status in get_args(DeliveryStatus.__value__)
    ]


def test_documented_limits_match_the_code() -> None:
    (subscriptions,) = {plan.limits["webhook_subscriptions"] for plan in PLANS.values()}
    for limit in (
        f"A company may have {subscriptions} subscriptions",
        f"the newest {MAX_LISTED} deliveries, newest first",
        f"kept for {RETENTION_DAYS} days",
        f"deactivated at {rules.MAX_FAILURES}, or when the receiver responds with 410",
        f"last response was fast (at most {rules.SLOW_AFTER_SECONDS} s)",
    ):
        assert limit in " ".join(PAGE.split())
    assert f"For {DEFAULT_OVERLAP_HOURS} hours" in RECEIVERS
    assert f"more than {rules.SLOW_AFTER_SECONDS} seconds" in RECEIVERS


def test_documented_retry_delays_match_the_template() -> None:
    delays = TEMPLATE.text({"Ref": "WebhookRetryDelays"})
    first, *others = [int(seconds) for seconds in delays.split(",")]
    units = [(3600, "h"), (60, "min"), (1, "s")]
    documented = [
        next(f"{seconds // size} {unit}" for size, unit in units if seconds % size == 0)
        for seconds in others
    ]
    assert first == 0
    assert f"after {', '.join(documented[:-1])} and {documented[-1]}" in " ".join(RECEIVERS.split())
