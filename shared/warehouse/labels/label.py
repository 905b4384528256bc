"""The logistic label of GS1 for a handling unit, 100 x 150 mm: its parts and where they are.

Both forms, PDF and ZPL, draw the same parts at the same places.
"""

from collections.abc import Iterator, Sequence

from shared.kernel.fields import plain
from shared.warehouse.labels.models import LabelContent, ShippedGoods
from shared.warehouse.labels.shaping import TextBlock

WIDTH, HEIGHT = 100, 150
"""Size of the label in millimetres."""
MARGIN = 5
INNER = WIDTH - 2 * MARGIN
MODULE = 0.5
"""Width of the narrowest bar: GS1 allows 0.495 to 1.016 mm, and printers of 203 dpi have 8 dots per
mm."""
BAR_HEIGHT = 32
"""GS1 asks for at least 31.75 mm."""
BARS_TOP = 108
"""Where the bars begin; a quiet zone of 10 modules is left and right of them."""
RULES = (17, 57, 75, 102)
"""Where lines divide the label."""
MAX_GOODS = 5
"""Lines of the summary, one for each product or batch of it; others are counted."""


def text_blocks(content: LabelContent, sscc_text: str) -> Iterator[TextBlock]:
    """Yield all texts of a label."""
    half, right = INNER / 2 - 2, MARGIN + INNER / 2 + 2
    if content.sender:
        yield _caption("FROM", MARGIN, 7)
        yield TextBlock(content.sender, MARGIN, 11, half, 9, lines=2)
    yield _caption("DATE", right, 7)
    yield TextBlock(content.day.isoformat(), right, 11, half, 9)
    yield _caption("SHIP TO", MARGIN, 21)
    yield TextBlock(content.recipient, MARGIN, 28, INNER, 15, lines=2, bold=True)
    address = address_lines(content.ship_to, 5)
    size, step = (11, 5.0) if len(address) < 5 else (9.5, 4.0)  # noqa: PLR2004 - smaller lines
    for at, line in enumerate(address):
        yield TextBlock(line, MARGIN, 40 + at * step, INNER, size)
    yield _caption("ORDER", MARGIN, 61)
    yield TextBlock(content.document, MARGIN, 66, half, 10, bold=True)
    if content.carrier or content.tracking_number:
        yield _caption("CARRIER", right, 61)
        yield TextBlock(content.carrier or "", right, 66, half, 10, bold=True)
        yield TextBlock(content.tracking_number or "", right, 72, half, 9)
    weight = f", {plain(content.weight_kg)} kg" if content.weight_kg is not None else ""
    yield TextBlock(f"{content.code}{weight}", MARGIN, 72, half, 9)
    yield _caption("CONTENT", MARGIN, 79)
    for at, line in enumerate(summary(content.goods)):
        yield TextBlock(line, MARGIN, 83.5 + at * 4, INNER, 8.5)
    yield _caption("SSCC", MARGIN, 106)
    yield TextBlock(sscc_text, MARGIN, BARS_TOP + BAR_HEIGHT + 5, INNER, 12, centered=True)


def _caption(text: str, x: float, y: float) -> TextBlock:
    return TextBlock(text, x, y, INNER / 2, 6)


def address_lines(ship_to: str, most: int) -> list[str]:
    """Return an address in at most `most` lines; the last one has what does not fit otherwise."""
    lines = [line.strip() for line in ship_to.splitlines() if line.strip()]
    return [*lines[: most - 1], ", ".join(lines[most - 1 :])] if len(lines) > most else lines


def summary(goods: Sequence[ShippedGoods]) -> list[str]:
    """Return what a handling unit contains in at most MAX_GOODS lines."""
    lines = [
        f"{plain(one.qty)} \N{MULTIPLICATION SIGN} {one.name}"
        + (f", batch {one.batch}" if one.batch else "")
        for one in goods
    ]
    if len(lines) <= MAX_GOODS:
        return lines
    hidden = len(lines) - MAX_GOODS + 1
    return [*lines[: MAX_GOODS - 1], f"and {hidden} more"]
