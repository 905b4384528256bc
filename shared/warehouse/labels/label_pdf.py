"""The label of a handling unit as PDF."""

from shared.warehouse.labels import label
from shared.warehouse.labels.barcode import sscc_bars, sscc_text
from shared.warehouse.labels.models import LabelContent
from shared.warehouse.labels.pdf import PdfDocument
from shared.warehouse.labels.shaping import TextBlock, placed_lines


def label_pdf(content: LabelContent) -> bytes:
    """Return the label of a handling unit as PDF of one page."""
    text, (bars, width) = sscc_text(content.sscc), sscc_bars(content.sscc)
    document = PdfDocument(f"{content.code} {text}", label.WIDTH, label.HEIGHT)
    document.add_page()
    for y in label.RULES:
        document.rule(label.MARGIN, y, label.INNER)
    left = (label.WIDTH - width * label.MODULE) / 2
    for start, modules in bars:
        document.rectangle(
            left + start * label.MODULE, label.BARS_TOP, modules * label.MODULE, label.BAR_HEIGHT
        )
    for block in label.text_blocks(content, text):
        draw_block(document, block)
    return document.data()


def draw_block(document: PdfDocument, block: TextBlock) -> None:
    """Write a text into a document."""
    for line, x, y in placed_lines(block):
        document.text(x, y, block.size, line)
