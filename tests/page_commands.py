"""The commands that the pages show, with the answers that they show.

Blocks labelled `sh` and `python` contain commands. The JSON answer of a command is in the comments
that follow it, or in a `json` block that follows the `sh` block. The status is before the answer,
such as `# 422 {"error": …}`, or in the comment beside a command, such as `# too late: 409`. An
error is shown with its status.
"""

import json
import re
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/**/*.md",
        "examples/**/*.md",
        "sample/*.md",
    )
    for path in ROOT.glob(pattern)
)

NOT_RUN = {
    ("README.md", "make run"): "it starts the stack that the commands use",
    ("README.md", "make test"): "CI runs it as a step of its own",
    ("docs/internals/local-run.md", "AWS_SHARED_CREDENTIALS_FILE="):
        "it needs the AWS CLI, and port 4566; tests/e2e/test_local_access.py uses the key",
    ("CONTRIBUTING.md", "make quick"): "CI runs its parts as steps of their own",
    ("CONTRIBUTING.md", "make test"): "CI runs it as a step of its own",
    ("CONTRIBUTING.md", "make check"): "CI runs it as a step of its own",
    ("CONTRIBUTING.md", "make run"): "it starts the stack that the commands use",
    ("CONTRIBUTING.md", "make e2e"): "it runs these tests",
    ("CONTRIBUTING.md", "make package"): "it builds for AWS, which takes a minute",
    ("docs/guides/agents.md", "import httpx2"): "the client of the protocol is not installed; "
    "tests/e2e/test_agents.py uses it",
    ("docs/operating/deploy.md", "make deploy"): "it needs an AWS account",
    ("docs/operating/deploy.md", "aws "): "it needs an AWS account",
    ("docs/operating/deploy.md", "gh api"): "it needs a repository on GitHub",
    ("docs/operating/deploy.md", "curl -s https://api.github.com"):
        "it needs a repository on GitHub",
    ("docs/operating/watching.md", "aws "): "it needs an AWS account",
    ("docs/operating/runbooks/key-changes.md", "aws "): "it needs an AWS account",
    ("docs/operating/deploy.md", "stowage --local smoke"): "it waits for 150 s; "
    "tests/e2e/test_smoke.py runs its steps",
    ("docs/operating/queues.md", "aws "): "it needs an AWS account",
    ("docs/operating/backups.md", "aws "): "it needs two AWS accounts",
    ("docs/operating/backups.md", "stowage --stack stowage-new"): "it needs two AWS accounts",
    ("docs/operating/moving.md", "stowage --stack "): "it needs two deployments; "
    "tests/integration/cli/test_moving.py runs it",
    ("docs/operating/operating.md", "export STOWAGE_STACK="): "it needs an AWS account",
    ("docs/operating/operating.md", "stowage --stack stowage-prod"): "it needs an AWS account",
    ("docs/operating/operating.md", "stowage domain add"): "it needs a domain and its certificate",
    ("docs/operating/operating.md", "stowage domain remove"): "it needs a domain",
    ("docs/operating/operating.md", "stowage tenant address"): "it needs a domain",
    ("docs/operating/operating.md", "curl https://wms.acme.com"): "it needs a domain",
    ("docs/operating/operating.md", "stowage key rotate"): "it changes the key of all tests; "
    "tests/integration/cli/test_keys.py runs it",
    ("docs/operating/operating.md", "stowage key retire"):
        "a key can be retired after an hour only",
    ("docs/operating/operating.md", "stowage tenant delete"): "it waits for 150 s; "
    "tests/integration/cli/test_offboarding.py runs it",
    ("docs/operating/restore.md", "stowage tenant restore"): "moto has no earlier moments; "
    "tests/integration/cli/test_restore.py runs it",
    ("docs/operating/restore.md", "AT="): "moto has no earlier moments",
    ("docs/operating/restore.md", "time stowage"): "moto has no earlier moments",
    ("docs/operating/restore.md", "NEW_TABLE="): "moto has no earlier moments",
    ("docs/operating/restore.md", "aws "): "moto has no earlier moments",
    ("examples/webhooks/README.md", "make listen"): "tests/e2e/test_listen.py runs it",
    ("examples/webhooks/README.md", "from stowage_client"): "it is a part of a web application; "
    "tests/integration/test_example_webhooks.py runs verify_delivery",
    ("sample/README.md", ".venv/bin/python -m local.sample --tenant beta"): "it takes 30 s; "
    "without --tenant it runs here",
}  # fmt: skip
"""Page and beginning of the commands that the end-to-end tests do not run, with the reason."""

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_COMMANDS = re.compile(
    r"^(\$ |\.venv/|(aws|cd|curl|export|git|make|npm|npx|pip|pytest|python3?|sam|stowage|uv) )",
    re.MULTILINE,
)
_STRING_OR_ELLIPSIS = re.compile(r'"(?:[^"\\]|\\.)*"|…')


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page shows as the answer of a command: JSON, or `"…"` without it, and the status."""

    content: Any
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page, its line, and the answer that the page shows."""

    line: int
    text: str
    language: str = "sh"
    answer: Answer | None = None


def read_page(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def unlabelled_commands(text: str) -> list[str]:
    """Return the blocks that contain commands and are not labelled `sh`."""
    return [
        fence[3]
        for fence in _FENCE.finditer(text)
        if fence[2] in {"", "bash", "console", "shell", "text"}
        and _LOOKS_LIKE_COMMANDS.search(textwrap.dedent(fence[3]))
    ]


def commands_of(text: str) -> list[Command]:
    """Return the commands of all blocks of a page.

    Raises:
        ValueError: An answer is not JSON, or an error is shown without its status.
    """
    found: list[Command] = []
    end_of_commands = None
    for fence in _FENCE.finditer(text):
        line = text[: fence.start(3)].count("\n") + 1
        block = textwrap.dedent(fence[3])
        if fence[2] == "sh":
            found += _commands_of_block(block, line)
        elif fence[2] == "python":
            found.append(Command(line, block, "python"))
        elif end_of_commands is not None and fence[2] == "json":
            follows = not text[end_of_commands : fence.start()].strip()
            found[-1] = replace(found[-1], answer=_answer(block)) if follows else found[-1]
        end_of_commands = fence.end() if fence[2] == "sh" else None
    return found


def _commands_of_block(block: str, first_line: int) -> Iterator[Command]:
    lines = block.splitlines()
    number = 0
    while number < len(lines):
        start = number
        number += 1
        if not lines[start].strip() or lines[start].startswith("#"):
            continue
        while not _is_complete("\n".join(lines[start:number])):
            number += 1
            if number > len(lines):
                raise ValueError(f"line {first_line + start}: the command has no end")
        end = number
        while end < len(lines) and lines[end].startswith("#"):
            end += 1
        shown = "\n".join(line.removeprefix("#") for line in lines[number:end])
        text = "\n".join(lines[start:number])
        answer = None
        if re.match(r" (\d{3} )?[{\[]", shown):
            answer = _answer(shown)
        elif beside := re.search(r" # .*?\b([45]\d\d)\b", lines[number - 1]):
            answer = Answer("…", beside[1])
        yield Command(first_line + start, text, answer=answer)


def _is_complete(text: str) -> bool:
    if text.endswith("\\"):
        return False
    checked = subprocess.run(
        ["bash", "-n"],  # noqa: S607 - the shell of the pages
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )
    return checked.returncode == 0 and not checked.stderr


def _answer(shown: str) -> Answer:
    status = re.match(r"\s*(\d{3}) ", shown)
    text = shown[status.end() :] if status else shown
    text = _STRING_OR_ELLIPSIS.sub(lambda part: '"…": 0' if part[0] == "…" else part[0], text)
    content, _ = json.JSONDecoder().raw_decode(text.lstrip())
    if not status and isinstance(content, dict) and "error" in content:
        raise ValueError(f"an error is shown without its status: {shown.strip()}")
    return Answer(content, status[1] if status else None)


def is_run(page: str, command: Command) -> bool:
    """Return whether the end-to-end tests run a command."""
    return not any(
        page == listed and command.text.startswith(beginning) for listed, beginning in NOT_RUN
    )


def differences(shown: Any, got: Any, path: str = "answer") -> Iterator[str]:
    """Yield the differences in shape, that is in keys and types.

    `…` among the keys of an object stands for any further keys, and the text `"…"` for anything.
    Each element of a list has the shape of one of the elements that the page shows.
    """
    if shown == "…":
        return
    if isinstance(shown, dict) and isinstance(got, dict):
        missing = shown.keys() - got.keys() - {"…"}
        more = set() if "…" in shown else got.keys() - shown.keys()
        yield from (f"{path}.{name} is not in the answer" for name in sorted(missing))
        yield from (f"{path}.{name} is not on the page" for name in sorted(more))
        for name in sorted(shown.keys() & got.keys()):
            yield from differences(shown[name], got[name], f"{path}.{name}")
    elif isinstance(shown, list) and isinstance(got, list):
        if shown and not got:
            yield f"{path} is empty in the answer"
        for number, element in enumerate(got if shown else ()):
            found = [list(differences(each, element, f"{path}[{number}]")) for each in shown]
            yield from min(found, key=len)
    elif _type(shown) != _type(got):
        yield f"{path} is {_type(shown)} on the page and {_type(got)} in the answer"


def _type(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return {bool: "boolean", str: "text", dict: "object", list: "list"}.get(type(value), "null")
