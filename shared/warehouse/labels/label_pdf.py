"""The label of a handling unit as PDF."""

from shared.warehouse.labels import label
from shared.warehouse.labels.barcode import Barcode, sscc_barcode
from shared.warehouse.labels.code_label import CodeLabel
from shared.warehouse.labels.models import LabelContent
from shared.warehouse.labels.pdf import PdfDocument
from shared.warehouse.labels.shaping import TextBlock, placed_lines


def label_pdf(content: LabelContent) -> bytes:
    """Return the label of a handling unit as PDF of one page."""
    barcode = sscc_barcode(content.sscc)
    document = PdfDocument(f"{content.code} {barcode.text}", label.WIDTH, label.HEIGHT)
    document.add_page()
    for y in label.RULES:
        document.rule(label.MARGIN, y, label.INNER)
    left = (label.WIDTH - barcode.width * label.MODULE) / 2
    _draw_bars(document, barcode, (left, label.BARS_TOP), label.MODULE, label.BAR_HEIGHT)
    for block in label.text_blocks(content, barcode.text):
        draw_block(document, block)
    return document.data()


def code_label_pdf(code_label: CodeLabel) -> bytes:
    """Return the label of a position or of a product as PDF of one page."""
    size, bars = code_label.size, code_label.bars
    document = PdfDocument(code_label.content.code, size.width, size.height)
    document.add_page()
    if bars:
        _draw_bars(document, bars.barcode, (bars.left, bars.top), bars.module, size.bar_height)
    for block in code_label.text_blocks():
        draw_block(document, block)
    return document.data()


def _draw_bars(
    document: PdfDocument,
    barcode: Barcode,
    place: tuple[float, float],
    module: float,
    height: float,
) -> None:
    left, top = place
    for start, modules in barcode.bars:
        document.rectangle(left + start * module, top, modules * module, height)


def draw_block(document: PdfDocument, block: TextBlock) -> None:
    """Write a text into a document."""
    for line, x, y in placed_lines(block):
        document.text(x, y, block.size, line)
