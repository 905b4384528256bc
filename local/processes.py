"""The processes of this machine, found by their command lines.

A process is recognized by the paths of this working tree in its command line. Files with process
ids would be missing or wrong after a crash, and process ids are reused.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

_END_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Process:
    """A running process."""

    pid: int
    command: str


def list_processes(*texts: str) -> list[Process]:
    """Return the running processes whose command lines contain all `texts`.

    A child that has ended and was not waited for has lost its command line.
    """
    listed = subprocess.run(
        ["ps", "-axww", "-o", "pid=,command="],  # noqa: S607 - its path differs
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
    found = [Process(int(row[0]), row[1]) for row in rows if len(row) == 2]  # noqa: PLR2004
    return [process for process in found if all(text in process.command for text in texts)]


def kill(processes: Iterable[Process]) -> None:
    """Kill processes and wait until they have ended."""
    ending = set(processes)
    for process in ending:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + _END_SECONDS
    while not ending.isdisjoint(list_processes()) and time.monotonic() < deadline:
        time.sleep(0.05)
