"""What a transfer may say, and how much one may move."""

from typing import Any

import pytest

from shared.kernel.errors import Conflict
from shared.kernel.validation import Checked, check, ensure_valid, problems_of
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.transfers import rules
from shared.warehouse.transfers.models import ErpAnswer, TransferDraft
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

BINS = ("A-01", "B-01", "X-01", "D-01")


def known(*codes: str) -> rules.MasterData:
    return rules.MasterData(
        products={
            code: KnownProduct(
                number, code, code.title(), by_batch=False, by_serial=code == "DRILL", in_stock=True
            )
            for number, code in enumerate(("BRICK", "DRILL", *codes), start=1)
        },
        warehouses={
            "YARD": KnownWarehouse(1, "YARD", "Yard"),
            "SHOP": KnownWarehouse(2, "SHOP", "Shop"),
        },
        positions={
            (whs_code, bin_code): KnownPosition(
                number, bin_code, None, pickable=True, disabled=bin_code == "D-01",
                blocked=bin_code == "X-01",
            )
            for whs_code in ("YARD", "SHOP")
            for number, bin_code in enumerate(BINS, start=1)
        },
    )  # fmt: skip


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
    return [problem.field for problem in rules.examine(wanted, known())]


@pytest.mark.parametrize(
    ("plain", "serials", "to", "fits"),
    [
        (8, [], "SHOP", True),
        (9, [], "SHOP", False),
        (12, [], "YARD", True),
        (0, [40], "SHOP", True),
        (0, [40, 1], "SHOP", False),
        (0, [20, 16], "SHOP", True),
        (4, [20], "SHOP", False),
        (10, [8], "YARD", True),
        (10, [9], "YARD", False),
    ],
)
def test_what_one_transaction_holds(
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


def test_an_end_must_be_open_and_another_place() -> None:
    same = {"to_bin": "A-01"}
    assert fields(draft(same, {"to_bin": "X-01"}, {"to_bin": "D-01"})) == [
        "lines.1.to_bin", "lines.2.to_bin",
    ]  # fmt: skip
    assert fields(draft(same, to="YARD")) == ["lines.0.to_bin"]
    assert fields(draft({"from_bin": "X-01"}, {"from_bin": "D-01"})) == []


def test_what_is_invalid_by_itself_is_not_told_again() -> None:
    raw = {"from_warehouse": 5, "lines": [{"item_code": 5, "qty": "x"}, 7], "execute": "yes"}
    assert fields(check(TransferDraft, raw)) == []
    assert fields(check(TransferDraft, {})) == []


def test_an_end_that_was_closed_meanwhile_is_told_by_line() -> None:
    wanted = draft({}, {"to_bin": "X-01"}, {"to_bin": "D-01"})
    transfer = rules.new_transfer(5, wanted, known(), user_id=7, now="now")

    assert (transfer.status, transfer.user_id, transfer.operator) == ("pending", 7, None)
    assert list(rules.closed_ends(transfer, known())) == [
        "line 2: position X-01 is blocked", "line 3: position D-01 is disabled",
    ]  # fmt: skip
    with pytest.raises(Conflict, match="is pending; this needs it to be transferred"):
        rules.ensure_status(transfer, "transferred")


@pytest.mark.parametrize(
    ("entry", "kept"), [(0, 0), (80123, 80123), ("080123", "080123"), (" 7 ", "7"), (None, None)]
)
def test_the_number_of_the_erp_is_kept_as_it_writes_it(entry: object, kept: object) -> None:
    found = ensure_valid(check(ErpAnswer, {"sap_status": "sent", "doc_entry": entry}))
    assert found.doc_entry == kept
    assert type(found.doc_entry) is type(kept)


@pytest.mark.parametrize("entry", [True, -1, 1.0, "", " ", "a\nb", "x" * 101, [], 2**53])
def test_what_is_no_number_of_an_erp_is_refused(entry: object) -> None:
    problems = problems_of(check(ErpAnswer, {"sap_status": "sent", "doc_entry": entry}))
    assert [(problem.field, problem.message) for problem in problems] == [
        ("doc_entry", "must be a whole number or a text of 1 to 100 characters")
    ]
