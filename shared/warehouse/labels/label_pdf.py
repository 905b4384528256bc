"""The label of a handling unit as PDF."""

from shared.warehouse.labels import label
from shared.warehouse.labels.barcode import sscc_bars, sscc_text, width_of
from shared.warehouse.labels.models import LabelContent
from shared.warehouse.labels.pdf import PdfDocument, units_of
from shared.warehouse.labels.pdf import width_of as text_width
from shared.warehouse.labels.shaping import wrap


def label_pdf(content: LabelContent) -> bytes:
    """Return the label of a handling unit as PDF of one page.

    Raises:
        ValueError: The SSCC is none.
    """
    text, bars = sscc_text(content.sscc), sscc_bars(content.sscc)
    document = PdfDocument(f"{content.code} {text}", label.WIDTH, label.HEIGHT)
    document.add_page()
    for y in label.RULES:
        document.rule(label.MARGIN, y, label.INNER)
    left = (label.WIDTH - width_of(bars) * label.MODULE) / 2
    for start, width in bars:
        document.rectangle(
            left + start * label.MODULE, label.BARS_TOP, width * label.MODULE, label.BAR_HEIGHT
        )
    for block in label.text_blocks(content, text):
        draw_block(document, block)
    return document.data()


def draw_block(document: PdfDocument, block: label.TextBlock) -> int:
    """Write a text into a document; return the number of its lines."""
    lines = wrap(block.text, units_of(block.width, block.size), block.lines, bold=block.bold)
    for at, line in enumerate(lines):
        free = block.width - text_width(line.width, block.size)
        shift = free / 2 if block.centered else (free if line.right_to_left else 0)
        document.text(block.x + shift, block.y + at * block.leading, block.size, line)
    return len(lines)
