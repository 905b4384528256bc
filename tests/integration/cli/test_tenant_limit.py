"""The command `stowage tenant limit`."""

from typing import Any

import pytest

from tests.integration.cli.command_line import as_json, deploy_stack, run
from tests.stack import Stack


@pytest.fixture(autouse=True)
def deployed(stack: Stack) -> None:
    """Deploy a stack that the command line finds, with the tenant mini."""
    assert stack
    deploy_stack()
    assert run("tenant", "create", "mini").exit_code == 0


def limit(*arguments: str) -> Any:
    """Run `stowage tenant limit mini`, and return its JSON output."""
    return as_json("tenant", "limit", "mini", *arguments)


def test_agreed_limit_stays_until_the_limit_of_the_plan_is_restored() -> None:
    of_plan = {
        "tenant": "mini",
        "plan": "essentials",
        "requests_per_minute": 120,
        "total_requests_per_minute": 600,
        "agreed": False,
    }
    agreed = of_plan | {
        "requests_per_minute": 2_000,
        "total_requests_per_minute": 10_000,
        "agreed": True,
    }
    assert limit() == of_plan
    for _ in range(2):
        assert limit("--requests-per-minute", "2000") == agreed
    assert run("tenant", "plan", "mini", "professional").exit_code == 0
    assert limit() == agreed | {"plan": "professional"}
    for _ in range(2):
        assert limit("--plan") == of_plan | {
            "plan": "professional",
            "requests_per_minute": 300,
            "total_requests_per_minute": 1_500,
        }
