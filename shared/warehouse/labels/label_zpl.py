"""The label of a handling unit in ZPL II, for printers of 203 dpi.

The printer draws the barcode and Latin text with its own fonts. Text in other scripts is sent as
bitmaps, because printers have neither fonts nor shaping for them.
"""

from shared.warehouse.labels import label
from shared.warehouse.labels.barcode import APPLICATION_IDENTIFIER, sscc_bars, sscc_text
from shared.warehouse.labels.models import LabelContent
from shared.warehouse.labels.raster import bitmap_of
from shared.warehouse.labels.shaping import POINT, Line, placed_lines

_DOTS = 8
"""Dots per millimetre: 203 dpi."""
_RULE = 2
_START_C_FNC1 = ">;>8"
"""Start in code set C and the function character that makes a Code 128 a GS1-128."""
_FONT_HEIGHT = 1.25
"""Height of the printer's font 0, in font sizes of the same letters."""
_LAST_LATIN = "\u00ff"


def label_zpl(content: LabelContent) -> str:
    """Return the label of a handling unit as ZPL, to be sent to a printer as UTF-8."""
    text, (_, modules) = sscc_text(content.sscc), sscc_bars(content.sscc)
    left = (label.WIDTH - modules * label.MODULE) / 2
    digits = APPLICATION_IDENTIFIER + content.sscc
    bars = (
        f"^FO{_dots(left)},{_dots(label.BARS_TOP)}^BY{_dots(label.MODULE)}"
        f"^BCN,{_dots(label.BAR_HEIGHT)},N,N,N^FD{_START_C_FNC1}{digits}^FS"
    )
    rules = [
        f"^FO{_dots(label.MARGIN)},{_dots(y)}^GB{_dots(label.INNER)},{_RULE},{_RULE}^FS"
        for y in label.RULES
    ]
    texts = [
        _field(line, _dots(x), _dots(y), block.size * POINT * _DOTS)
        for block in label.text_blocks(content, text)
        for line, x, y in placed_lines(block)
    ]
    size = f"^PW{_dots(label.WIDTH)}^LL{_dots(label.HEIGHT)}^LH0,0"
    return "\n".join(["^XA^CI28", size, *rules, *filter(None, texts), bars, "^XZ", ""])


def _field(line: Line, x: int, y: int, dots_per_em: float) -> str:
    """Return the field of a line whose left end and baseline are at (x, y).

    It is empty if the line has only characters that print nothing, such as zero-width spaces.
    """
    text = "".join(glyph.text for run in line.runs for glyph in run.glyphs)
    if all(char <= _LAST_LATIN for char in text):
        height = round(dots_per_em * _FONT_HEIGHT)
        return f"^FT{x},{y}^A0N,{height},{height}^FH^FD{_escaped(text)}^FS"
    bitmap = bitmap_of(line, dots_per_em)
    if not bitmap.rows:
        return ""
    size = sum(map(len, bitmap.rows))
    data = b"".join(bitmap.rows).hex().upper()
    left, top = max(0, x + bitmap.left), max(0, y - bitmap.top)
    return f"^FO{left},{top}^GFA,{size},{size},{len(bitmap.rows[0])},{data}^FS"


def _escaped(text: str) -> str:
    """Write the characters of commands as hexadecimal numbers (^FH)."""
    return "".join(f"_{ord(char):02X}" if char in "^~_\\" else char for char in text)


def _dots(millimetres: float) -> int:
    return round(millimetres * _DOTS)
