"""What the last run left behind, and what the next one does about it: decisions without effects."""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, Self

from local.settings import write_atomically

DIGEST_TAG = "BuildDigest"
"""Tag of the stack with the digest of the deployed build; saved together with what is deployed."""

SAVE_INTERVAL = 3
"""Seconds between two saves while requests arrive, unless a save takes long."""

type DeploymentStep = Literal["keep", "deploy", "wait"]


def deployment_step(status: str | None, deployed: str | None, built: str) -> DeploymentStep:
    """Return what to do with the stack before requests are served.

    Args:
        status: Status of the stack, or None.
        deployed: Digest of the build that it was deployed from, if known.
        built: Digest of the build in the working tree.
    """
    if status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"} and deployed == built:
        return "keep"
    if status and status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        return "wait"
    return "deploy"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The last run of the emulator: its port, and whether it stopped in order.

    It saved its state every `save_interval` seconds while requests arrived.
    """

    port: int
    in_order: bool = False
    save_interval: int = SAVE_INTERVAL

    @classmethod
    def read(cls, data: Path) -> Self | None:
        """Return the record in a data directory."""
        path = cls._path(data)
        return cls(**json.loads(path.read_text())) if path.exists() else None

    def write(self, data: Path) -> None:
        """Replace the record in a data directory."""
        write_atomically(self._path(data), json.dumps(asdict(self)))

    def ended(self) -> Self:
        """Return the record of a run that stopped in order."""
        return replace(self, in_order=True)

    @staticmethod
    def _path(data: Path) -> Path:
        return data / "run.json"


def loss(last: RunRecord | None, saved_at: datetime | None) -> str | None:
    """Return what the end of the last run lost; None if it lost nothing.

    Args:
        last: Record of the last run; None if there was none.
        saved_at: Time of its saved state; None if it was never saved.
    """
    if last is None or last.in_order:
        return None
    if saved_at is None:
        return (
            "The last run did not stop in order, and its data was not saved yet: starting without"
            " data."
        )
    return (
        "The last run did not stop in order: its data as of"
        f" {saved_at:%Y-%m-%d %H:%M:%S} is restored, later changes are lost."
        f" While requests arrived, it was saved every {last.save_interval} s."
    )
