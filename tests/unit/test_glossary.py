"""The glossary names modules that exist, each term once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ROWS = re.findall(
    r"^\| (.+?) \| (.+?) \| `(.+?)`(?:, .+)? \|$",
    (ROOT / "docs/reference/glossary.md").read_text(),
    re.MULTILINE,
)


def test_every_term_names_a_place_that_exists() -> None:
    assert len(_ROWS) > 60
    assert [place for _, _, place in _ROWS if not (ROOT / place).exists()] == []


def test_every_term_is_explained_once_and_in_order() -> None:
    terms = [term for term, _, _ in _ROWS]
    assert len(set(terms)) == len(terms)
    trade = terms[: terms.index("work record") + 1]
    architecture = terms[len(trade) :]
    assert trade == sorted(trade, key=str.casefold)
    assert architecture == sorted(architecture, key=str.casefold)
