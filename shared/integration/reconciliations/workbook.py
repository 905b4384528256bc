"""The workbook of a reconciliation: all differences, also those that the response leaves out."""

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from shared.integration.reconciliations.comparison import Outcome
from shared.integration.reconciliations.models import InvalidRow

_HEADER = ("item_code", "warehouse_code", "batch", "theirs", "ours", "difference", "explained")


def workbook(outcome: Outcome) -> bytes:
    """Return the differences of a comparison, the largest first.

    `explained` is empty for those that the response leaves out. No cell is a formula.
    """
    return _book("Differences", _HEADER, _rows(outcome))


def problem_book(problems: Iterable[InvalidRow]) -> bytes:
    """Return the problems of the rows of a file."""
    rows = ((one.row, one.field, one.message) for one in problems)
    return _book("Problems", ("row", "field", "message"), rows)


def _rows(outcome: Outcome) -> Iterator[Sequence[object]]:
    for at, one in enumerate(outcome.found):
        explained = outcome.shown[at].explained if at < len(outcome.shown) else None
        texts = (
            outcome.item_codes.get(one.key.product_id, ""),
            outcome.warehouse_codes.get(one.key.warehouse_id, ""),
            one.key.batch or "",
        )
        yield *texts, one.theirs, one.ours, one.qty, explained


def _book(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.append(header)
    for row in rows:
        sheet.append([_text(sheet, one) if isinstance(one, str) else one for one in row])
    content = BytesIO()
    book.save(content)
    return content.getvalue()


def _text(sheet: Any, text: str) -> Any:
    cell = WriteOnlyCell(sheet, text)
    cell.data_type = "s"  # also of a code that begins like a formula
    return cell
