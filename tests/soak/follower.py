"""A copy of everything that a client may read, kept by following `/changes` during the run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.events.feed import checksums_of
from tests.soak.caller import Caller

_POLL_SECONDS = 1


@dataclass
class Follower:
    """The versions of one company by object and id, from a snapshot and the changes after it."""

    caller: Caller
    versions: dict[str, dict[int | str, int]] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)
    """Seconds from each commit until the follower has read it."""
    _position: int = 0
    _epoch: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Follow from now on; read the rest at the end."""
        latest = self.caller.read("/changes/latest").json()["data"]
        self._position, self._epoch = latest["position"], latest["epoch"]
        for name in latest["checksums"]:
            rows = self.caller.each(LISTED_OBJECTS[name].path, include="version")
            self.versions[name] = {row["id"]: row["version"] for row in rows}
        thread = threading.Thread(target=self._follow)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _follow(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            self.catch_up()

    def catch_up(self) -> None:
        """Apply what was committed since the last call; no position comes twice."""
        while True:
            after = {"after": self._position, "epoch": self._epoch, "per_page": 500}
            page = self.caller.read("/changes", **after).json()
            now = datetime.now(UTC)
            for entry in page["data"]:
                if entry["position"] <= self._position:
                    self.caller.log.found(f"{self._slug}: position {entry['position']} twice")
                self._position = entry["position"]
                committed = datetime.fromisoformat(entry["committed_at"])
                self.delays.append((now - committed).total_seconds())
                for change in entry["changes"]:
                    self._apply(change)
            self._position = page["meta"]["last"]
            if self._position == page["meta"]["latest"]:
                return

    def _apply(self, change: dict[str, Any]) -> None:
        name, number, version = (change[field] for field in ("object", "id", "version"))
        known = self.versions[name]
        if version < known.get(number, 0):
            self.caller.log.found(f"{self._slug}: {name} {number}: version {version} is late")
        if change["operation"] == "deleted":
            known.pop(number, None)
        else:
            known[number] = version

    def check(self) -> None:
        """Compare count and sum of each object with those of the service."""
        self.catch_up()
        latest = self.caller.read("/changes/latest").json()["data"]
        if not latest["position"]:
            self.caller.log.found(f"{self._slug}: no change was followed")
        for name, sums in latest["checksums"].items():
            count, total = checksums_of(name, self.versions.get(name, {}).items())
            if (count, str(total)) != (sums["count"], sums["sum"]):
                text = f"{self._slug}: the copy of {name} has {count} rows, {sums['count']} exist"
                self.caller.log.found(f"{text}, or versions differ")

    @property
    def _slug(self) -> str:
        return self.caller.company.slug
