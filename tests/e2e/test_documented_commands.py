"""The commands of the pages run as they stand, and their answers have the shape that is shown."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Deployed
from tests.page_commands import PAGES, ROOT, Command, commands_of, differences, is_run, read_page

TIME_LIMIT = 300
"""Seconds that the commands of a page may take on a busy machine."""

_LISTENING_PORT = "8787"
_ANSWERS_TO_QUESTIONS = b"y\n" * 100

_PRELUDE = """\
set -eo pipefail
curl() {
    command curl --write-out '%{stderr}HTTP %{http_code}\\n' $fail_with_body "$@"
}
"""


def _step(number: int, command: Command, log: Path) -> str:
    """Return the script of a command: its output goes to a file, and an error response fails.

    With a shown status, an error response is compared instead.
    """
    text = command.text
    if command.language == "python":
        text = f"python - <<'END_OF_PYTHON'\n{text}END_OF_PYTHON"
    shows_status = command.answer and command.answer.status
    fail = "" if shows_status else "--fail-with-body"
    return f"exec >{log}/{number}.out 2>{log}/{number}.err\nfail_with_body={fail}\n{text}\n"


def _checkout(folder: Path) -> Path:
    """Create a folder with links to everything in the root directory; commands write beside."""
    folder.mkdir()
    for path in ROOT.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def _environment() -> dict[str, str]:
    """Return the environment of a newcomer: without the programs of .venv and AWS credentials."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    folders = kept["PATH"].split(os.pathsep)
    return kept | {
        "PATH": os.pathsep.join(each for each in folders if Path(each) != ROOT / ".venv" / "bin"),
        "LANG": "C.UTF-8",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        # Each command of `stowage` starts a process.
        "PYTHONPYCACHEPREFIX": str(ROOT / ".local" / "bytecode"),
    }


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


def _run_script(script: str, checkout: Path) -> int:
    """Run a script with a terminal at which every question is answered with y."""
    terminal, stdin = pty.openpty()
    os.write(terminal, _ANSWERS_TO_QUESTIONS)
    with subprocess.Popen(  # noqa: S603 - the commands of the pages
        ["bash", "-c", script],  # noqa: S607
        cwd=checkout,
        env=_environment(),
        stdin=stdin,
        start_new_session=True,
    ) as shell:
        try:
            return shell.wait(TIME_LIMIT)
        finally:
            with suppress(ProcessLookupError):  # what the page started in the background
                os.killpg(shell.pid, signal.SIGKILL)
            os.close(stdin)
            os.close(terminal)


def _json_in(printed: str) -> Any:
    """Return the JSON of an output, which may begin with the headers of the response."""
    start = re.search(r"^[{\[]", printed, re.MULTILINE)
    return json.JSONDecoder().raw_decode(printed, start.start())[0] if start else None


def _problems(command: Command, printed: str, errors: str, checkout: Path) -> list[str]:
    found: list[str] = []
    if command.answer:
        found += differences(command.answer.content, _json_in(printed))
        if command.answer.status and f"HTTP {command.answer.status}\n" not in errors:
            found.append(f"the status is not {command.answer.status}")
    for name in re.findall(r"-o (\S+\.xlsx)", command.text):
        if not zipfile.is_zipfile(checkout / name):
            found.append(f"{name} is not a workbook")
    return found


def run_commands(commands: Sequence[Command], folder: Path) -> list[str]:
    """Run the commands of a page in one shell, in the root directory; return what is wrong.

    Port 8787, which another program of this machine may use, is replaced by a free port.
    """
    log = folder / "log"
    log.mkdir()
    script = _PRELUDE + "".join(_step(number, each, log) for number, each in enumerate(commands))
    checkout = _checkout(folder / "checkout")
    status = _run_script(script.replace(_LISTENING_PORT, _free_port()), checkout)
    begun = len(list(log.glob("*.out")))
    wrong = []
    for number, command in enumerate(commands[:begun]):
        printed, errors = ((log / f"{number}.{end}").read_text() for end in ("out", "err"))
        if status and number == begun - 1:
            problems = [f"exit status {status}"]
        else:
            problems = _problems(command, printed, errors, checkout)
        if problems:
            shown = [f"line {command.line}: {command.text}", *problems, printed[-2000:], errors]
            wrong.append("\n".join(shown))
    return wrong


RUN = {
    page: commands
    for page in PAGES
    if (commands := [each for each in commands_of(read_page(page)) if is_run(page, each)])
}


@pytest.mark.parametrize("page", RUN)
def test_commands_of_a_page(page: str, stack: Deployed, tmp_path: Path) -> None:
    assert stack.tenants

    wrong = run_commands(RUN[page], tmp_path)

    assert not wrong, f"{page}, " + f"\n{page}, ".join(wrong)
