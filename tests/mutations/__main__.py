"""Run tests against each mutant of the warehouse; some test must fail for each.

Only tests that execute the changed lines run, those that failed for a similar mutant first, and the
first failure ends the run of a mutant. One process imports everything and collects the tests; each
mutant is tested in a fork of it. Results are kept in .local/mutants/results.jsonl with the digests
of the mutant and of the tests that decided, so that an interrupted run continues.

Prints each mutant with the test that killed it, and exits with status 1 when one survives all its
tests and `tests/mutations/explained.py` does not explain it, or when its tests need too much CPU
time to decide (the mutant is open).

  python -m tests.mutations                   all mutants
  python -m tests.mutations --sample 10       a random tenth (with --seed: the same again)
  python -m tests.mutations TEXT …            mutants whose names contain one of the texts
"""

import argparse
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any
from zlib import crc32

import pytest
from _pytest.config import _prepareconfig
from _pytest.main import Session
from _pytest.runner import runtestprotocol

from shared.kernel.db import parallel
from tests.mutations.applying import apply
from tests.mutations.explained import EXPLAINED
from tests.mutations.mutants import ROOT, Mutant, mutants
from tests.mutations.recording import STATE, recorded

_RESULTS = STATE / "results.jsonl"
_CPU_SECONDS = 600
"""CPU time of all tests of one mutant; the verdict is open when they need more."""
_LOOP_SECONDS = 60
"""More CPU time that one test may use, before it counts as an endless loop."""
_WALL_SECONDS = 900
"""Time after which a process that waits for something is killed."""
_KILLERS = {
    "shared/kernel/db/collection.py": "integration/stock/test_conditions.py",
    "shared/kernel/db/counters.py": "integration/test_concurrent_requests.py",
    "shared/kernel/references.py": "integration/test_concurrent_requests.py",
    "shared/warehouse/stock/posting.py": "integration/test_late_changes.py",
}
"""Source → tests of its conditions, which other tests reach as well but do not examine."""
_FIRST_TEST = "tests/integration/stock/test_adjustments.py::test_count_creates_stock"
_LOOP = "an endless loop in "


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a mutant."""

    key: str
    """Digest of the mutant."""
    tests_digest: str
    """Digest of the killer's file; of the files of all its tests if it survived."""
    mutant: str
    killer: str | None
    """The test that failed; None if the mutant survived."""
    tests: int
    """Number of tests that ran."""
    of: int
    """Number of tests that execute the changed lines."""
    seconds: float
    """CPU time."""

    @property
    def is_open(self) -> bool:
        """Whether no test failed, but the CPU time ended before all had run."""
        return not self.killer and self.tests < self.of


@dataclass(frozen=True, slots=True)
class Task:
    """A mutant and the tests that execute its lines, those that may kill it first."""

    key: str
    mutant: Mutant
    tests: Sequence[str]


class Tests:
    """The recorded tests, and which of them to run for a mutant."""

    def __init__(self, lines: Mapping[str, Mapping[str, Any]]) -> None:
        self._lines = lines
        self._killers = dict[str, Counter[str]]()

    def task(self, mutant: Mutant) -> Task:
        """Return the tests of a mutant in their order."""
        changed = range(mutant.first_line, mutant.last_line + 1)
        chosen = [
            name
            for name, test in self._lines.items()
            if not set(changed).isdisjoint(test["lines"].get(mutant.path, ()))
        ]
        key = hashlib.sha256(f"{mutant}\n{mutant.source}".encode()).hexdigest()
        return Task(key, mutant, self.ordered(mutant, chosen))

    def ordered(self, mutant: Mutant, chosen: Sequence[str]) -> list[str]:
        """Sort tests: those that killed a similar mutant, those of the subject, the fastest."""
        similar = self._killers.get(f"{mutant.path} {mutant.function}", Counter())
        same_source = self._killers.get(mutant.path, Counter())
        of_kind = (
            f"/{mutant.description.split()[0]}s/"  # conditions of entities name the kind first
        )
        subject = f"/{mutant.path.split('/')[2].removesuffix('.py')}/"
        known = _KILLERS.get(mutant.path)

        def rank(name: str) -> tuple[float, ...]:
            return (
                -similar[name],
                -same_source[name],
                of_kind not in name,
                not (known and known in name),
                of_kind not in name and subject not in name,
                self._lines[name]["seconds"],
            )

        return sorted(chosen, key=rank)

    def note(self, mutant: Mutant, killer: str) -> None:
        """Note the test that killed a mutant: it may kill similar ones."""
        for place in (f"{mutant.path} {mutant.function}", mutant.path):
            self._killers.setdefault(place, Counter())[killer] += 1


def _tests_digest(killer: str | None, tests: Sequence[str]) -> str:
    """Return the digest of the files that a verdict depends on."""
    decisive = [killer.removeprefix(_LOOP)] if killer else tests
    total = hashlib.sha256()
    for path in sorted({name.split("::")[0] for name in decisive}):
        total.update(_file_digest(path))
    return total.hexdigest()


@cache
def _file_digest(path: str) -> bytes:
    file = ROOT / path
    return hashlib.sha256(file.read_bytes() if file.exists() else b"").digest()


# -- one mutant, in a process of its own ---------------------------------------------------------


def _test_mutant(task: Task, items: Mapping[str, pytest.Item], out: int) -> None:
    """Run the tests of a mutant until one fails; write each name, and the verdict, to `out`."""
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS + _LOOP_SECONDS,) * 2)
    apply(task.mutant)
    chosen = [items[name] for name in task.tests if name in items]
    for number, item in enumerate(chosen):
        if time.process_time() - began > _CPU_SECONDS:
            break
        os.write(out, f"{number} {item.nodeid}\n".encode())
        following = chosen[number + 1] if number + 1 < len(chosen) else None
        reports = runtestprotocol(item, log=False, nextitem=following)
        if any(report.failed for report in reports):
            os.write(out, b"failed\n")
            return
    os.write(out, b"survived\n")


@dataclass(slots=True)
class _Run:
    """A process that tests a mutant."""

    task: Task
    pid: int
    out: int
    began: float
    text: bytes = b""

    @classmethod
    def begin(cls, task: Task, items: Mapping[str, pytest.Item]) -> "_Run":
        """Fork a process for a mutant."""
        out, end = os.pipe()
        if pid := os.fork():
            os.close(end)
            return cls(task, pid, out, time.monotonic())
        os.close(out)
        status = 0
        try:
            with open(os.devnull, "w") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), 1)
                with redirect_stdout(nowhere), redirect_stderr(nowhere):
                    _test_mutant(task, items, end)
        except BaseException:  # noqa: BLE001 - reported by the status
            os.write(2, f"{task.mutant}\n{traceback.format_exc()}".encode())
            status = 1
        finally:
            os._exit(status)

    def verdict(self) -> Verdict:
        """Return the result of the process, which has ended."""
        _, status, usage = os.wait4(self.pid, 0)
        lines = self.text.decode().splitlines()
        names = [line.split(" ", 1)[1] for line in lines if line[:1].isdigit()]
        killer = None
        if os.WIFSIGNALED(status):
            killer = f"{_LOOP}{names[-1] if names else 'the import'}"
        elif os.WEXITSTATUS(status):
            raise RuntimeError(f"{self.task.mutant} could not be tested")
        elif lines[-1] == "failed":
            killer = names[-1]
        seconds = round(usage.ru_utime + usage.ru_stime, 1)
        task = self.task
        decisive = _tests_digest(killer, task.tests)
        return Verdict(
            task.key, decisive, str(task.mutant), killer, len(names), len(task.tests), seconds
        )


def _run_all(
    found: Sequence[Mutant],
    tests: Tests,
    items: Mapping[str, pytest.Item],
    done: set[str],
) -> Iterator[Verdict]:
    """Test mutants, one process for each processor; skip those with a result."""
    waiting = [task for mutant in found if (task := tests.task(mutant)).key not in done]
    waiting.reverse()
    running: list[_Run] = []
    by_name = {str(mutant): mutant for mutant in found}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            task = waiting.pop()
            ordered = tests.ordered(task.mutant, task.tests)
            running.append(_Run.begin(Task(task.key, task.mutant, ordered), items))
        ready, _, _ = select.select([run.out for run in running], [], [], 5)
        for run in list(running):
            if time.monotonic() - run.began > _WALL_SECONDS:
                os.kill(run.pid, signal.SIGKILL)
            if run.out in ready:
                text = os.read(run.out, 65_536)
                run.text += text
                if not text:
                    os.close(run.out)
                    running.remove(run)
                    verdict = run.verdict()
                    if verdict.killer and not verdict.killer.startswith(_LOOP):
                        tests.note(by_name[verdict.mutant], verdict.killer)
                    yield verdict


# -- all mutants ---------------------------------------------------------------------------------


def _collect(names: Collection[str]) -> dict[str, pytest.Item]:
    """Import and collect tests in this process."""
    files = sorted({name.split("::")[0] for name in names})
    config = _prepareconfig(["-qq", "-n0", "--assert=plain", *files])
    config._do_configure()
    session = Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    config.hook.pytest_collection(session=session)
    items = {item.nodeid: item for item in session.items}
    # What a test imports and sets up once for each process is done once for all mutants.
    for path in ROOT.glob("functions/*/app.py"):
        importlib.import_module(f"functions.{path.parent.name}.app")
    runtestprotocol(items[_FIRST_TEST], log=False, nextitem=None)
    # A fork has no threads but the one that forks.
    parallel._pool().shutdown()
    parallel._pool.cache_clear()
    threads = threading.enumerate()
    assert threads == [threading.main_thread()], threads
    gc.collect()
    gc.freeze()
    return items


def _record() -> Mapping[str, Mapping[str, Any]]:
    lines = recorded()
    if lines is None:
        print("Recording which tests execute which lines: one run of all tests", flush=True)
        command = ["pytest", "-q", "-p", "tests.mutations.recording"]
        done = subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603
        lines = recorded()
        if done.returncode or lines is None:
            sys.exit("The tests fail on the unchanged code; mutants would show nothing.")
    return lines


def _known(tasks: Sequence[Task]) -> dict[str, Verdict]:
    """Return the results of earlier runs that are still valid, by the keys of the mutants."""
    if not _RESULTS.exists():
        return {}
    rows = [json.loads(line) for line in _RESULTS.read_text().splitlines() if line.endswith("}")]
    tests = {task.key: task.tests for task in tasks}
    verdicts = [Verdict(**row) for row in rows if row["key"] in tests]
    return {
        each.key: each
        for each in verdicts
        if not each.is_open and each.tests_digest == _tests_digest(each.killer, tests[each.key])
    }


def main(arguments: Sequence[str]) -> int:
    """Test the mutants; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="*", help="test only mutants whose names contain one")
    parser.add_argument("--sample", type=int, default=100, help="percent of the mutants")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    found = [
        mutant
        for mutant in mutants()
        if not options.texts or any(text in str(mutant) for text in options.texts)
    ]
    if options.sample < 100:
        print(f"A sample of {options.sample} percent; repeat it with --seed {options.seed}")
        found = [mutant for mutant in found if _is_sampled(mutant, options.sample, options.seed)]
    lines = _record()
    tests = Tests(lines)
    tasks = [tests.task(mutant) for mutant in found]
    known = _known(tasks)
    began = time.monotonic()
    items = _collect({name for task in tasks for name in task.tests} | {_FIRST_TEST})
    print(f"{len(found)} mutants, {len(known)} of them with a result of an earlier run")
    verdicts = [_shown(verdict) for verdict in known.values()]
    STATE.mkdir(parents=True, exist_ok=True)
    with _RESULTS.open("a") as results:
        for verdict in _run_all(found, tests, items, set(known)):
            results.write(json.dumps(asdict(verdict)) + "\n")
            results.flush()
            verdicts.append(_shown(verdict))
    killed = sum(bool(each.killer) for each in verdicts)
    survivors = [each for each in verdicts if not each.killer]
    explained = sum(each.mutant in EXPLAINED for each in survivors)
    rest = [each for each in survivors if each.mutant not in EXPLAINED]
    unexplained = [each for each in rest if not each.is_open]
    print(
        f"{len(verdicts)} of {len(found)} mutants in {time.monotonic() - began:.0f} s,"
        f" {sum(each.seconds for each in verdicts) / max(1, len(verdicts)):.1f} s of CPU time each:"
        f" {killed} killed, {explained} explained, {len(rest) - len(unexplained)} open,"
        f" {len(unexplained)} survived"
    )
    for verdict in rest:
        result = "OPEN" if verdict.is_open else "SURVIVED"
        print(f"{result} {verdict.mutant} ({verdict.tests} of {verdict.of} tests ran)")
    return 1 if rest else 0


def _is_sampled(mutant: Mutant, percent: int, seed: int) -> bool:
    """Return whether a mutant belongs to a sample, which does not depend on the other mutants."""
    name = str(mutant)
    return name not in EXPLAINED and crc32(f"{seed} {name}".encode()) % 100 < percent


def _shown(verdict: Verdict) -> Verdict:
    open_or_survived = "open: not all tests ran" if verdict.is_open else "*** SURVIVED ***"
    result = verdict.killer or EXPLAINED.get(verdict.mutant) or open_or_survived
    print(f"{verdict.mutant}\n    {result}  [{verdict.seconds:.1f} s]", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
