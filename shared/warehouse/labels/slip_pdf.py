"""The packing slip of a packing order as PDF, on pages of A4."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.kernel.fields import plain
from shared.warehouse.labels.barcode import sscc_text
from shared.warehouse.labels.label import address_lines
from shared.warehouse.labels.label_pdf import draw_block
from shared.warehouse.labels.models import ShippedGoods, SlipContent, SlipUnit
from shared.warehouse.labels.pdf import PdfDocument
from shared.warehouse.labels.shaping import Line, TextBlock, shape, text_width, units_of, wrap

_WIDTH, _HEIGHT, _MARGIN = 210, 297, 15
_INNER = _WIDTH - 2 * _MARGIN
_BOTTOM = 280
"""The last baseline of a table."""
_FIRST_TOP, _NEXT_TOP = 86, 24
"""Baseline of the head of the table on the first page and on the others."""
_CODE, _NAME, _BATCH, _QTY = 0, 38, 118, 180
"""Columns of the table; quantities end at the last one."""
_GAP = 2
_SIZE, _LEADING = 9, 4.4
_CODE_LINES = 5
"""Lines of the longest code of an item or batch."""
_SERIAL_LINES = 10_000
"""Most lines of the serials of a product, more than the longest ones of a full unit need."""


@dataclass(frozen=True, slots=True)
class _Cell:
    x: float
    line: Line
    ends_at_x: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of the table; `space` is what is left free above it in millimetres."""

    cells: Sequence[_Cell]
    space: float = 0
    keeps_with_next: bool = False


def slip_pdf(content: SlipContent) -> bytes:
    """Return the packing slip as PDF, with as many pages as its lines need."""
    document = PdfDocument(f"Packing slip {content.code}", _WIDTH, _HEIGHT)
    document.add_page()
    for block in _head(content):
        draw_block(document, block)
    y = _begin_table(document, _FIRST_TOP)
    rows = [row for unit in content.units for row in _unit_rows(unit)]
    for at, row in enumerate(rows):
        y += row.space + _LEADING
        if y + _kept_below(rows, at) > _BOTTOM:
            document.add_page()
            y = _begin_table(document, _NEXT_TOP) + _LEADING
        for cell in row.cells:
            shift = text_width(cell.line.width, _SIZE) if cell.ends_at_x else 0
            document.text(_MARGIN + cell.x - shift, y, _SIZE, cell.line)
    part = f", part {content.part} of {content.parts}" if content.parts > 1 else ""
    for page in range(document.page_count):
        text = f"{content.code}{part}, page {page + 1} of {document.page_count}"
        line = shape(text)
        x = _WIDTH - _MARGIN - text_width(line.width, 8)
        document.text(x, _HEIGHT - 10, 8, line, page=page)
    return document.data()


def _head(content: SlipContent) -> Iterator[TextBlock]:
    half, right = _INNER / 2 - 4, _MARGIN + _INNER / 2
    yield TextBlock("Packing slip", _MARGIN, 22, half, 20, bold=True)
    yield TextBlock(content.sender or "", right, 22, half, 11)
    yield TextBlock("SHIP TO", _MARGIN, 34, half, 7)
    yield TextBlock(content.recipient, _MARGIN, 40, half, 12, lines=2, bold=True)
    for at, text in enumerate(address_lines(content.ship_to, 6)):
        yield TextBlock(text, _MARGIN, 51 + at * 5, half, 10)
    facts = {
        "ORDER": content.document,
        "REFERENCE": content.external_ref or "",
        "PACKING ORDER": content.code,
        "DATE": content.day.isoformat(),
        "UNITS": str(len(content.units)),
    }
    for at, (caption, text) in enumerate(facts.items()):
        yield TextBlock(caption, right, 34 + at * 9, 30, 7)
        yield TextBlock(text, right + 30, 34 + at * 9, half - 30, 10)


def _begin_table(document: PdfDocument, y: float) -> float:
    """Draw the head of the table; return its baseline."""
    heads = (("Item", _CODE), ("Product", _NAME), ("Batch", _BATCH))
    for text, x in heads:
        document.text(_MARGIN + x, y, _SIZE, shape(text, bold=True))
    quantity = shape("Quantity", bold=True)
    document.text(_MARGIN + _QTY - text_width(quantity.width, _SIZE), y, _SIZE, quantity)
    document.rule(_MARGIN, y + 1.5, _INNER)
    return y + 1.5


def _kept_below(rows: Sequence[_Row], at: int) -> float:
    """Return the height of the rows that stay on the page of the row at an index, below it."""
    last = at
    while rows[last].keeps_with_next and last + 1 < len(rows):
        last += 1
    return sum(row.space + _LEADING for row in rows[at + 1 : last + 1])


def _unit_rows(unit: SlipUnit) -> Iterator[_Row]:
    facts = [f"{unit.code} ({unit.type})"]
    facts += [f"SSCC {sscc_text(unit.sscc)}"] if unit.sscc else []
    facts += [f"{plain(unit.weight_kg)} kg"] if unit.weight_kg is not None else []
    facts += [unit.tracking_number] if unit.tracking_number else []
    for at, line in enumerate(wrap(", ".join(facts), units_of(_INNER, _SIZE), 2, bold=True)):
        yield _Row([_Cell(_CODE, line)], space=0 if at else 2.5, keeps_with_next=True)
    for goods in unit.goods:
        yield from _goods_rows(goods)


def _goods_rows(goods: ShippedGoods) -> Iterator[_Row]:
    columns = (
        (_CODE, wrap(goods.item_code, units_of(_NAME - _CODE - _GAP, _SIZE), _CODE_LINES)),
        (_NAME, wrap(goods.name, units_of(_BATCH - _NAME - _GAP, _SIZE), 4)),
        (_BATCH, wrap(goods.batch or "", units_of(_QTY - 22 - _BATCH, _SIZE), _CODE_LINES)),
    )
    quantity = _Cell(_QTY, shape(plain(goods.qty)), ends_at_x=True)
    for at in range(max(len(lines) for _, lines in columns)):
        cells = [_Cell(x, lines[at]) for x, lines in columns if at < len(lines)]
        yield _Row([*cells, quantity] if at == 0 else cells, space=0 if at else 1)
    if goods.serials:
        text = f"Serials: {', '.join(goods.serials)}"
        width = units_of(_QTY - _NAME, _SIZE)
        for line in wrap(text, width, _SERIAL_LINES):
            yield _Row([_Cell(_NAME, line)])
