"""Rules of transfers: valid bodies, and the maximum size of a transfer."""

from typing import Any

import pytest

from shared.kernel.validation import Checked, check, ensure_valid, problems_of
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.transfers import rules
from shared.warehouse.transfers.models import ErpAnswer, TransferDraft
from shared.warehouse.work.models import Operator
from tests.cases import each_case
from tests.master_data import SHOP, YARD, known_position, known_products

BINS = ("A-01", "B-01", "X-01", "D-01")


KNOWN = MasterData(
    products=known_products("BRICK", "DRILL"),
    warehouses={"YARD": YARD, "SHOP": SHOP},
    positions={
        (whs_code, bin_code): known_position(
            number, bin_code, disabled=bin_code == "D-01", blocked=bin_code == "X-01"
        )
        for whs_code in ("YARD", "SHOP")
        for number, bin_code in enumerate(BINS, start=1)
    },
)


def body(*lines: dict[str, Any], to: str = "SHOP") -> dict[str, Any]:
    move = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}
    return {
        "from_warehouse": "YARD",
        "to_warehouse": to,
        "lines": [{**move, **line} for line in lines],
    }


def draft(*lines: dict[str, Any], to: str = "SHOP") -> TransferDraft:
    return ensure_valid(check(TransferDraft, body(*lines, to=to)))


def fields(wanted: Checked[TransferDraft]) -> list[str]:
    return [problem.field for problem in rules.examine(wanted, KNOWN)]


@each_case(
    ("plain", "serials", "to", "fits"),
    [
        (6, [], "SHOP", True),
        (7, [], "SHOP", False),
        (11, [], "YARD", True),
        (0, [30], "SHOP", True),
        (0, [30, 1], "SHOP", False),
        (0, [14, 14], "SHOP", True),
        (3, [16], "SHOP", True),
        (3, [17], "SHOP", False),
        (10, [3], "YARD", True),
        (10, [4], "YARD", False),
    ],
)
def test_number_of_lines_that_fit_into_one_transaction(
    plain: int,
    serials: list[int],
    to: str,
    fits: bool,  # noqa: FBT001 - a case of the table
) -> None:
    lines: list[dict[str, Any]] = [{} for _ in range(plain)]
    for at, count in enumerate(serials):
        names = [f"{at}-{number}" for number in range(count)]
        lines.append({"item_code": "DRILL", "qty": count, "serials": names})

    assert fields(draft(*lines, to=to)) == ([] if fits else ["lines"])


def test_target_must_be_usable_and_another_position() -> None:
    same = {"to_bin": "A-01"}
    assert fields(draft(same, {"to_bin": "X-01"}, {"to_bin": "D-01"})) == [
        "lines.1.to_bin", "lines.2.to_bin",
    ]  # fmt: skip
    assert fields(draft(same, to="YARD")) == ["lines.0.to_bin"]
    assert fields(draft({"from_bin": "X-01"}, {"from_bin": "D-01"})) == []


def test_invalid_field_is_not_reported_again() -> None:
    raw = {"from_warehouse": 5, "lines": [{"item_code": 5, "qty": "x"}, 7], "execute": "yes"}
    assert fields(check(TransferDraft, raw)) == []
    assert fields(check(TransferDraft, {})) == []


def test_target_blocked_since_creation_is_reported_by_line() -> None:
    wanted = draft({}, {"to_bin": "X-01"}, {"to_bin": "D-01"})
    ana = Operator(id=9, name="Ana")
    transfer = rules.new_transfer(5, wanted, KNOWN, user_id=7, operator=ana, now="now")

    assert (transfer.status, transfer.user_id, transfer.operator) == ("pending", 7, ana)
    assert list(rules.unusable_targets(transfer, KNOWN)) == [
        "line 2: position X-01 is blocked", "line 3: position D-01 is disabled",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "kept"), [(0, 0), (80123, 80123), ("080123", "080123"), (" 7 ", "7"), (None, None)]
)
def test_doc_entry_is_kept_as_the_erp_writes_it(entry: object, kept: object) -> None:
    found = ensure_valid(check(ErpAnswer, {"sap_status": "sent", "doc_entry": entry}))
    assert found.doc_entry == kept
    assert type(found.doc_entry) is type(kept)


@pytest.mark.parametrize("entry", [True, -1, 1.0, "", " ", "a\nb", "x" * 101, [], 2**53])
def test_invalid_doc_entry_is_refused(entry: object) -> None:
    problems = problems_of(check(ErpAnswer, {"sap_status": "sent", "doc_entry": entry}))
    assert [(problem.field, problem.message) for problem in problems] == [
        ("doc_entry", "must be a whole number or a text of 1 to 100 characters")
    ]
