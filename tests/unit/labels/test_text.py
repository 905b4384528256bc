"""Directions, fonts and lines of text on labels."""

import pytest

from shared.warehouse.labels.direction import is_right_to_left, levels, visual_order
from shared.warehouse.labels.shaping import Line, fit, shape, wrap
from tests.unit.labels.examples import ARABIC_NAME, CHINESE_ADDRESS


def _shown(text: str) -> str:
    """Return a text in the order in which it is shown; letters of right-to-left runs reversed."""
    found = levels(text, right_to_left=is_right_to_left(text))
    return "".join(text[place] for place in visual_order(found))


# From the rules of UAX 9 with Hebrew letters, whose order is easy to read: א ב ג are A B C.
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc 12", "abc 12"),
        ("אבג", "גבא"),
        ("abc אבג def", "abc גבא def"),
        ("אבג abc", "abc גבא"),
        ("אב 12 ג", "ג 12 בא"),
        ("אב 1.5-2,0 ג", "ג 1.5-2,0 בא"),
        ("abc אב 12, def", "abc 12 בא, def"),
        ("אב (גד) ה", "ה )דג( בא"),
        ("אב abc (def) ג", "ג abc (def) בא"),
        ("אב (abc) def", "def )abc( בא"),
        ("אב abc [(12) ג] def", "def ]ג )12([ abc בא"),
        ("abc (אב] גד) ef", "abc (דג ]בא) ef"),
        ("אב $$5", "$$5 בא"),
        ("٢٫٥ مم", "مم ٢٫٥"),
        ("50% אב", "בא 50%"),
    ],
)
def test_text_is_shown_in_the_order_of_unicode(text: str, shown: str) -> None:
    assert _shown(text) == shown


def _fonts(line: Line) -> list[int]:
    return sorted({run.typeface.number for run in line.runs})


@pytest.mark.parametrize(
    ("text", "fonts"),
    [
        ("Ünïted Ελλάδα Москва", [0]),
        (ARABIC_NAME, [0, 1]),
        (CHINESE_ADDRESS, [0, 2]),
        ("\U0001f4e6", [0]),
    ],
)
def test_each_letter_has_the_first_font_that_has_it(text: str, fonts: list[int]) -> None:
    assert _fonts(shape(text)) == fonts


def test_arabic_letters_are_joined() -> None:
    alone = sum(shape(letter).width for letter in "شركة")
    assert shape("شركة").width < alone
    assert shape("شركة").right_to_left


def test_a_long_text_breaks_at_spaces_and_ends_in_an_ellipsis() -> None:
    text, width = "one two three four five six seven", 6_000

    lines = wrap(text, width, 3)

    assert [_text(line) for line in lines] == ["one two", "three four", "five six…"] or len(
        lines
    ) == 3
    assert all(line.width <= width for line in lines)
    assert _text(lines[-1]).endswith("…")
    assert _text(fit("short", width)) == "short"
    assert len(_text(wrap("x" * 40, width, 9)[0])) > 5, "a long word breaks anywhere"
    assert "".join(_text(line) for line in wrap(CHINESE_ADDRESS, width, 9)) == CHINESE_ADDRESS
    assert wrap("  ", width, 3) == []


def _text(line: Line) -> str:
    return "".join(glyph.text for run in line.runs for glyph in run.glyphs)
