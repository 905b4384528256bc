"""Master data is deleted or renamed while something that names it is created."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.validation import check
from shared.warehouse.counts import service
from shared.warehouse.counts.models import GoodsCount
from shared.warehouse.master_data.uses import REFERENCING_KINDS
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward, Recording, stuck_after
from tests.gateway import Erp, Response
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.sampling import sampled
from tests.stack import Stack

type Send = tuple[str, str, Mapping[str, Any] | None]
"""Method, path and body of a request."""

_LINE = {"item_code": "BRICK", "qty": 1}
_DOCUMENT = {"doc_date": "2026-03-01", "partner_code": "P-1", "warehouse_code": "SHOP"}
_COUNTED = {"item_code": "BRICK", "qty": 1}
_MOVE = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}

_CREATIONS: Mapping[str, Send] = {
    "entry": (
        "POST", "/entry-documents",
        {**_DOCUMENT, "external_ref": "PO-1", "type": "purchase_order", "lines": [_LINE]},
    ),
    "entry at a position": (
        "POST", "/entry-documents",
        {
            **_DOCUMENT, "external_ref": "PO-1", "type": "purchase_order",
            "warehouse_code": "YARD", "lines": [{**_LINE, "destination_bin": "B-01"}],
        },
    ),
    "exit": (
        "POST", "/exit-documents",
        {**_DOCUMENT, "external_ref": "SO-1", "type": "sale_order", "lines": [_LINE]},
    ),
    "pick_face": (
        "POST", "/pick-faces",
        {"item_code": "BRICK", "warehouse_code": "YARD", "bin_code": "B-01"},
    ),
    "position": ("POST", "/warehouse-positions", {"whs_code": "SHOP", "bin_code": "A-01"}),
    "positions in bulk": (
        "POST", "/warehouse-positions/bulk",
        {"whs_code": "SHOP", "naming_mask": "{rack}", "racks": ["1", "2"]},
    ),
    "stock": (
        "POST", "/stock-adjustments",
        {
            "item_code": "BRICK", "warehouse": "YARD", "bin_code": "B-01", "increase": 1,
            "reason": "Counted",
        },
    ),
    "stock_count": (
        "POST", "/counts", {"warehouse_code": "YARD", "positions": ["B-01"]},
    ),
    "line of a count": ("POST", "/counts/1/lines", {**_COUNTED, "bin_code": "A-01"}),
    "line of a count elsewhere": ("POST", "/counts/1/lines", {**_COUNTED, "bin_code": "B-01"}),
    "return": (
        "POST", "/returns",
        {
            "warehouse_code": "SHOP", "partner_code": "C-1",
            "lines": [{"item_code": "BRICK", "qty": 1}],
        },
    ),
    "transfer": (
        "POST", "/transfers",
        {"from_warehouse": "YARD", "to_warehouse": "YARD", "execute": False, "lines": [_MOVE]},
    ),
    "transfer_order": (
        "POST", "/transfer-orders",
        {
            "external_ref": "MOVE-1", "from_warehouse": "YARD", "to_warehouse": "SHOP",
            "lines": [_LINE],
        },
    ),
}  # fmt: skip

_PRODUCT, _SHOP, _POSITION = "/products/1", "/warehouses/2", "/warehouse-positions/2"
_RETIREMENTS: Mapping[str, Send] = {
    "product is deleted": ("DELETE", _PRODUCT, None),
    "product is renamed": ("PUT", _PRODUCT, {"item_code": "PAVER", "name": "Brick"}),
    "warehouse is deleted": ("DELETE", _SHOP, None),
    "position is deleted": ("DELETE", _POSITION, None),
}

_NAMES = {
    "product is deleted": {
        "entry",
        "exit",
        "line of a count",
        "pick_face",
        "return",
        "stock",
        "transfer",
        "transfer_order",
    },
    "product is renamed": {"exit"},
    "warehouse is deleted": {
        "entry",
        "exit",
        "position",
        "positions in bulk",
        "return",
        "transfer_order",
    },
    "position is deleted": {
        "entry at a position",
        "line of a count elsewhere",
        "pick_face",
        "stock",
        "stock_count",
        "transfer",
    },
}
"""The creations that name the master data. A rename differs from a deletion only at its end."""
_PAIRS = [(name, retirement) for retirement, names in _NAMES.items() for name in sorted(names)]
_MOST_CALLS = 40


@pytest.fixture(autouse=True)
def shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send calls one after the other, in the order of the fences."""
    monkeypatch.setattr("shared.kernel.db.parallel._inside", lambda: True)


@pytest.fixture
def master_data(erp: Erp) -> Erp:
    """The product BRICK, the warehouse YARD with two positions, two without any, and a count."""
    assert erp.patch("/settings", {"blind_returns": True}).status == 200
    directory.clear()
    assert erp.post("/products", {"item_code": "BRICK", "name": "Brick"}).status == 201
    for code in ("YARD", "SHOP", "DEPOT"):
        assert erp.post("/warehouses", {"whs_code": code, "name": code.title()}).status == 201
    for bin_code in ("A-01", "B-01"):
        body = {"whs_code": "YARD", "bin_code": bin_code, "type": "storage"}
        assert erp.post("/warehouse-positions", body).status == 201
    # A count of A-01, which is empty.
    erp.post("/counts", {"warehouse_code": "YARD", "positions": ["A-01"]}).ok(201)
    erp.post("/counts/1/lines", {"bin_code": "A-01", "empty": True}).ok()
    return erp


class _RetirementBeforeCommit:
    """Sends a retirement when a creation commits, and the commit within the retirement.

    The creation has read its fence and the master data before the retirement begins. Its commit
    reaches DynamoDB after `behind` calls of the retirement.
    """

    def __init__(self, erp: Erp, retirement: Send, behind: int) -> None:
        self.answer: Response | None = None
        self.calls = 0
        self._erp = erp
        self._retirement = retirement
        self._behind = behind
        self._commit: Forward | None = None
        self._committed: Answer | None = None

    def __call__(self, call: Call, forward: Forward) -> Answer:
        if self.answer is not None:  # the creation is retried, or the retirement has ended
            return forward()
        if self._commit is not None:
            return self._within_retirement(forward)
        if call.operation != "TransactWriteItems":
            return forward()
        self._commit = forward
        self.answer = self._erp.send(*self._retirement)
        return self._committed or forward()

    def _within_retirement(self, forward: Forward) -> Answer:
        if self.calls == self._behind and self._commit is not None:
            self._committed = self._commit()
        self.calls += 1
        return forward()


def _reads_of_references(seen: Recording) -> list[int]:
    return [at for at, call in enumerate(seen.calls) if "'open'" in str(call.request)]


def test_every_kind_with_a_fence_is_created_here() -> None:
    assert set(REFERENCING_KINDS) <= set(_CREATIONS)
    assert {name for name, _ in _PAIRS} == set(_CREATIONS)


@pytest.mark.parametrize(("creation", "retirement"), _PAIRS)
@pytest.mark.usefixtures("clock")
def test_creation_that_commits_within_a_retirement_never_survives_it(
    creation: str, retirement: str, master_data: Erp, stack: Stack, aws_faults: AwsFaults
) -> None:
    restore = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        assert master_data.send(*_RETIREMENTS[retirement]).status < 300
    outcomes: list[bool] = []
    points = sampled(f"{creation}, {retirement}", range(_MOST_CALLS), every=16)
    # In any case before the first call of the retirement, and when it has read the references.
    for behind in sorted({0, max(_reads_of_references(seen)) + 1, *points}):
        restore()
        between = _RetirementBeforeCommit(master_data, _RETIREMENTS[retirement], behind)
        with aws_faults.faulty(between):
            created = master_data.send(*_CREATIONS[creation], key="creation")

        assert between.answer is not None
        succeeded = [one.status < 300 for one in (created, between.answer)]
        assert sum(succeeded) == 1, (behind, created.text, between.answer.text)
        refused = created if created.status >= 300 else between.answer
        assert refused.status in {409, 422}, refused.text
        assert_counters_match(stack, read_stored_entities(stack))
        outcomes.append(succeeded[0])
        if behind > between.calls:
            break
    else:
        pytest.fail("a retirement makes more calls than that")
    assert set(outcomes) == {True, False}
    assert outcomes == sorted(outcomes, reverse=True), "first creations, then retirements succeed"


def test_row_of_a_file_is_not_counted_when_its_product_is_deleted_meanwhile(
    master_data: Erp, aws_faults: AwsFaults
) -> None:
    # Without a creation behind it, the retirement is complete when the rows are committed.
    between = _RetirementBeforeCommit(master_data, _RETIREMENTS["product is deleted"], _MOST_CALLS)
    body = check(GoodsCount, {**_COUNTED, "bin_code": "A-01"})

    with aws_faults.faulty(between):
        [problems] = run_transaction(
            operator_store("acme"), lambda tx: service.count_rows(tx, 1, [body])
        )

    assert between.answer is not None
    assert between.answer.status == 200
    assert [problem.field for problem in problems] == ["item_code"]
    assert not master_data.get("/counts/1").data["lines"][0]["item_code"]


@pytest.mark.parametrize("retirement", _RETIREMENTS)
def test_references_are_read_after_the_fences_and_fences_are_invalidated_after_the_mark(
    retirement: str, master_data: Erp, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen:
        assert master_data.send(*_RETIREMENTS[retirement]).status == 200

    marked = seen.operations.index("TransactWriteItems")
    fences = [at for at, call in enumerate(seen.calls) if "#epoch" in str(call.request)]
    register = _reads_of_references(seen)
    assert len(fences) == len(REFERENCING_KINDS), "one of two shards has fences"
    assert marked < min(fences) < max(fences) < min(register)
    assert "retired_by" in str(seen.calls[marked].request)


@pytest.mark.parametrize("retirement", _RETIREMENTS)
def test_two_retirements_at_once_are_both_done_or_one_is_refused(
    retirement: str, master_data: Erp, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    restore = stack.take_snapshot()
    other, same = "position is deleted", retirement == "position is deleted"
    for at in sampled(retirement, range(_MOST_CALLS), every=12):
        restore()
        others: list[Response] = []
        meanwhile = partial(_send_once, master_data, _RETIREMENTS[other], others)
        with aws_faults.faulty(stuck_after(at, meanwhile)):
            done = master_data.send(*_RETIREMENTS[retirement])
        if not others:
            break
        statuses = [done.status, others[0].status]
        if same and statuses == [503, 503]:
            # The second one waited for the first until its deadline, and thus beyond that of the
            # first, which was stuck meanwhile.
            clock.advance(30)
            statuses[0] = master_data.send(*_RETIREMENTS[retirement]).status
        assert statuses == [200, 200] if not same else 200 in statuses, statuses
        assert not same or set(statuses) <= {200, 410, 503}, statuses
        assert_counters_match(stack, read_stored_entities(stack))
    else:
        pytest.fail("a retirement makes more calls than that")
    assert at > 4, "something was tried"


def _send_once(erp: Erp, request: Send, answers: list[Response]) -> None:
    answers.append(erp.send(*request))
