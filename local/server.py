"""Start, discovery and stop of the emulator's process."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import httpx

from local import processes, recovery
from local.recovery import RunRecord
from local.settings import (
    BUILD,
    DATA,
    EMULATOR_LOG,
    ROOT,
    SCRATCH,
    AccessKey,
    aws_environment,
    state_file,
)

_START_SECONDS = 240
_STOP_SECONDS = 120
_COMMAND = ("-m", "local.emulator", "--port")
_PORT = re.compile(r"--port (\d+) ")


class LocalRunFailed(Exception):
    """The local run cannot continue; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Server:
    """The process of the emulator and its port."""

    pid: int
    port: int

    @property
    def endpoint(self) -> str:
        """Endpoint of all AWS services."""
        return f"http://127.0.0.1:{self.port}"

    def alive(self) -> bool:
        """Return whether the emulator runs."""
        return find() == self


def find() -> Server | None:
    """Return the running emulator of this working tree, if there is one."""
    for process in processes.list_processes(" ".join(_COMMAND), f"--data {DATA}"):
        if port := _PORT.search(process.command):
            return Server(process.pid, int(port[1]))
    return None


def start(port: int) -> Server:
    """Start the emulator and wait until it answers.

    Raises:
        LocalRunFailed: The port is taken, or the emulator does not answer.
    """
    ensure_port_is_free(port)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    (SCRATCH / "unpacked").mkdir(parents=True)
    RunRecord(port).write(DATA)
    AccessKey.new()
    environment = aws_environment(f"http://127.0.0.1:{port}") | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",  # It would listen on every network interface.
        "LOG_LEVEL": "WARNING",
        "MINISTACK_HOST": "127.0.0.1",
        "PERSIST_STATE": "1",
        "S3_DATA_DIR": str(DATA / "s3"),
        "S3_PERSIST": "1",
        "STATE_DIR": str(DATA),
        "TMPDIR": str(SCRATCH),
    }
    with EMULATOR_LOG.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *_COMMAND, str(port), "--data", str(DATA)],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C must not reach it: `stop` ends it in order.
        )
    server = Server(process.pid, port)
    _wait_until_ready(server)
    return server


def clear_after_crash() -> str | None:
    """Remove what a killed run left behind; call it when the emulator does not run.

    Returns:
        What that run lost; None if it stopped in order.

    Raises:
        LocalRunFailed: The saved data cannot be read.
    """
    end_leftovers()
    saved = state_file(DATA)
    last = last_run()
    _ensure_readable(saved)
    saved_at = (
        datetime.fromtimestamp(saved.stat().st_mtime).astimezone() if saved.exists() else None
    )
    lost = recovery.loss(last, saved_at)
    if saved_at is None:
        # Files of S3 without the data that refers to them.
        shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(exist_ok=True)
    return lost


def end_leftovers() -> None:
    """End the function processes and the deployment of a run that was killed.

    A function process notices the end of the emulator only after its current request, up to 12 s
    later.
    """
    processes.kill(
        [
            *processes.list_processes(str(SCRATCH / "ministack-lambda-")),
            *processes.list_processes("sam", " deploy ", f"{BUILD}/"),
        ]
    )


def last_run() -> RunRecord | None:
    """Return the record of the last run; None if there was none.

    Raises:
        LocalRunFailed: It cannot be read.
    """
    try:
        return RunRecord.read(DATA)
    except (OSError, ValueError, TypeError) as error:
        raise _unreadable(DATA / "run.json") from error


def _ensure_readable(saved: Path) -> None:
    """Raise LocalRunFailed if the saved state of the emulator is damaged; it may be missing."""
    try:
        if saved.exists() and not isinstance(json.loads(saved.read_bytes()), dict):
            raise _unreadable(saved)
    except (OSError, ValueError) as error:
        raise _unreadable(saved) from error


def _unreadable(path: Path) -> LocalRunFailed:
    return LocalRunFailed(
        f"The data of the local stack is damaged: {path} cannot be read. Remove"
        " the data with `make clean`, then run `make run` again."
    )


def ensure_port_is_free(port: int, *, is_bound: bool = False) -> None:
    """Raise LocalRunFailed if another program uses a port; `is_bound` if the data belongs to it."""
    if not _is_taken(port):
        return
    if is_bound:
        raise LocalRunFailed(
            f"Port {port} is used by another program, and the data of the local stack belongs to"
            f" this port. Stop that program, or remove the data with `make clean` and use `make run"
            f" PORT={_free_port(port)}`."
        )
    raise LocalRunFailed(
        f"Port {port} is used by another program. Choose another one: make run"
        f" PORT={_free_port(port)}"
    )


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port(taken: int) -> int:
    """Return the next port that no program uses."""
    return next(port for port in range(taken + 1, taken + 1000) if not _is_taken(port))


def _wait_until_ready(server: Server) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.alive():
        with suppress(httpx.TransportError):
            if httpx.get(f"{server.endpoint}/_ministack/ready").is_success:
                return
        time.sleep(0.1)
    stop(server)
    raise LocalRunFailed(
        "The emulator does not answer. Run `make run` again; if it fails again, remove the data"
        f" with `make clean`. The last lines of its log:\n{log_tail()}"
    )


def log_tail() -> str:
    """Return the last 20 lines of the emulator's log."""
    return "\n".join(EMULATOR_LOG.read_text().splitlines()[-20:])


def stop(server: Server) -> bool:
    """Stop the emulator with SIGTERM, so that it saves its state, and end its functions.

    Returns:
        False if it had to be killed; changes since the last save are lost then.
    """
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while running := server.alive():
        if time.monotonic() > deadline:
            os.kill(server.pid, signal.SIGKILL)
            break
        time.sleep(0.1)
    end_leftovers()
    return not running
