"""The label of a position or of a product, in three sizes: its parts and where they are.

Both forms, PDF and ZPL, draw the same parts at the same places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from shared.warehouse.labels.barcode import QUIET_ZONE, Barcode, code_barcode, gtin_barcode
from shared.warehouse.labels.models import CodeLabelContent
from shared.warehouse.labels.shaping import POINT, TextBlock

type LabelSize = Literal["small", "medium", "large"]

_MARGIN = 2.5
_LEADING, _BELOW = 1.4, 0.3
"""Distance of two baselines, and how far letters reach below them, in sizes of the text."""
_DOT = 0.125
"""Width of a dot of a printer of 203 dpi: all bars are whole dots wide."""
_LEAST_DOTS, _MOST_DOTS = 2, 4
"""Width of the narrowest bar: narrower ones are not read from paper."""


@dataclass(frozen=True, slots=True)
class Size:
    """A size of labels: lengths in millimetres, sizes of text in points."""

    width: float
    height: float
    title: float
    text: float
    bar_height: float


SIZES: Mapping[LabelSize, Size] = {
    "small": Size(60, 30, 12, 7, 9),
    "medium": Size(100, 50, 22, 10, 18),
    "large": Size(100, 150, 40, 16, 60),
}


@dataclass(frozen=True, slots=True)
class Bars:
    """A barcode at its place; `module` is the width of its narrowest bar."""

    barcode: Barcode
    left: float
    top: float
    module: float


@dataclass(frozen=True, slots=True)
class CodeLabel:
    """The label of a position or of a product."""

    content: CodeLabelContent
    size: Size

    @property
    def bars(self) -> Bars | None:
        """The barcode; None for a code that Code 128 lacks or that is too long for the size."""
        content, size = self.content, self.size
        barcode = gtin_barcode(content.gtin) if content.gtin else code_barcode(content.code)
        if barcode is None:
            return None
        dots = int(size.width / (barcode.width + 2 * QUIET_ZONE) / _DOT)
        if dots < _LEAST_DOTS:
            return None
        module = min(dots, _MOST_DOTS) * _DOT
        return Bars(barcode, (size.width - barcode.width * module) / 2, self._bars_top, module)

    @property
    def _bars_top(self) -> float:
        below = _MARGIN + self.size.text * POINT * _LEADING
        return self.size.height - below - self.size.bar_height

    def text_blocks(self) -> Iterator[TextBlock]:
        """Yield all texts of the label."""
        content, size = self.content, self.size
        inner = size.width - 2 * _MARGIN
        y = _MARGIN + size.title * POINT
        yield TextBlock(content.code, _MARGIN, y, inner, size.title, bold=True)
        for line in content.details:
            y += size.text * POINT * _LEADING
            yield TextBlock(line, _MARGIN, y, inner, size.text)
        if bars := self.bars:
            bottom = size.height - _MARGIN - size.text * POINT * _BELOW
            yield TextBlock(bars.barcode.text, _MARGIN, bottom, inner, size.text, centered=True)
