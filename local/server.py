"""Start, discovery and stop of the emulator's process."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

import httpx

from local.settings import DATA, EMULATOR_LOG, PROCESS_FILE, ROOT, SCRATCH, aws_environment

_START_SECONDS = 60
_STOP_SECONDS = 30
_MODULE = "local.emulator"


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
        """Return whether the process runs and is the emulator (process ids are reused)."""
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # Reap a child that has ended.
        command = subprocess.run(
            ["ps", "-o", "command=", "-p", str(self.pid)],  # noqa: S607 - its path differs
            capture_output=True,
            text=True,
            check=False,
        )
        return _MODULE in command.stdout


def find() -> Server | None:
    """Return the running emulator of an earlier start, if there is one."""
    if not PROCESS_FILE.exists():
        return None
    server = Server(**json.loads(PROCESS_FILE.read_text()))
    return server if server.alive() else None


def start(port: int) -> Server:
    """Start the emulator and wait until it answers.

    Raises:
        LocalRunFailed: The port is taken, or the emulator does not answer.
    """
    _ensure_port_is_free(port)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    (SCRATCH / "unpacked").mkdir(parents=True)
    environment = aws_environment(f"http://127.0.0.1:{port}") | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",  # It would listen on every network interface.
        "LOG_LEVEL": "WARNING",
        "MINISTACK_HOST": "127.0.0.1",
        "PERSIST_STATE": "1",
        "S3_DATA_DIR": str(DATA / "s3"),
        "S3_PERSIST": "1",
        "STATE_DIR": str(DATA / "services"),
        "TMPDIR": str(SCRATCH),
    }
    with EMULATOR_LOG.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C must not reach it: `stop` ends it in order.
        )
    server = Server(process.pid, port)
    PROCESS_FILE.write_text(json.dumps(asdict(server)))
    _wait_until_ready(server)
    return server


def _ensure_port_is_free(port: int) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise LocalRunFailed(
                f"Port {port} is used by another program. Choose another one: make run PORT=4567"
            )


def _wait_until_ready(server: Server) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.alive():
        with suppress(httpx.TransportError):
            if httpx.get(f"{server.endpoint}/_ministack/ready").is_success:
                return
        time.sleep(0.1)
    stop(server)
    raise LocalRunFailed(
        f"The emulator did not start within {_START_SECONDS} s. Its last log lines:\n{log_tail()}"
    )


def log_tail() -> str:
    """Return the last 20 lines of the emulator's log."""
    return "\n".join(EMULATOR_LOG.read_text().splitlines()[-20:])


def stop(server: Server) -> bool:
    """Stop the emulator with SIGTERM, so that it saves its state.

    Returns:
        False if it had to be killed; its changes since the start are lost then.
    """
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while running := server.alive():
        if time.monotonic() > deadline:
            os.kill(server.pid, signal.SIGKILL)
            break
        time.sleep(0.1)
    PROCESS_FILE.unlink(missing_ok=True)
    return not running
