"""Paths and names of the local run, its access key, and the environment of its AWS clients."""

import configparser
import os
import platform
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[1]
STATE = ROOT / ".local"
"""Directory for all files of the local run; `make clean` removes the data."""

STACK_FILE = STATE / "stack.json"
CREDENTIALS_FILE = STATE / "credentials"
"""The access key of the run, in the format of AWS's file of shared credentials."""

START_LOCK = STATE / "start.lock"
EMULATOR_LOG = STATE / "emulator.log"
DEPLOY_LOG = STATE / "deploy.log"
DATA = STATE / "data"
"""State of the emulator; saved while it runs and when it stops, loaded when it starts."""

SCRATCH = STATE / "tmp"
BUILD = ROOT / ".aws-sam" / "build"

STACK_NAME = "stowage"
REGION = "us-east-1"
_ID, _SECRET = "aws_access_key_id", "aws_secret_access_key"
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


@dataclass(frozen=True, slots=True)
class AccessKey:
    """The access key with which calls of AWS interfaces of the emulator must be signed."""

    id: str
    secret: str

    @classmethod
    def new(cls) -> Self:
        """Make a random key, and write it to its file; each start of the emulator makes one."""
        made = cls(f"LOCAL{secrets.token_hex(8).upper()}", secrets.token_urlsafe(32))
        text = f"[default]\n{_ID} = {made.id}\n{_SECRET} = {made.secret}\n"
        write_atomically(CREDENTIALS_FILE, text)
        return made

    @classmethod
    def read(cls) -> Self:
        """Return the key of the present run; one that nobody accepts if there was no run."""
        file = configparser.ConfigParser(
            {_ID: "none", _SECRET: "none"}, default_section="default", interpolation=None
        )
        file.read(CREDENTIALS_FILE)
        return cls(file.defaults()[_ID], file.defaults()[_SECRET])


def architecture() -> str:
    """Return Lambda's name for this machine's processor, for which packages are built."""
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


def aws_environment(endpoint: str) -> dict[str, str]:
    """Return the environment in which every AWS client uses the emulator.

    It signs with the access key of the run, and hides the AWS credentials, profiles and metadata
    service of this machine.
    """
    key = AccessKey.read()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": key.id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
    }
