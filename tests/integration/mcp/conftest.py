from typing import Any

import pytest

from tests.agent import Agent
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack

ORDER: dict[str, Any] = {
    "external_ref": "SO-1",
    "doc_date": "2026-03-01",
    "partner_code": "C-1",
    "warehouse_code": "YARD",
    "lines": [{"item_code": "BRICK", "qty": 4}],
}
PLACE: dict[str, Any] = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01"}
LINES: list[dict[str, Any]] = [{"item_code": "BRICK", "qty": 4, "bin_code": "A-01"}]


@pytest.fixture
def scenario(stack: Stack) -> ReceivingScenario:
    """A warehouse YARD with the product BRICK."""
    return ReceivingScenario(stack.erp())


@pytest.fixture
def agent(scenario: ReceivingScenario) -> Agent:
    """An agent with all scopes, whose client cannot ask its user."""
    return Agent(scenario.erp)
