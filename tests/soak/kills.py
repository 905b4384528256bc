"""Kills random function processes of the local stack of this working tree."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from local.processes import Process, kill, list_processes
from local.settings import SCRATCH

_WORKERS = ("ImportWorkerFunction", "WebhookWorkerFunction", "EventRelayFunction")
"""Functions of queues and streams, whose messages return only after minutes."""

_NOTICED_SECONDS = 4
"""Time in which the emulator notices that a process has died, on a slow machine."""


@dataclass(slots=True)
class Killer:
    """Kills one or two function processes, when asked or every few seconds."""

    rng: random.Random
    kills_workers: bool
    killed: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    """Times of the kills on the monotonic clock."""

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Kill processes during the block."""
        stop = threading.Event()
        thread = threading.Thread(target=self._run, args=(stop,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _run(self, stop: threading.Event) -> None:
        while not stop.wait(self.rng.uniform(3, 8)):
            self.kill_some()

    def kill_some(self) -> None:
        """Kill one or two processes."""
        processes = [one for one in _functions() if self.kills_workers or not _is_worker(one)]
        chosen = self.rng.sample(processes, min(len(processes), self.rng.randint(1, 2)))
        self.times.append(time.monotonic())
        kill(chosen)
        self.killed.update(_name(process) for process in chosen)

    def explains(self, began: float, ended: float) -> bool:
        """Whether a process was killed while a request ran, or just before it."""
        return any(began - _NOTICED_SECONDS <= at <= ended for at in self.times)


def _functions() -> list[Process]:
    return list_processes(f"{SCRATCH}/ministack-lambda-")


def _name(process: Process) -> str:
    return process.command.rpartition("ministack-lambda-stowage-")[2].partition("-")[0]


def _is_worker(process: Process) -> bool:
    return _name(process) in _WORKERS
