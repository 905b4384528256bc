"""The base of the state machine: requests, checks and strategies that all rules use.

Each rule sends one request through the API, possible or not. The model predicts the status of
the response. After each rule, the stored state must satisfy the stock invariants and match the
model. A refused request must not change anything; one that requires an approval may create it.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from shared.identity.tenancy.directory import directory
from shared.kernel.json_text import dumps
from tests.gateway import Erp, Response
from tests.stack import Stack
from tests.stock_invariants import check_invariants, read_state
from tests.warehouse_model import OPEN_BINS, ModelApproval, Place, WarehouseModel
from tests.warehouse_scenario import POSITIONS, WarehouseScenario

WAREHOUSES = ("YARD", "SHOP", "PORT")

ITEMS = st.sampled_from(("BRICK", "CEMENT", "DRILL"))
WHS = st.sampled_from(WAREHOUSES)
BINS = st.sampled_from(OPEN_BINS)
ANY_BIN = st.sampled_from(tuple(POSITIONS))
QTY = st.sampled_from([Decimal(text) for text in ("1", "2", "3", "5", "0.5", "2.25")])
LOTS = st.integers(1, 4)
INDEX = st.integers(0, 9)
WANTED = st.dictionaries(ITEMS, st.integers(1, 5).map(Decimal), min_size=1)

GTINS: Mapping[str, tuple[str, int]] = {
    "BRICK": ("14006381333938", 2),
    "CEMENT": ("4006381333931", 1),
    "DRILL": ("96385074", 1),
}
"""Item → a GTIN of it, and the units that it counts."""
PIECE = "614141999996"
"""A GTIN that counts one BRICK."""

_VOLATILE = ("idempotency#", "sequence", "count#")
"""Key prefixes of items that a refused request may change."""
_OF_APPROVALS = ("approval#", "approval_request#", "audit#")
"""Key prefixes of items that a request may write when it requires an approval."""


def one_of(texts: str) -> st.SearchStrategy[str]:
    """Return a strategy of the words of a text; one that is there twice is twice as likely."""
    return st.sampled_from(texts.split())


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request and its response, kept so that the request can be repeated."""

    path: str
    body: Mapping[str, object] | None
    key: str
    status: int
    text: str
    sender: Erp


class BaseMachine(RuleBasedStateMachine):
    """The service and its model; subclasses define the rules.

    `steps` counts the requests of all runs. Idempotency keys start with `label`.
    """

    steps = 0
    stack: Stack
    erp: Erp
    supervisor: Erp
    """A user who decides on approvals."""
    restore: Callable[[], None]
    start = WarehouseModel()
    """The state at the start of a run."""
    label = "key"

    def __init__(self) -> None:
        super().__init__()
        self.restore()
        directory.clear()
        self.model = copy.deepcopy(self.start)
        self.sent_requests: list[SentRequest] = []
        self.refused: dict[int, Callable[[], None]] = {}
        """Id of an approval → what sends its request again."""
        self._number = len(self.model.entries) + len(self.model.exits)

    # Requests and checks

    def post(
        self,
        path: str,
        body: Mapping[str, object] | None,
        expected: int,
        *,
        again: Callable[[], None] | None = None,
        figures: object = None,
        sender: Erp | None = None,
    ) -> Response:
        """Send a request and assert the status of its response.

        Args:
            path: The path.
            body: The body; in it and in its lines, null means that the field is not sent.
            expected: The status that the model predicts.
            again: What sends the request again, if a rule requires an approval of it. The status is
                then 409 unless the request is granted.
            figures: What the rule has read: an approval of other figures is replaced.
            sender: Who sends the request; default is the ERP.
        """
        type(self).steps += 1
        sender = sender or self.erp
        approval = self.model.open_approval(path, _plain(body)) if again else None
        if approval and approval.figures != figures:
            approval.status, approval = "expired", None
        is_refused = again is not None and (approval is None or approval.status != "granted")
        expected = 409 if is_refused else expected
        before = self._stored() if expected >= 400 else None
        key = f"{self.label}-{len(self.sent_requests)}"
        answer = sender.post(path, _plain(body), key=key)
        assert answer.status == expected, f"{path} {body}: {answer.status} {answer.text}"
        assert ("approval_required" in answer.text) == is_refused, answer.text
        if before is not None:
            kept = _OF_APPROVALS if is_refused else ()
            message = "a refused request changed the stored state"
            assert _without(self._stored(), kept) == _without(before, kept), message
        if again and is_refused:
            self._record_approval(answer, path, body, again, figures)
        elif approval:
            approval.status = "used"
        key = "" if expected == 422 or is_refused else key
        self.sent_requests.append(SentRequest(path, body, key, expected, answer.text, sender))
        return answer

    def patch(self, path: str, body: Mapping[str, object], expected: int) -> None:
        """Send a change and assert the status of its response; see `post`."""
        type(self).steps += 1
        before = self._stored() if expected >= 400 else None
        answer = self.erp.patch(path, _plain(body))
        assert answer.status == expected, f"{path} {body}: {answer.status} {answer.text}"
        assert before is None or self._stored() == before, "a refused change was stored"

    def _record_approval(
        self,
        answer: Response,
        path: str,
        body: Mapping[str, object] | None,
        again: Callable[[], None],
        figures: object,
    ) -> None:
        """Assert that a refused request names its open approval, or else a new one."""
        number: int = answer.json()["error"]["approval_id"]
        found = self.model.open_approval(path, _plain(body))
        if found:
            assert number == found.id, "the approval is not that of the request"
        else:
            assert number not in self.refused, "the approval is not new"
            self.model.approvals.append(ModelApproval(number, path, _plain(body), figures))
            self.refused[number] = again

    def change_settings(self, **settings: object) -> None:
        """Change settings of the company."""
        WarehouseScenario(self.erp).change_settings(**settings)

    @invariant()
    def check_state(self) -> None:
        """Check the invariants of the stored state, and compare it with the model."""
        state = read_state(self.stack.unsorted_items())
        check_invariants(state)
        self.model.assert_matches(state)

    def _stored(self) -> dict[tuple[str, str], object]:
        stored: dict[tuple[str, str], object] = {
            (item["PK"]["S"], item["SK"]["S"]): item
            for item in self.stack.unsorted_items()
            if not item["PK"]["S"].startswith(_VOLATILE)
        }
        stored["events", ""] = self.stack.event_count()
        return stored

    @rule(index=st.integers(0, 30))
    def repeat_request(self, index: int) -> None:
        """Repeat a request with its idempotency key: same response, no second effect."""
        kept = [one for one in self.sent_requests if one.key]
        if not kept:
            return
        type(self).steps += 1
        one, before = kept[-1 - index % len(kept)], self._stored()
        again = one.sender.post(one.path, _plain(one.body), key=one.key)
        assert (again.status, again.text) == (one.status, one.text)
        assert again.headers["Idempotent-Replayed"] == "true"
        if one.body is not None:
            other = one.sender.post(one.path, _plain({**one.body, "other": True}), key=one.key)
            assert other.status == 422, f"{one.path}: {other.text}"
        assert self._stored() == before

    @rule(
        path=one_of(
            "/stock-adjustments /receipts /pickings /transfers /transfer-orders /rfid-validations"
        ),
        body=st.sampled_from(
            (
                {}, {"qty": 0}, {"document_id": 0}, {"document_id": "1"},
                {"item_code": "NONE", "warehouse": "YARD", "bin_code": "A-01", "increase": 1,
                 "reason": "No such item"},
                {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "increase": -1,
                 "reason": "Less than nothing"},
                {"item_code": "CEMENT", "warehouse": "YARD", "bin_code": "A-01", "increase": 1,
                 "reason": "Of no batch"},
                {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01",
                 "increase": 0.0000001, "reason": "Next to nothing"},
                {"lines": []},
            )
        ),
    )  # fmt: skip
    def send_invalid_request(self, path: str, body: dict[str, object]) -> None:
        self.post(path, body, 422)

    def create_document(self, path: str, kind: str, whs: str, wanted: Mapping[str, Decimal]) -> int:
        self._number += 1
        body = {
            "external_ref": f"O-{self._number}",
            "type": kind,
            "doc_date": "2026-03-01",
            "partner_code": "P-1",
            "warehouse_code": whs,
            "lines": [{"item_code": item, "qty": qty} for item, qty in wanted.items()],
        }
        number: int = self.post(path, body, 201).data["id"]
        return number


BEFORE: Mapping[str, tuple[str, ...]] = {
    "start": ("pending",),
    "allocate": ("pending", "started"),
    "finalize": ("started",),
    "cancel": ("pending", "started"),
    "revert": ("finalized", "synchronized"),
    "synchronize": ("finalized",),
}
AFTER = {
    "start": "started",
    "finalize": "finalized",
    "cancel": "cancelled",
    "revert": "reverted",
    "synchronize": "synchronized",
}


def recent_one[E](several: list[E], index: int) -> E:
    """Return the entry at `index`, counted from the end; a small index means a recent entry."""
    return several[-1 - index % len(several)]


def likely_one[E](several: list[E], index: int, is_likely: Callable[[E], object]) -> E:
    """Return a recent entry: for three of four indexes a likely one, if there is any."""
    likely = [one for one in several if is_likely(one)]
    return recent_one(likely if likely and index % 4 else several, index)


def named(item: str, qty: Decimal, *, by_gtin: bool) -> dict[str, object]:
    """Return the fields of a body that name an item and its quantity."""
    if not by_gtin:
        return {"item_code": item, "qty": qty}
    gtin, units = GTINS[item]
    return {"gtin": gtin, "qty": qty / units}


def place_at(item: str, whs: str, bin_code: str, lot: int, status: str = "available") -> Place:
    batch = f"L{lot}" if item == "CEMENT" else None
    return Place(item, whs, bin_code, batch, f"S{lot}" if item == "DRILL" else None, status)


def _without(
    stored: Mapping[tuple[str, str], object], prefixes: tuple[str, ...]
) -> dict[tuple[str, str], object]:
    return {key: item for key, item in stored.items() if not key[0].startswith(prefixes or "\0")}


def _plain(body: Mapping[str, object] | None) -> Any:
    """Return the body as parsed JSON, without the null fields of it and of its lines."""
    return None if body is None else _given(json.loads(dumps(body)))


def _given(value: Any) -> Any:
    if isinstance(value, list):
        return [_given(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: _given(one) for name, one in value.items() if one is not None}
