"""What the pages name exists: files, tests, make targets, commands, routes, codes and rights."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from cli.main import main as stowage
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.kernel.errors import CODES

ROOT = Path(__file__).parents[2]
_GENERATED = {"THIRD-PARTY.md", "performance.md"}
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "sample/*.md",
        "clients/*/*.md",
        "examples/**/*.md",
        ".github/**/*.md",
    )
    for path in ROOT.glob(pattern)
    if path.name not in _GENERATED
}
_OAUTH_CODES = {
    "invalid_client", "invalid_grant", "invalid_request", "invalid_scope", "unauthorized_client",
    "unsupported_grant_type",
}  # fmt: skip
"""Codes of RFC 6749, which the token routes answer outside the error envelope."""
_EXAMPLE_NAMES = {"test_second_commit_of_an_import_is_refused", "GREATER_THAN"}
"""A name of a test, and an operator of AWS Budgets."""
_STATES_OF_STACKS = {
    "DELETE_COMPLETE", "DELETE_FAILED", "DELETE_SKIPPED", "REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE",
    "ROLLBACK_FAILED", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED",
}  # fmt: skip
"""States of CloudFormation, which the code does not need."""
_FOLDERS = "clients|shared|functions|tests|tools|local|operations|cli|docs|sample|examples|layers"

type Check = Callable[[str, str], Iterator[str]]


def _anchors(text: str) -> set[str]:
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def broken_links(page: str, text: str) -> Iterator[str]:
    """Yield relative links to files or sections that do not exist."""
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        is_page = target.suffix == ".md" and target.exists()
        if not target.exists() or (
            anchor and is_page and anchor not in _anchors(target.read_text())
        ):
            yield link


def missing_files(page: str, text: str) -> Iterator[str]:
    """Yield files and folders of the repository that do not exist."""
    if page == "CHANGELOG.md":
        return  # It names what earlier versions had.
    for path in re.findall(rf"`((?:{_FOLDERS})/[^`\s*<…]*)`", text):
        if not (ROOT / path.partition("::")[0]).exists():
            yield path


def missing_tests(_: str, text: str) -> Iterator[str]:
    """Yield tests, named as `FILE::TEST`, that do not exist."""
    for file, test in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text):
        path = ROOT / file
        code = path.read_text(encoding="utf-8") if path.exists() else ""
        if not re.search(rf"^(async )?def {test}\(", code, re.MULTILINE):
            yield f"{file}::{test}"


def unknown_make_targets(_: str, text: str) -> Iterator[str]:
    """Yield make targets that the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))
    named = re.findall(r"(?:`|^)make ([a-z0-9-]+)", text, re.MULTILINE)
    yield from (f"make {name}" for name in named if name not in targets)


def unknown_commands(_: str, text: str) -> Iterator[str]:
    """Yield commands of `stowage` that do not exist, or whose options do not."""
    for line in re.findall(r"(?:`|^)stowage ([a-z-][^`\n#]*)", text, re.MULTILINE):
        words = line.split()
        command: click.Command = stowage
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        known = {"--help", *_options(command)}
        while isinstance(command, click.Group) and words and words[0] in command.commands:
            command = command.commands[words.pop(0)]
            known |= _options(command)
        names_none = isinstance(command, click.Group) and words and not words[0].startswith("-")
        if names_none or options - known:
            yield f"stowage {line}"


def _options(command: click.Command) -> set[str]:
    return {name for one in command.params for name in (*one.opts, *one.secondary_opts)}


def unknown_routes(_: str, text: str) -> Iterator[str]:
    """Yield routes that the API does not have. `me` is the id of the caller."""
    document = json.loads((ROOT / "docs/reference/openapi.json").read_text(encoding="utf-8"))
    routes = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`\s?]*)", text):
        if f"{method} {path.replace('/me', '/{id}')}" not in routes:
            yield f"{method} {path}"


def wrong_codes(_: str, text: str) -> Iterator[str]:
    """Yield error codes that do not exist, or that have another status."""
    for status, code in re.findall(r"\b([45]\d\d) `([a-z_]+)`", text):
        if code == "import_refused" and status in {"409", "413"}:  # instead of its own 422
            continue
        if code not in _OAUTH_CODES and (code not in CODES or CODES[code].status != int(status)):
            yield f"{status} {code}"


def unknown_rights(_: str, text: str) -> Iterator[str]:
    """Yield scopes and permissions that do not exist."""
    scopes = re.findall(r"`([a-z-]+:(?:read|write|manage))`", text)
    permissions = re.findall(r"`([a-z-]+\.(?:manage|run|grant))`", text)
    yield from set(scopes) - set(SCOPES)
    yield from set(permissions) - set(PERMISSIONS)


_OTHER_FILES = (
    "Makefile", "template.yaml", "pyproject.toml", "samconfig.toml",
    ".github/workflows/stowage.yml",
)  # fmt: skip
"""Files beside the packages in which names occur."""


@cache
def _code() -> str:
    """Return the text of all code, in which every name that a page quotes must occur."""
    files = [ROOT / name for name in _OTHER_FILES]
    folders = (ROOT / folder for folder in (*_FOLDERS.split("|"), ".ci"))
    files += [
        path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".sh"}
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def unknown_names(_: str, text: str) -> Iterator[str]:
    """Yield fields, functions and environment variables that the code does not have."""
    names = set(re.findall(r"`([a-z]+_[a-z_]+)`", text))
    names |= set(re.findall(r"\b[A-Z]{2,}_[A-Z_]+\b", text))
    others = _EXAMPLE_NAMES | _STATES_OF_STACKS
    yield from (name for name in names if name not in _code() and name not in others)


@pytest.mark.parametrize(
    "check",
    [
        broken_links, missing_files, missing_tests, unknown_make_targets, unknown_commands,
        unknown_routes, wrong_codes, unknown_rights, unknown_names,
    ],
)  # fmt: skip
def test_pages_name_only_what_exists(check: Check) -> None:
    wrong = {page: sorted(check(page, text)) for page, text in PAGES.items()}

    assert {page: names for page, names in wrong.items() if names} == {}


def test_code_names_pages_that_exist() -> None:
    named = set(re.findall(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|json|svg)\b", _code()))

    assert named
    assert {name for name in named if not (ROOT / name).exists()} == {"docs/none.md"}


def test_every_page_is_in_the_index() -> None:
    linked = {
        (ROOT / "docs" / link).resolve()
        for link in re.findall(r"\]\(([^)#\s]+)\)", PAGES["docs/README.md"])
    }
    pages = set((ROOT / "docs").rglob("*.md")) - set((ROOT / "docs").rglob("runbooks/*"))

    assert pages - linked == {ROOT / "docs/README.md"}


def test_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 80


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (broken_links, "[x](docs/none.md) [y](docs/reference/access.md#none)"),
        (missing_files, "`shared/none.py`"),
        (missing_tests, "`tests/unit/test_floors.py::test_none` `tests/none.py::test_it`"),
        (unknown_make_targets, "`make none`"),
        (unknown_commands, "`stowage tenant none`\n`stowage tenant list --none`"),
        (unknown_routes, "`GET /none`"),
        (wrong_codes, "404 `none` 404 `conflict`"),
        (unknown_rights, "`none:read` `none.manage`"),
        (unknown_names, f"`{'none'}_such_field`"),
    ],
)
def test_checks_find_what_does_not_exist(check: Check, text: str) -> None:
    assert len(list(check("README.md", text))) == text.count("none") + text.count("`conflict`")
