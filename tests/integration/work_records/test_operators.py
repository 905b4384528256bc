"""The operator of work: a user of the company, with name, and who acts when none is named."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.gateway import Erp
from tests.integration.transfers import bodies as transfers
from tests.people import PICKER, PICKER_NAME, add_user
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario

_NAMED = {"id": PICKER, "name": PICKER_NAME}
_BO, _EVA = {"id": 31, "name": "Bo Lind"}, {"id": 32, "name": "Eva Ruiz"}
_MANAGES = "entries.manage exits.manage inventory.manage transfer-orders.manage"


@pytest.fixture
def scenario(erp: Erp) -> TransferScenario:
    """Two warehouses with bricks at A-01 of YARD, and two users beside the picker."""
    scenario = TransferScenario(erp)
    scenario.yard.stock("BRICK", 20)
    for user in (_BO, _EVA):
        add_user(int(str(user["id"])), str(user["name"]))
    return scenario


def _user(stack: Stack, user: Mapping[str, Any]) -> Erp:
    return Erp(stack.gateway, stack.user_token(sub=str(user["id"]), permissions=_MANAGES))


def _receipt(scenario: TransferScenario) -> tuple[str, dict[str, Any]]:
    document = ReceivingScenario(scenario.erp, scenario.yard).order({"qty": 5})
    return "/receipts", {"document_id": document}


def _picking(scenario: TransferScenario) -> tuple[str, dict[str, Any]]:
    return "/pickings", {"document_id": scenario.yard.order(("BRICK", 1))}


def _transfer(_scenario: TransferScenario) -> tuple[str, dict[str, Any]]:
    return transfers.PATH, transfers.body(execute=False)


type _Draft = Callable[[TransferScenario], tuple[str, dict[str, Any]]]
_WORK: Mapping[str, tuple[_Draft, str]] = {
    "receipt": (_receipt, "start"),
    "picking": (_picking, "start"),
    "transfer": (_transfer, "execute"),
}
"""Path and body that create work, and the action that starts it."""
each_work = pytest.mark.parametrize(("draft", "act"), _WORK.values(), ids=_WORK)


@each_work
def test_named_operator_has_a_name_and_stays(
    scenario: TransferScenario, stack: Stack, draft: _Draft, act: str
) -> None:
    path, body = draft(scenario)
    created = scenario.erp.post(path, {**body, "operator_id": PICKER})
    started = _user(stack, _BO).post(f"{path}/{created.data['id']}/{act}")
    assert (created.status, started.status) == (201, 200), started.text
    assert created.data["operator"] == started.data["operator"] == _NAMED
    assert scenario.erp.get(path).data[0]["operator"] == _NAMED


@each_work
def test_acting_user_is_the_operator_when_none_is_named(
    scenario: TransferScenario, stack: Stack, draft: _Draft, act: str
) -> None:
    path, body = draft(scenario)
    bo, eva = _user(stack, _BO), _user(stack, _EVA)
    created = bo.post(path, body).data
    assert created["operator"] == _BO
    assert eva.post(f"{path}/{created['id']}/{act}").data["operator"] == _EVA
    path, body = draft(scenario)
    created = scenario.erp.post(path, body).data
    assert created["operator"] is None
    assert bo.post(f"{path}/{created['id']}/{act}").data["operator"] == _BO


@each_work
def test_integration_client_is_no_operator(
    scenario: TransferScenario, draft: _Draft, act: str
) -> None:
    path, body = draft(scenario)
    number = scenario.erp.post(path, body).data["id"]
    assert scenario.erp.post(f"{path}/{number}/{act}").data["operator"] is None


def test_user_who_receives_or_picks_becomes_the_operator(
    scenario: TransferScenario, stack: Stack
) -> None:
    bo, eva = _user(stack, _BO), _user(stack, _EVA)
    goods = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
    for draft, what in ((_receipt, "lines"), (_picking, "picks")):
        path, body = draft(scenario)
        if what == "picks":
            body = {"document_id": scenario.yard.order(("BRICK", 2))}
        address = f"{path}/{scenario.erp.post(path, body).data['id']}"
        assert scenario.erp.post(f"{address}/start").data["operator"] is None
        assert bo.post(f"{address}/{what}", goods).data["operator"] == _BO
        assert eva.post(f"{address}/{what}", goods).data["operator"] == _BO


def test_first_pick_of_a_transfer_order_makes_the_user_the_operator(
    scenario: TransferScenario, stack: Stack
) -> None:
    bo, eva = _user(stack, _BO), _user(stack, _EVA)
    number = scenario.draft(("BRICK", 2)).data["id"]
    picking = bo.post(f"/transfer-orders/{number}/release").data["picking_id"]
    assert scenario.erp.get(f"/pickings/{picking}").data["operator"] == _BO
    goods = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
    assert eva.post(f"/transfer-orders/{number}/picks", goods).status == 200
    assert scenario.erp.get(f"/pickings/{picking}").data["operator"] == _EVA


def test_id_of_no_user_is_refused_on_its_field(scenario: TransferScenario) -> None:
    for draft, _ in _WORK.values():
        path, body = draft(scenario)
        refused = scenario.erp.post(path, {**body, "operator_id": 4711})
        assert (refused.status, refused.json()["error"]["field"]) == (422, "operator_id")
    draft_id = scenario.draft(("BRICK", 1)).data["id"]
    for refused in (
        scenario.draft(("BRICK", 1), release=True, picker_id=4711),
        scenario.draft(("BRICK", 1), picker_id=4711),
        scenario.act(draft_id, "release", picker_id=4711),
    ):
        assert (refused.status, refused.json()["error"]["field"]) == (422, "picker_id")
    assert "no user has the id 4711" in refused.json()["message"]
