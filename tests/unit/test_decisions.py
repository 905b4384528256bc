"""docs/internals/decisions.md has one form, and names only what exists."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/internals/decisions.md").read_text(encoding="utf-8")
_LONGEST_PAGE = 70_000
_LONGEST_DECISION = 1_100

_ENTRY = re.compile(
    r"^### <a id=\"d-(?P<anchor>\d{3})\"></a>D-(?P<number>\d{3}): (?P<title>.+)\n"
    r"\*(?P<date>\d{4}-\d\d-\d\d)(, revised (?P<revised>\d{4}-\d\d-\d\d))? · "
    r"(?P<state>in force( until [^*]+)?|provisional: [^*]+)\.\* ",
)
_CODE = (
    "shared", "functions", "operations", "cli", "local", "tools", "layers", "deployment", ".ci",
    ".github", "Makefile", "template.yaml", "pyproject.toml",
)  # fmt: skip
"""Files and folders in which a name of the page must occur as code, not only in a comment."""
_SUFFIXES = {".py", ".sh", ".yaml", ".yml", ".toml", ".md", ""}
_CHECKED_AS_REFERENCES = re.compile(r"(GET|POST|PUT|PATCH|DELETE) /|(stowage|make) ")
"""Routes and commands, which test_docs_references.py compares with the repository."""
_OF_OTHERS = {
    "--on-failure DELETE", "-X lazy_imports=all", "AutoPublishCodeSha256", "Rate exceeded",
    "STRICT", "subtests",
}  # fmt: skip
"""Names of libraries, AWS and standards that a rejected way would have used."""


class Entry(NamedTuple):
    """A decision: its subject, its number and its text."""

    subject: str
    number: str
    text: str


def entries(page: str = PAGE) -> list[Entry]:
    """Return the decisions of the page in their order."""
    return [
        Entry(subject.partition("\n")[0], re.findall(r"D-(\d{3}):", entry)[0], f"### {entry}")
        for subject in page.split("\n## ")[1:]
        for entry in subject.split("\n### ")[1:]
    ]


def faults(entry: Entry) -> list[str]:
    """Return what is wrong with the form of a decision."""
    head = _ENTRY.match(entry.text)
    if head is None:
        return ["heading with anchor, then *DATE[, revised DATE] · STATE.* and the text"]
    found = []
    if head["anchor"] != head["number"]:
        found.append("the anchor has another number")
    if (head["revised"] or "9999") <= head["date"]:
        found.append("revised before it was decided")
    if "\n**Rejected.** " not in entry.text:
        found.append("no line with **Rejected.**")
    if len(entry.text) > _LONGEST_DECISION:
        found.append(f"more than {_LONGEST_DECISION} characters")
    return found


def files(*names: str) -> Iterator[Path]:
    """Yield files of the root directory, and those in its folders."""
    for name in names:
        for path in (ROOT / name, *(ROOT / name).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                yield path


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def code() -> str:
    """Return all code without comments and docstrings."""
    text = "\n".join(read(path) for path in files(*_CODE) if path.suffix != ".md")
    return re.sub(r'"""[\s\S]*?"""|(?<!\S)# .*$', "", text, flags=re.MULTILINE)


def unknown_names(text: str) -> set[str]:
    """Return the names in backticks that are neither in the code nor names of others."""
    names = {
        name
        for name in re.findall(r"`([^`]+)`", text.replace("\n", " "))
        if not _CHECKED_AS_REFERENCES.match(name) and name not in _OF_OTHERS
    }
    return {name for name in names if not (ROOT / name).exists() and not _occurs(name)}


def _occurs(name: str) -> bool:
    """Return whether a name is in the code as a whole word."""
    at = code().find(name)
    while at >= 0:
        around = code()[at - 1], code()[at + len(name)]
        if not any(character.isalnum() or character == "_" for character in around):
            return True
        at = code().find(name, at + 1)
    return False


def test_each_decision_has_date_state_and_what_was_rejected() -> None:
    wrong = {entry.number: faults(entry) for entry in entries()}

    assert {number: found for number, found in wrong.items() if found} == {}


def test_contents_list_each_decision_once_under_its_subject() -> None:
    listed = [
        (subject, number)
        for subject, numbers in re.findall(r"^\| \[(.+?)\]\(#.+?\) \| (.+) \|$", PAGE, re.MULTILINE)
        for number in re.findall(r"\[(\d{3})\]\(#d-\1\)", numbers)
    ]

    assert listed == [(entry.subject, entry.number) for entry in entries()]
    assert len({number for _, number in listed}) == len(listed)


def test_page_is_short_enough_to_be_read() -> None:
    assert len(PAGE) <= _LONGEST_PAGE


def test_code_and_pages_cite_only_decisions_that_the_page_has() -> None:
    texts = [read(path) for path in files(*_CODE, "tests", "docs") if path != Path(__file__)]
    texts += [read(path) for path in ROOT.glob("*.md")]
    cited = set(re.findall(r"D-(\d{3})(?![\w-])", "\n".join(texts)))

    assert cited - {entry.number for entry in entries()} == set()


def test_names_exist() -> None:
    assert unknown_names(PAGE) == set()


def test_names_that_do_not_exist_are_found() -> None:
    invented = {
        "shared/no_such_file.py", "NoSuchClass", "no_such_function", "NO_SUCH_SETTING",
        "Store.no_such_method", "ApiHandle",
    }  # fmt: skip

    assert unknown_names(" ".join(f"`{name}`" for name in invented)) == invented
