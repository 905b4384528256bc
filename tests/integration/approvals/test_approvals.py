"""An approval lets one request pass once: exactly this request, and only until it expires."""

from collections.abc import Callable

import pytest

from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import ApprovalRequired
from shared.warehouse.approvals import service as approvals
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource
from tests.cases import each_case
from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.approvals.conftest import MORE, ApprovalScenario, approval_of
from tests.people import PICKER_NAME
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

_DAY = 24 * 3600


def test_granted_request_passes_once_and_everything_is_recorded(
    scenario: ApprovalScenario, stack: Stack
) -> None:
    number = scenario.requested()
    client_id = "erp"
    pending = scenario.shown(number)
    message = (
        "11 of BRICK would be received, 10 ordered; more than 10 needs the approval of a user with"
        " approvals.grant."
    )
    receipt = int(scenario.path.split("/")[2])
    assert pending == {
        "object": "approval",
        "id": number,
        "status": "pending",
        "code": "over_receipt",
        "message": message,
        "resource": {"object": "receipt", "id": receipt},
        "request": {"method": "POST", "path": scenario.path, "body": MORE},
        "requested_by": {"user_id": None, "client_id": client_id, "name": None},
        "decided_by": None,
        "decided_at": None,
        "comment": None,
        "expires_at": pending["expires_at"],
        "created_at": pending["created_at"],
        "updated_at": pending["created_at"],
        "actions": ["grant", "deny"],
    }

    granted = scenario.decide(number, comment="Goes to the next truck").data
    decided = {
        "status": "granted",
        "decided_by": {"user_id": 7, "name": PICKER_NAME},
        "decided_at": granted["updated_at"],
        "comment": "Goes to the next truck",
        "updated_at": granted["updated_at"],
        "actions": [],
    }
    assert granted == scenario.shown(number) == {**pending, **decided}

    answer = scenario.receive().ok()
    assert answer["approvals"] == [
        {
            "code": "over_receipt", **MORE, "ordered_qty": 10, "allowed_qty": 10,
            "received_qty": 11, "decided_by": decided["decided_by"],
            "decided_at": granted["decided_at"],
        }
    ]  # fmt: skip
    used = scenario.shown(number)
    assert used == {**granted, "status": "used", "updated_at": used["updated_at"]}
    assert scenario.received() == 11
    log = stack.erp().walk("/audit-log", target_type="approval", sort="created_at")
    assert [(entry["action"], entry["actor"]["id"], entry["reason"]) for entry in log] == [
        ("approval.requested", client_id, None),
        ("approval.granted", "7", "Goes to the next truck"),
        ("approval.used", client_id, None),
    ]
    assert {entry["target"]["id"] for entry in log} == {str(number)}
    assert log[0]["details"] == {
        "code": "over_receipt", "resource": pending["resource"], "method": "POST",
        "path": scenario.path,
    }  # fmt: skip
    assert_invariants(stack.store())


def test_repeats_find_the_same_approval_while_it_is_open(scenario: ApprovalScenario) -> None:
    number = scenario.requested()
    assert [scenario.requested() for _ in range(2)] == [number] * 2
    assert scenario.statuses() == [(number, "pending")]


def test_only_the_same_request_passes(
    scenario: ApprovalScenario, other_client: Erp, user: Callable[[str], Erp]
) -> None:
    number = scenario.granted()
    other = scenario.receiving.started(scenario.receiving.order({"qty": 10}))
    for answer in (
        scenario.receive({**MORE, "qty": 12}),
        scenario.receive({**MORE, "unknown": 1}),
        scenario.erp.post(f"/receipts/{other}/lines", MORE),
        other_client.post(scenario.path, MORE),
        user("entries.manage").post(scenario.path, MORE),
    ):
        assert approval_of(answer) != number
    assert scenario.shown(number)["status"] == "granted"

    assert scenario.receive({"qty": 11.0, "item_code": "BRICK"}, key="any").status == 200


def test_work_that_no_request_carries_out_is_refused_without_an_approval(stack: Stack) -> None:
    need = ApprovalNeed("adjustment", "Too many.", ApprovedResource(object="product", id=1), [])

    def use_case(tx: Transaction) -> None:
        assert approvals.reads_ahead(tx) == []
        approvals.require(tx, need)

    with pytest.raises(ApprovalRequired, match="Too many") as refused:
        run_transaction(stack.store(), use_case)
    assert refused.type is ApprovalRequired
    assert stack.items() == []


def test_supervisor_may_grant_an_own_request(scenario: ApprovalScenario) -> None:
    number = approval_of(scenario.supervisor.post(scenario.path, MORE))
    assert scenario.shown(number)["requested_by"] == {
        "user_id": 7, "client_id": None, "name": PICKER_NAME,
    }  # fmt: skip
    assert scenario.decide(number).status == 200
    assert scenario.receive().code == "approval_required", "it is the approval of the user"
    assert scenario.supervisor.post(scenario.path, MORE).status == 200


def test_refusal_is_not_stored_under_the_key_and_the_granted_request_is(
    scenario: ApprovalScenario,
) -> None:
    number = approval_of(scenario.receive(key="one"))
    assert approval_of(scenario.receive(key="one")) == number
    scenario.decide(number)

    first, second = scenario.receive(key="one"), scenario.receive(key="one")
    assert (first.status, first.text) == (200, second.text)
    assert scenario.received() == 11


@pytest.mark.parametrize("ends", ["deny", "use", "expire"])
def test_repeat_of_an_ended_request_makes_a_new_approval(
    scenario: ApprovalScenario, clock: Clock, ends: str
) -> None:
    number = scenario.requested()
    if ends == "deny":
        assert scenario.decide(number, "deny", comment="Send it back").data["status"] == "denied"
    else:
        scenario.decide(number)
    if ends == "use":
        assert scenario.receive().status == 200
    if ends == "expire":
        clock.advance(_DAY)
        assert scenario.receive().status == 409

    later = scenario.requested()
    assert later != number
    assert scenario.shown(later)["status"] == "pending"
    assert scenario.decide(later).status == 200
    assert scenario.receive().status == 200


def test_expiry_shows_at_once_in_filters_and_totals(
    scenario: ApprovalScenario, clock: Clock
) -> None:
    clock.freeze()
    pending = scenario.requested()
    clock.advance(60)
    granted = scenario.requested_for(12)
    scenario.decide(granted)
    clock.advance(60)
    fresh = scenario.requested_for(13)
    everything = [(pending, "pending"), (granted, "granted"), (fresh, "pending")]
    assert scenario.statuses() == everything
    assert scenario.statuses(status="pending") == [everything[0], everything[2]]
    assert scenario.statuses(status="granted") == [everything[1]]
    assert scenario.statuses(status="expired") == []

    clock.advance(_DAY - 120 - 0.001)
    assert scenario.statuses(status="expired") == []
    clock.advance(0.001)
    assert scenario.statuses(status="expired") == [(pending, "expired")]
    assert scenario.statuses(status="pending") == [everything[2]]
    assert scenario.statuses(status="granted") == [everything[1]]
    assert scenario.statuses(status="expired,granted") == [(pending, "expired"), everything[1]]
    assert scenario.statuses(status="pending,used,denied") == [everything[2]]
    assert scenario.statuses(status="granted,denied,pending") == everything[1:]
    days = {"from": "2000-01-01"}
    assert scenario.statuses(status="granted,denied,pending", **days) == everything[1:]
    assert scenario.statuses(status="expired", **days) == [(pending, "expired")]
    clock.advance(60)
    expired = [(pending, "expired"), (granted, "expired")]
    assert scenario.statuses(status="expired") == expired
    assert scenario.statuses(status="granted") == []
    assert scenario.statuses() == [*expired, everything[2]]
    for sort in ("updated_at", "-updated_at", "-created_at"):
        rows = scenario.erp.walk("/approvals", status="expired", sort=sort, per_page=1)
        order = [pending, granted] if sort == "updated_at" else [granted, pending]
        assert [row["id"] for row in rows] == order, sort
    assert scenario.shown(pending)["updated_at"] == scenario.shown(pending)["created_at"]
    scenario.decide(fresh, "deny")
    denied = [(fresh, "denied")]
    assert scenario.statuses(status="expired,denied") == [*expired, *denied]
    assert scenario.statuses(status="granted,denied") == denied
    assert scenario.statuses(status="pending,granted,denied,used") == denied


def test_next_page_continues_the_list_that_the_first_one_has_shown(
    scenario: ApprovalScenario, clock: Clock
) -> None:
    clock.freeze()
    numbers = []
    for qty in (11, 12, 13):
        numbers.append(scenario.requested_for(qty))
        clock.advance(60)
    page = scenario.erp.get(
        "/approvals", query={"status": "pending", "sort": "created_at", "per_page": 1}
    )
    clock.advance(_DAY - 180)  # the first one has expired
    following = scenario.erp.follow(page.json()["links"]["next"])

    assert [row["id"] for row in page.data + following.data] == numbers[:2]
    by_number = {"status": "pending", "sort": "created_at", "per_page": 1, "page": 2}
    assert [row["id"] for row in scenario.erp.get("/approvals", query=by_number).data] == numbers[
        2:
    ]


@each_case(
    ("permissions", "body", "status", "code"),
    [
        ("entries.manage users.manage", {}, 403, "forbidden"),
        ("approvals.grant", {"comment": "x" * 10_000}, 422, "validation_failed"),
        ("approvals.grant", {"comment": 5}, 422, "validation_failed"),
    ],
)
def test_refused_decision_changes_nothing(  # noqa: PLR0917 - the cases of a table
    scenario: ApprovalScenario, user: Callable[[str], Erp],
    permissions: str, body: dict[str, object], status: int, code: str,
) -> None:  # fmt: skip
    number = scenario.requested()
    before = scenario.shown(number)
    for decision in ("grant", "deny"):
        answer = user(permissions).post(f"/approvals/{number}/{decision}", body)
        assert (answer.status, answer.code) == (status, code)
        foreign = scenario.erp.post(f"/approvals/{number}/{decision}", body)
        assert (foreign.status, foreign.code) == (403, "forbidden"), "no client decides"
    assert scenario.shown(number) == before


def test_approval_shows_only_known_fields_of_a_small_body(scenario: ApprovalScenario) -> None:
    body = {**MORE, "qty": 1e3, "password": "hunter2", "batch": None}
    number = approval_of(scenario.receive(body))
    assert scenario.shown(number)["request"]["body"] == {**MORE, "qty": 1000, "batch": None}
    assert '"qty":1000,' in scenario.erp.get(f"/approvals/{number}").text


def test_invalid_request_requires_no_approval(scenario: ApprovalScenario) -> None:
    for body in ({**MORE, "bin_code": "NO-1"}, {**MORE, "batch": 5}):
        assert scenario.receive(body).status == 422
    assert scenario.statuses() == []
