"""Paths and names of the local run, and the environment of its AWS clients."""

import os
import platform
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATE = ROOT / ".local"
"""Directory for all files of the local run; `make clean` removes the data."""

STACK_FILE = STATE / "stack.json"
START_LOCK = STATE / "start.lock"
EMULATOR_LOG = STATE / "emulator.log"
DEPLOY_LOG = STATE / "deploy.log"
DATA = STATE / "data"
"""State of the emulator; saved while it runs and when it stops, loaded when it starts."""

SCRATCH = STATE / "tmp"
BUILD = ROOT / ".aws-sam" / "build"

STACK_NAME = "stowage"
REGION = "us-east-1"
DEFAULT_PORT = 4566


def state_file(data: Path) -> Path:
    """Return the file with the saved state of all services in a data directory."""
    return data / "state.json"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file as a whole; after a crash it has the old content or the new one.

    Only the owner can read it, because the files of the local run contain secrets.
    """
    partial = path.with_name(f"{path.name}.partial")
    partial.touch(mode=0o600)
    with partial.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def architecture() -> str:
    """Return Lambda's name for this machine's processor, for which packages are built."""
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


def aws_environment(endpoint: str) -> dict[str, str]:
    """Return the environment in which every AWS client uses the emulator.

    It hides the AWS credentials, profiles and metadata service of this machine.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
    }
