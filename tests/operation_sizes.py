"""The number of actions of the largest transaction of each operation."""

import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.db.transaction import Transaction
from shared.warehouse.stock.posting import StockPosting
from tests.dynamodb.request_cost import route_of
from tests.faults import AwsFaults, Recording
from tests.gateway import Erp, Response

BACKGROUND = "outside a request"
"""The name of what workers write."""

type Sizes = dict[str, int]
"""Operation, such as `POST /pickings/{id}/cancel` → actions of its largest transaction."""


@contextmanager
def operation_sizes(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sizes]:
    """Measure the operations of all requests in the block.

    Each write has an Idempotency-Key, because the stored response is an action too.
    """
    sizes: Sizes = {}
    send = Erp.send

    def measured(erp: Erp, method: str, path: str, *args: Any, **names: Any) -> Response:
        if method != "GET" and names.get("key") is None:
            names["key"] = uuid.uuid4().hex
        with aws_faults.recorded() as seen:
            answer = send(erp, method, path, *args, **names)
        _note(sizes, f"{method} {route_of(path)}", seen)
        return answer

    with monkeypatch.context() as patch, aws_faults.recorded() as everything:
        patch.setattr(Erp, "send", measured)
        yield sizes
    if _largest(everything) > max(sizes.values(), default=0):
        _note(sizes, BACKGROUND, everything)


def assert_margin_is_kept(sizes: Sizes) -> None:
    """Assert that no operation plans more actions than it may."""
    assert sizes
    grown = {name: size for name, size in sizes.items() if size > MAX_PLANNED_ACTIONS}
    assert not grown, f"more than {MAX_PLANNED_ACTIONS} actions in a transaction: {grown}"


@contextmanager
def planned_actions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Give the number of actions that each stock posting of the block has planned.

    It is compared with what the posting stages.
    """
    stage, planned = StockPosting.post, list[int]()

    def stage_as_planned(posting: StockPosting, later: Collection[int] = ()) -> None:
        tx = posting._tx
        expected, before = posting.planned_actions, _without_counters(tx)
        stage(posting, later)
        assert _without_counters(tx) - before == expected
        planned.append(expected)

    with monkeypatch.context() as patch:
        patch.setattr(StockPosting, "post", stage_as_planned)
        yield planned
    assert planned


def _without_counters(tx: Transaction) -> int:
    """Return the actions of a transaction, with its levels and without counters and events."""
    return len(tx._actions) + tx._gathered_cost.actions


def _note(sizes: Sizes, operation: str, seen: Recording) -> None:
    sizes[operation] = max(sizes.get(operation, 0), _largest(seen))


def _largest(seen: Recording) -> int:
    sent = (call.request for call in seen.calls if call.operation == "TransactWriteItems")
    return max((len(request["TransactItems"]) for request in sent), default=0)
