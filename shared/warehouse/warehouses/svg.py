"""Elements of a drawing as SVG text; whatever they are given is made harmless."""

import re
from html import escape

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOR = re.compile(r"#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20}", re.IGNORECASE)


def text_of(value: object) -> str:
    """Write a value as character data or as an attribute's value."""
    return escape(_NO_XML.sub("\ufffd", str(value)))


def number(value: float) -> str:
    """Write a coordinate: hundredths are finer than anyone sees."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def color(value: str | None, otherwise: str) -> str:
    """Take a colour as hexadecimal or by its name; what is neither is replaced."""
    return value if value and _COLOR.fullmatch(value) else otherwise


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """Write an element; `content` is SVG already, `_` in a name of an attribute is `-`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="'
        f'{number(value) if isinstance(value, float) else text_of(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def label(text: object, **attributes: object) -> str:
    """Write a text."""
    return element("text", text_of(text), **attributes)


def haloed(text: object, *, font_size: float, **attributes: object) -> str:
    """Write a text set off from what it lies on.

    The halo is a text of its own: not every program knows the order of painting.
    """
    halo = attributes | {"fill": "#ffffff", "stroke": "#ffffff", "stroke_width": font_size / 4}
    return label(
        text, font_size=font_size, stroke_linejoin="round", aria_hidden="true", **halo
    ) + label(text, font_size=font_size, **attributes)
