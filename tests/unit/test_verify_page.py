"""docs/operating/verify.md explains every kind of finding."""

import re
from pathlib import Path

from operations.verify import stock_rules
from operations.verify.advice import advice
from tests.integration.verify.plants import PLANTS

ROOT = Path(__file__).parents[2]
_PAGE = (ROOT / "docs" / "operating" / "verify.md").read_text(encoding="utf-8")
_ROWS = re.findall(r"^\| (`[a-z_.`, ]+`) \| .+ \| (.+) \|$", _PAGE, re.MULTILINE)
_EXPLAINED = {
    kind: answer for kinds, answer in _ROWS for kind in re.findall(r"`([a-z_.]+)`", kinds)
}
_NOT_KINDS = {"tenant.changed"}
_ALWAYS_REPAIRED = {"stock.status", "register.wrong", "register.orphan"}
"""Kinds in rows with another one that is not."""


def test_page_explains_every_kind_that_the_code_names() -> None:
    named = {
        kind
        for path in (ROOT / "operations" / "verify").glob("*.py")
        for kind in re.findall(r'"([a-z_]+\.[a-z_]+)"', path.read_text(encoding="utf-8"))
    } - _NOT_KINDS
    families = {f"{kind}.{name}" for kind in ("level", "total") for name in stock_rules.QUANTITIES}
    families |= {"level.missing", "total.missing", "duplicate"}
    assert (named | families) - _EXPLAINED.keys() == set()


def test_page_explains_every_kind_that_the_tests_plant() -> None:
    planted = {kind for plant in PLANTS for kind in plant.finds}
    assert len(PLANTS) > len(planted) > 60
    assert planted - _EXPLAINED.keys() == set()


def test_page_gives_the_advice_of_the_command() -> None:
    on_page = {
        kind: match[1]
        for kind, answer in _EXPLAINED.items()
        if (match := re.search(r"\bno: (.+)", answer)) and kind not in _ALWAYS_REPAIRED
    }
    assert {kind: advice(kind) for kind in on_page} == on_page
    assert {kind for kind, answer in _EXPLAINED.items() if answer.startswith("no")} <= set(on_page)


def test_page_says_which_kinds_are_never_repaired() -> None:
    never = {kind for kind, answer in _EXPLAINED.items() if answer.startswith("no")}
    repaired = {kind for plant in PLANTS for kind in plant.finds - plant.lasting}
    assert never & repaired == set()
