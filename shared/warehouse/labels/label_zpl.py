"""Labels in ZPL II, for printers of 203 dpi.

The printer draws the barcode and Latin text with its own fonts. Text in other scripts is sent as
bitmaps, because printers have neither fonts nor shaping for them.
"""

from collections.abc import Iterable

from shared.warehouse.labels import label
from shared.warehouse.labels.barcode import Barcode, sscc_barcode
from shared.warehouse.labels.code_label import CodeLabel
from shared.warehouse.labels.models import LabelContent
from shared.warehouse.labels.raster import bitmap_of
from shared.warehouse.labels.shaping import POINT, Line, TextBlock, placed_lines

_DOTS = 8
"""Dots per millimetre: 203 dpi."""
_RULE = 2
_FONT_HEIGHT = 1.25
"""Height of the printer's font 0, in font sizes of the same letters."""
_LAST_LATIN = "\u00ff"


def label_zpl(content: LabelContent) -> str:
    """Return the label of a handling unit as ZPL, to be sent to a printer as UTF-8."""
    barcode = sscc_barcode(content.sscc)
    left = (label.WIDTH - barcode.width * label.MODULE) / 2
    bars = _bars(barcode, (left, label.BARS_TOP), label.MODULE, label.BAR_HEIGHT)
    rules = [
        f"^FO{_dots(label.MARGIN)},{_dots(y)}^GB{_dots(label.INNER)},{_RULE},{_RULE}^FS"
        for y in label.RULES
    ]
    texts = _fields(label.text_blocks(content, barcode.text))
    return _document(label.WIDTH, label.HEIGHT, [*rules, *texts, bars])


def code_labels_zpl(labels: Iterable[CodeLabel]) -> str:
    """Return labels of positions or of products as ZPL, to be sent to a printer as UTF-8."""
    return "".join(map(_code_label_zpl, labels))


def _code_label_zpl(code_label: CodeLabel) -> str:
    size, bars = code_label.size, code_label.bars
    fields = _fields(code_label.text_blocks())
    if bars:
        fields.append(_bars(bars.barcode, (bars.left, bars.top), bars.module, size.bar_height))
    return _document(size.width, size.height, fields)


def _document(width: float, height: float, fields: Iterable[str]) -> str:
    size = f"^PW{_dots(width)}^LL{_dots(height)}^LH0,0"
    return "\n".join(["^XA^CI28", size, *fields, "^XZ", ""])


def _bars(barcode: Barcode, place: tuple[float, float], module: float, height: float) -> str:
    left, top = place
    return (
        f"^FO{_dots(left)},{_dots(top)}^BY{_dots(module)}"
        f"^BCN,{_dots(height)},N,N,N^FH^FD{_escaped(barcode.zpl)}^FS"
    )


def _fields(blocks: Iterable[TextBlock]) -> list[str]:
    lines = (
        _field(line, _dots(x), _dots(y), block.size * POINT * _DOTS)
        for block in blocks
        for line, x, y in placed_lines(block)
    )
    return [one for one in lines if one]


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
