"""Processes are found by their command lines and killed by their ids."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local import processes

_SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose command line contains the path of the test."""
    with subprocess.Popen(  # noqa: S603 - a program of this test
        [sys.executable, "-c", _SLEEP, str(tmp_path)]
    ) as process:
        yield process
        process.kill()


def test_process_is_found_by_its_command_line(
    child: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    assert [each.pid for each in processes.list_processes(_SLEEP, str(tmp_path))] == [child.pid]
    assert processes.list_processes(str(tmp_path / "another")) == []


def test_killed_process_is_gone_before_kill_returns(
    child: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    began = time.monotonic()
    processes.kill(processes.list_processes(str(tmp_path)))
    assert processes.list_processes(str(tmp_path)) == []  # though nobody has waited for it
    assert time.monotonic() - began < processes._END_SECONDS
    assert child.wait() < 0


def test_ended_process_is_no_error() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    processes.kill([processes.Process(ended.pid, "ended")])
