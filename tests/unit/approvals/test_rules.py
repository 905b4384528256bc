"""Approvals on plain data: when they expire, and which bodies they show."""

import pytest
from pydantic import BaseModel

from shared.kernel.caller import Caller
from shared.kernel.json_text import dumps
from shared.kernel.sent_request import SentRequest
from shared.warehouse.approvals import rules
from shared.warehouse.approvals.models import OpenApproval, StoredApproval
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource

_CLIENT = Caller("acme", "erp", "client", "erp", frozenset(), frozenset(), False, "token")
_NEED = ApprovalNeed("adjustment", "Too many.", ApprovedResource(object="product", id=1), [])


class _Body(BaseModel):
    text: str


def _approval(model: BaseModel | None = None, now_ms: int = 0) -> StoredApproval:
    request = SentRequest(_CLIENT, "POST", "/stock-adjustments", None, model)
    return rules.new_approval(1, _NEED, request, "ERP", now_ms)


def test_an_approval_is_open_up_to_its_last_millisecond() -> None:
    approval = _approval(now_ms=1)
    found = OpenApproval(approval.id, stage="pending", until_ms=1 + rules.LIFETIME_MS, figures=None)

    for now_ms, status, opened in ((rules.LIFETIME_MS, "pending", found),
                                   (rules.LIFETIME_MS + 1, "expired", None)):  # fmt: skip
        assert rules.status_at(approval, now_ms) == status
        assert rules.unexpired(found, now_ms) == opened


@pytest.mark.parametrize(("more", "is_shown"), [(0, True), (1, False)])
def test_a_body_is_shown_up_to_its_limit(more: int, *, is_shown: bool) -> None:
    letters = rules.MAX_BODY - len(dumps({"text": ""})) + more

    shown = _approval(_Body(text="x" * letters)).body_json

    assert (shown is not None) == is_shown


def test_a_request_without_a_body_shows_none() -> None:
    assert _approval().body_json is None
