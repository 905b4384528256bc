"""Charts as SVG, written with equal text for equal figures.

The colours are readable on light and on dark pages; text follows the colour scheme of the reader.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _MARGIN, _TOP = 860, 12, 44
_ROW, _BAR, _LABELS = 18, 12, 300
_PLOT_HEIGHT, _PLOT_LEFT, _PLOT_RIGHT = 300, 64, 250
_COLOURS = (
    "#2f81f7", "#d9822b", "#3fa45b", "#c2548f", "#8a6fe0", "#00979d", "#b8860b", "#d1495b",
)  # fmt: skip
_STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.axis { stroke: #8b949e; stroke-width: 1; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }
</style>"""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: the name of its file without extension, its title, and its drawing."""

    name: str
    title: str
    size: tuple[int, int]
    shapes: Sequence[str]

    def svg(self, description: str) -> str:
        """Return the file; `description` says when it was measured."""
        width, height = self.size
        return "\n".join(
            [
                '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc"',
                f' viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
                f'<title id="title">{escape(self.title)}</title>',
                f'<desc id="desc">{escape(description)}</desc>',
                _STYLE,
                _text(_MARGIN, 20, self.title, "title"),
                *self.shapes,
                "</svg>\n",
            ]
        )


def bars(
    name: str,
    title: str,
    rows: Mapping[str, Sequence[float]],
    *,
    parts: Sequence[str] = ("",),
    form: str = "{:g}",
) -> Chart:
    """Return a chart with one horizontal bar per row.

    Args:
        name: Name of the file.
        title: Title of the chart, with the unit.
        rows: Label of a row → the values of its parts, which are stacked.
        parts: What the parts are; one part needs no name.
        form: Format of the sum at the end of a bar.
    """
    legend = 20 if len(parts) > 1 else 0
    longest = max(map(sum, rows.values()))
    scale = (_WIDTH - _LABELS - 90) / (longest or 1)
    shapes = list(_legend(parts)) if legend else []
    top = _TOP + legend
    for number, (label, values) in enumerate(rows.items()):
        y = top + number * _ROW
        shapes.append(_text(_LABELS - 6, y + 10, label, anchor="end"))
        x = float(_LABELS)
        for colour, value in zip(_COLOURS, values, strict=False):
            width = value * scale
            shapes.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{colour}"/>'
            )
            x += width
        shapes.append(_text(round(x) + 5, y + 10, form.format(sum(values))))
    return Chart(name, title, (_WIDTH, top + len(rows) * _ROW + _MARGIN), shapes)


def _legend(parts: Sequence[str]) -> Iterator[str]:
    x = _LABELS
    for colour, part in zip(_COLOURS, parts, strict=False):
        yield f'<rect x="{x}" y="32" width="{_BAR}" height="{_BAR}" fill="{colour}"/>'
        yield _text(x + 17, 42, part)
        x += 40 + 7 * len(part)


def lines(
    name: str, title: str, series: Mapping[str, Mapping[float, float]], *, across: str
) -> Chart:
    """Return a chart of lines with logarithmic axes.

    Args:
        name: Name of the file.
        title: Title of the chart, with the unit of the vertical axis.
        series: Name of a line → its points; all coordinates are positive.
        across: What the horizontal axis shows.
    """
    points = [point for line in series.values() for point in line.items()]
    left, right = _decades([x for x, _ in points])
    low, high = _decades([y for _, y in points])
    end, bottom = _WIDTH - _PLOT_RIGHT, _TOP + _PLOT_HEIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        along = (math.log10(x) - left) / (right - left)
        up = (math.log10(y) - low) / (high - low)
        return _PLOT_LEFT + along * (end - _PLOT_LEFT), bottom - up * _PLOT_HEIGHT

    shapes = []
    for power in range(low, high + 1):
        y = round(place(10.0**left, 10.0**power)[1])
        shapes.append(f'<path class="axis" opacity="0.4" d="M{_PLOT_LEFT} {y}H{end}"/>')
        shapes.append(_text(_PLOT_LEFT - 6, y + 4, f"{10.0**power:,g}", anchor="end"))
    for power in range(left, right + 1):
        x = round(place(10.0**power, 10.0**low)[0])
        shapes.append(_text(x, bottom + 18, f"{10**power:,}", anchor="middle"))
    shapes.append(_text((_PLOT_LEFT + end) // 2, bottom + 38, across, anchor="middle"))
    for number, (label, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        dash = ' stroke-dasharray="6 4"' if number >= len(_COLOURS) else ""
        places = [place(x, y) for x, y in sorted(line.items())]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        shapes.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y_key = _TOP + 4 + number * _ROW
        shapes.append(f'<rect x="{end + 20}" y="{y_key}" width="12" height="4" fill="{colour}"/>')
        shapes.append(_text(end + 38, y_key + 7, label))
    height = max(bottom + 50, _TOP + len(series) * _ROW + _MARGIN)
    return Chart(name, title, (_WIDTH, height), shapes)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten around positive values, at least one decade."""
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def _text(x: int, y: int, text: str, kind: str = "", anchor: str = "") -> str:
    attributes = (f' class="{kind}"' if kind else "") + (
        f' text-anchor="{anchor}"' if anchor else ""
    )
    return f'<text x="{x}" y="{y}"{attributes}>{escape(text)}</text>'
