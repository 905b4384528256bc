"""The emulator's state on disk: saved while it runs, complete after a crash.

MiniStack saves the state of each service to a file of its own, and only when it stops in order.
This bridge saves the state of all services to one file, every few seconds while requests arrive.
The file is replaced as a whole, so a process that is killed at any moment leaves one complete
state: what was deployed, and the data that belongs to it. Code packages and layers are stored
beside it.

S3 objects are not part of the state: MiniStack writes each to disk at once. Neither are the lines
of logs, which grow with every request and would soon be most of it.
"""

import asyncio
import hashlib
import json
import logging
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ministack import app as ministack
from ministack.core import persistence
from ministack.services import cloudformation, cloudwatch_logs, dynamodb, lambda_svc, s3

from local.recovery import SAVE_INTERVAL, RunRecord
from local.settings import REGION, state_file, write_atomically

_LARGEST_SHARE = 0.1
"""Largest share of the time that saving may take; above it, saves are less frequent."""

_ATTEMPTS = 5

_BLOB_BYTES = 4096
"""Binary values of this size or more are stored in files of their own."""

_logger = logging.getLogger(__name__)

type AsgiApp = Callable[..., Any]


class SavedState:
    """The state of the emulator and its files in the data directory."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._path = state_file(data)
        self._blobs = data / "blobs"
        self._changed = False

    def install(self) -> None:
        """Load the state from the file when the emulator starts; save it there when it stops."""
        saved = self._load()
        _name_region_of_buckets()
        ministack.load_state = saved.get
        ministack.save_all = lambda _: self._end()
        # The blobs of this module replace the ones of MiniStack.
        lambda_svc._externalize_code_zip = lambda *_: None
        lambda_svc._prune_orphan_code_blobs = lambda *_: None

    def noticing(self, app: AsgiApp) -> AsgiApp:
        """Return `app`; a request to it makes the next save necessary."""

        async def noticing_app(scope: Mapping[str, Any], *channels: Any) -> None:
            try:
                await app(scope, *channels)
            finally:
                self._changed |= scope["type"] == "http"

        return noticing_app

    async def save_regularly(self) -> None:
        """Save the state every few seconds if there were requests; never return."""
        interval: float = SAVE_INTERVAL
        while True:
            await asyncio.sleep(interval)
            if self._changed:
                began = time.monotonic()
                self._changed = False
                try:
                    self._changed = not self.save()
                    interval = _interval(time.monotonic() - began)
                    self._record_interval(round(interval))
                except Exception:
                    # For example, the disk is full: the last file stays.
                    _logger.exception("The state was not saved; the next attempt follows")
                    self._changed = True

    def save(self) -> bool:
        """Save the state, unless a deployment is in progress, which cannot be continued later.

        Call it in the thread of the event loop: requests are then complete or have not begun.
        """
        if _deploying():
            return False
        blobs: set[str] = set()
        text = self._text(blobs)
        write_atomically(self._path, text)
        for path in self._blobs.glob("*"):
            if path.name not in blobs:
                path.unlink()
        return True

    def _text(self, blobs: set[str]) -> str:
        for _ in range(_ATTEMPTS - 1):
            # The pollers of queues and streams are threads, which go on meanwhile.
            with suppress(RuntimeError):  # a dictionary changed its size
                return self._encoded(blobs)
        return self._encoded(blobs)

    def _encoded(self, blobs: set[str]) -> str:
        with _without_copies(dynamodb), _without_copies(cloudwatch_logs):
            states = {
                name: state
                for name, get_state in ministack._build_persistence_save_dict().items()
                if (state := get_state()) is not None
            }
            states["cloudwatch_logs"] = _without_lines(states["cloudwatch_logs"])
            return json.dumps(states, default=lambda value: self._encode(value, blobs))

    def _record_interval(self, seconds: int) -> None:
        """Record the interval of saves for the message of a start after a crash."""
        record = RunRecord.read(self._data)
        if record and record.save_interval != seconds:
            replace(record, save_interval=seconds).write(self._data)

    def _end(self) -> None:
        if self.save():
            record = RunRecord.read(self._data)
            if record:
                record.ended().write(self._data)

    def _encode(self, value: Any, blobs: set[str]) -> Any:
        if not isinstance(value, bytes | bytearray) or len(value) < _BLOB_BYTES:
            return persistence._json_default(value)
        name = hashlib.sha256(value).hexdigest()
        path = self._blobs / name
        if not path.exists():
            self._blobs.mkdir(exist_ok=True)
            write_atomically(path, bytes(value))
        blobs.add(name)
        return {"__blob__": name}

    def _load(self) -> dict[str, Any]:
        if not self._path.exists():
            return {}
        states: dict[str, Any] = json.loads(self._path.read_text(), object_hook=self._decode)
        return states

    def _decode(self, value: dict[str, Any]) -> Any:
        if value.keys() == {"__blob__"}:
            return (self._blobs / value["__blob__"]).read_bytes()
        return persistence._json_object_hook(value)


def _interval(seconds: float) -> float:
    """Return the seconds until the next save after one that took `seconds`."""
    return max(SAVE_INTERVAL, seconds / _LARGEST_SHARE)


def _without_lines(logs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of CloudWatch Logs with groups and filters, but without their lines."""
    groups, kept = logs["log_groups"], type(logs["log_groups"])()
    kept._data = {name: {**group, "streams": {}} for name, group in groups._data.items()}
    return {**logs, "log_groups": kept, "log_records": type(groups)()}


def _deploying() -> bool:
    return any(
        stack["StackStatus"].endswith("IN_PROGRESS")
        for stack in cloudformation._stacks._data.values()
    )


@contextmanager
def _without_copies(service: Any) -> Iterator[None]:
    """Let `get_state` of a service return its values instead of copies, which take seconds."""
    kept = service.copy
    service.copy = types.SimpleNamespace(deepcopy=lambda value: value, copy=kept.copy)
    try:
        yield
    finally:
        service.copy = kept


def _name_region_of_buckets() -> None:
    """Gap: a bucket that the saved state lacks is read from disk without its region.

    Creating it again would be refused with BucketAlreadyOwnedByYou.
    """
    for bucket in s3._buckets._data.values():
        bucket["region"] = bucket["region"] or REGION
