from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.gateway import Erp, Response
from tests.people import PICKER
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack

MORE = {"item_code": "BRICK", "qty": 11}
"""A line of more goods than the order of the scenario has."""


def approval_of(answer: Response) -> int:
    """Return the id of the approval that a refused request got."""
    assert (answer.status, answer.code) == (409, "approval_required"), answer.text
    number: int = answer.json()["error"]["approval_id"]
    return number


@dataclass
class ApprovalScenario:
    """A started receipt of ten bricks, on which an ERP receives eleven, and its supervisor."""

    receiving: ReceivingScenario
    supervisor: Erp
    path: str

    @property
    def erp(self) -> Erp:
        return self.receiving.erp

    def receive(self, body: object = MORE, **more: Any) -> Response:
        """Receive more goods than ordered."""
        return self.erp.post(self.path, body, **more)

    def requested(self) -> int:
        """Return the id of the approval of the request."""
        return approval_of(self.receive())

    def decide(self, number: int, decision: str = "grant", **body: object) -> Response:
        return self.supervisor.post(f"/approvals/{number}/{decision}", body)

    def requested_for(self, qty: float) -> int:
        """Return the id of the approval of another quantity."""
        return approval_of(self.receive({**MORE, "qty": qty}))

    def granted(self) -> int:
        """Return the id of the granted approval of the request."""
        number = self.requested()
        assert self.decide(number).status == 200
        return number

    def shown(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self.erp.get(f"/approvals/{number}").data
        return found

    def statuses(self, **query: object) -> list[tuple[int, str]]:
        """Return id and status of the approvals in the list; its total must be exact."""
        rows = self.erp.walk("/approvals", sort="created_at", **query)
        total = self.erp.get("/approvals", query={**query, "per_page": 1}).json()["meta"]["total"]
        assert total == len(rows)
        return [(row["id"], row["status"]) for row in rows]

    def received(self) -> float:
        """Return the received quantity of the order."""
        return sum(qty for _, _, qty in self.receiving.stock())


@pytest.fixture
def scenario(stack: Stack) -> ApprovalScenario:
    receiving = ReceivingScenario(stack.erp())
    number = receiving.started(receiving.order({"qty": 10}))
    claims = {"permissions": "entries.manage approvals.grant", "sub": str(PICKER)}
    supervisor = Erp(stack.gateway, stack.user_token(**claims))
    return ApprovalScenario(receiving, supervisor, f"/receipts/{number}/lines")


@pytest.fixture
def user(stack: Stack) -> Callable[[str], Erp]:
    """A function that returns a user with permissions."""
    return lambda permissions: Erp(stack.gateway, stack.user_token(permissions=permissions))


@pytest.fixture
def other_client(scenario: ApprovalScenario, stack: Stack) -> Erp:
    """Another integration client of the company."""
    return replace(scenario.erp, token=stack.token(client="other"))
