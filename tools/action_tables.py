"""The tables of actions of all subjects, for descriptions and pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from shared.integration.exports import actions as exports
from shared.integration.exports.models import ExportDetail
from shared.integration.imports import actions as imports
from shared.integration.imports.models import ImportDetail
from shared.kernel.action_table import ActionTable
from shared.warehouse.approvals import actions as approvals
from shared.warehouse.approvals.models import ApprovalDetail
from shared.warehouse.counts import actions as counts
from shared.warehouse.counts.models import CountDetail
from shared.warehouse.documents import actions as documents
from shared.warehouse.documents.models import EntryDocumentDetail, ExitDocumentDetail
from shared.warehouse.holds import actions as holds
from shared.warehouse.holds.models import HoldDetail
from shared.warehouse.packing import actions as packing
from shared.warehouse.packing.models import HandlingUnitDetail, PackingOrderDetail
from shared.warehouse.picking import actions as picking
from shared.warehouse.picking.models import PickingDetail
from shared.warehouse.receiving import actions as receiving
from shared.warehouse.receiving.models import ReceiptDetail
from shared.warehouse.returns import actions as returns
from shared.warehouse.returns.models import ReturnDetail
from shared.warehouse.transfer_orders import actions as transfer_orders
from shared.warehouse.transfer_orders.models import TransferOrderDetail
from shared.warehouse.transfers import actions as transfers
from shared.warehouse.transfers.models import TransferDetail
from shared.warehouse.waves import actions as waves
from shared.warehouse.waves.models import WaveDetail


@dataclass(frozen=True)
class Subject:
    """A subject with states: its path, its table, and the model of its detail.

    `elsewhere` has the actions whose operation is at another path than the name says, and that
    operation. `others` are the changes of its status that are no action of it: the status before,
    the status after, and what makes the change. `notes` are what the diagram says of an action.
    """

    path: str
    table: ActionTable[Any, Any]
    detail: type[BaseModel]
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[tuple[str, str, str]] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The name of the schema with the names of the actions."""
        return f"{self.detail.__name__.removesuffix('Detail')}Action"

    def operation(self, action: str) -> str:
        """Return the operation of an action, such as `POST /receipts/{id}/start`."""
        return self.elsewhere.get(action) or f"POST {self.path}/{{id}}/{action}"


_UNDO_PICK = "picks/undo"
_UNDO_LINE = "lines/undo"


def _under(path: str, **names: str) -> dict[str, str]:
    return {name: f"POST {path}/{{id}}/{below}" for name, below in names.items()}


SUBJECTS = (
    Subject(
        "/entry-documents",
        documents.ACTIONS["entry"],
        EntryDocumentDetail,
        {"receive": "POST /receipts"},
    ),
    Subject(
        "/exit-documents", documents.ACTIONS["exit"], ExitDocumentDetail, {"pick": "POST /pickings"}
    ),
    Subject(
        "/receipts", receiving.ACTIONS, ReceiptDetail, _under("/receipts", undo=_UNDO_LINE),
        [("[*]", "pending", "POST /receipts")],
        {
            "lines": "stock increases at once",
            "undo": "goods leave the stock",
            "cancel": "received goods leave the stock",
            "revert": "while the goods are there and free",
        },
    ),
    Subject(
        "/pickings", picking.ACTIONS, PickingDetail, _under("/pickings", undo=_UNDO_PICK),
        [("[*]", "pending", "POST /pickings")],
        {
            "picks": "goods are staged",
            "undo": "goods are allocated again",
            "finalize": "a shortage needs a reason",
            "cancel": "goods return to their positions",
            "revert": "while something is staged",
        },
    ),
    Subject(
        "/packing-orders", packing.ACTIONS, PackingOrderDetail, {},
        [
            ("[*]", "open", "POST /packing-orders"),
            ("open", "in_progress", "the first goods are packed"),
            ("packed", "shipped", "the exit document is dispatched"),
        ],
    ),
    Subject(
        "/handling-units", packing.UNIT_ACTIONS, HandlingUnitDetail,
        _under("/handling-units", remove="contents/remove"),
        [
            ("[*]", "open", "POST /packing-orders/{id}/handling-units"),
            ("open", "dispatched", "the exit document is dispatched"),
            ("closed", "dispatched", "the exit document is dispatched"),
            ("open", "[*]", "DELETE or complete, while it is empty"),
        ],
        {"reopen": "until the order is packed"},
    ),
    Subject(
        "/returns", returns.ACTIONS, ReturnDetail, _under("/returns", undo=_UNDO_LINE),
        [("[*]", "expected", "POST /returns")],
    ),
    Subject(
        "/waves", waves.ACTIONS, WaveDetail, {},
        [
            ("[*]", "draft", "POST /waves"),
            ("released", "in_progress", "a picking is started"),
            ("released", "picked", "all pickings have ended"),
            ("in_progress", "picked", "all pickings have ended"),
        ],
        {"release": "allocates what its pickings lack"},
    ),
    Subject(
        "/transfers", transfers.ACTIONS, TransferDetail, {},
        [
            ("[*]", "transferred", "POST /transfers"),
            ("[*]", "pending", "POST with execute false"),
            ("pending", "[*]", "DELETE"),
            ("error", "[*]", "DELETE"),
        ],
        {"execute": "error if the goods are not there"},
    ),
    Subject(
        "/transfer-orders", transfer_orders.ACTIONS, TransferOrderDetail,
        _under("/transfer-orders", undo=_UNDO_PICK),
        [("[*]", "draft", "POST /transfer-orders"), ("[*]", "released", "POST with release")],
        {
            "release": "a picking is created, stock is allocated",
            "picks": "picked with the last one",
            "undo": "goods are allocated again",
            "receive": "received with the last goods, or final",
            "close": "a difference needs a reason",
            "cancel": "goods return to their positions",
        },
    ),
    Subject(
        "/holds", holds.ACTIONS, HoldDetail, {},
        [
            ("[*]", "active", "POST /holds"),
            ("active", "used", "POST /exit-documents with hold_id"),
            ("active", "expired", "at expires_at"),
        ],
    ),
    Subject(
        "/counts", counts.ACTIONS, CountDetail, {},
        [("[*]", "open", "POST /counts")],
        {
            "lines": "with the first line",
            "finish": "when all lines are counted",
            "post": "counting if a line is to be counted again",
            "cancel": "unless it is being posted",
        },
    ),
    Subject(
        "/approvals", approvals.ACTIONS, ApprovalDetail, {},
        [
            ("[*]", "pending", "the request is refused"),
            ("granted", "used", "the request passes"),
            ("pending", "expired", "24 hours, or other figures"),
            ("granted", "expired", "24 hours, or other figures"),
        ],
    ),
    Subject(
        "/imports", imports.ACTIONS, ImportDetail, {},
        [
            ("[*]", "validating", "POST /imports"),
            ("[*]", "uploaded", "POST /imports/uploads"),
            ("uploaded", "validating", "the file arrives"),
            ("validating", "validated", "a row is valid"),
            ("validating", "invalid", "no row is valid"),
            ("validating", "failed", "the validation gives up"),
            ("committing", "committed", "every row is applied"),
            ("committing", "failed", "the commit gives up"),
        ],
    ),
    Subject(
        "/exports", exports.ACTIONS, ExportDetail, {},
        [
            ("[*]", "pending", "POST /exports"),
            ("pending", "running", "the first step"),
            ("running", "completed", "all rows are written"),
            ("running", "failed", "it gives up"),
        ],
    ),
)  # fmt: skip
"""In the order of the work."""
