"""The label of a handling unit as PDF."""

from collections.abc import Sequence

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


def code_labels_pdf(labels: Sequence[CodeLabel]) -> bytes:
    """Return labels of positions or of products, all of one size, as PDF with a page for each."""
    first, size = labels[0].content.code, labels[0].size
    title = f"{first} + {len(labels) - 1}" if len(labels) > 1 else first
    document = PdfDocument(title, size.width, size.height)
    for code_label in labels:
        document.add_page()
        if bars := code_label.bars:
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
