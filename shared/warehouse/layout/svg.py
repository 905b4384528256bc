"""SVG elements as text. All values are escaped."""

import re
from html import escape

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOR = re.compile(r"#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20}", re.IGNORECASE)


def text_of(value: object) -> str:
    """Return a value escaped as character data or attribute value."""
    return escape(_NO_XML.sub("\ufffd", str(value)))


def number(value: float) -> str:
    """Return a coordinate with at most two decimals, which is finer than a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def color(value: str | None, fallback: str) -> str:
    """Return a color that is hexadecimal or a name; otherwise `fallback`."""
    return value if value and _COLOR.fullmatch(value) else fallback


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """Return an element. `content` is SVG; `_` in the name of an attribute becomes `-`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="'
        f'{number(value) if isinstance(value, float) else text_of(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def label(text: object, **attributes: object) -> str:
    """Return a text element."""
    return element("text", text_of(text), **attributes)


def haloed(text: object, *, font_size: float, **attributes: object) -> str:
    """Return a text with a white halo.

    The halo is a separate text element, because not every program supports `paint-order`.
    """
    halo = attributes | {"fill": "#ffffff", "stroke": "#ffffff", "stroke_width": font_size / 4}
    return label(
        text, font_size=font_size, stroke_linejoin="round", aria_hidden="true", **halo
    ) + label(text, font_size=font_size, **attributes)
