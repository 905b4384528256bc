"""Run the tests against each mutant of the stock code; some test must fail for each.

Prints each mutant with the test that killed it, and exits with status 1 when a mutant survives.
`python -m tests.mutations TEXT …` tests only the mutants whose names contain one of the texts.
"""

import gc
import importlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

import pytest

from tests.mutations.mutants import Mutant, finder, mutants

_CONDITIONS = "integration/stock/test_conditions.py"
_PICKING = "integration/picking/test_picking.py"
_RETIREMENTS = (
    "integration/documents/test_deleted_products.py",
    "integration/test_concurrent_requests.py",
    "integration/warehouses/test_pick_faces.py",
    "integration/warehouses/test_pick_face_races.py",
    "integration/warehouses/test_races.py",
    "integration/documents/test_close_and_list.py",
)
_FIRST_TESTS = {
    "shared/kernel/db/collection.py": (_CONDITIONS,),
    "shared/kernel/db/counters.py": _RETIREMENTS,
    "shared/warehouse/references.py": _RETIREMENTS,
    "shared/warehouse/stock/rules.py": ("unit/stock/test_rules.py",),
    "shared/warehouse/receiving/service.py": ("integration/receiving/test_receiving.py",),
    "shared/warehouse/receiving/undo_receipt.py": ("integration/receiving/test_undo_receipt.py",),
    "shared/warehouse/transfers/service.py": ("integration/transfers/test_transfers.py",),
    "shared/warehouse/transfer_orders/transit.py": (
        "integration/transfer_orders/test_life_cycle.py",
    ),
    "shared/warehouse/picking/allocation.py": (_PICKING,),
    "shared/warehouse/picking/dispatch.py": (_PICKING,),
    "shared/warehouse/picking/picks.py": (_PICKING,),
    "shared/warehouse/picking/undo_picking.py": (_PICKING,),
}
"""Source → the tests that run first."""
_ALL_TESTS = (
    "integration/stock/test_adjustments.py",
    _PICKING,
    "integration/stock/test_interleavings.py",
    _CONDITIONS,
    "integration/stock/test_stateful.py",
)
"""All tests, the fastest first."""
_PRELOADED = (
    "boto3", "hypothesis.stateful", "moto", "moto.dynamodb.models", "moto.kms.models",
    "aws_lambda_powertools", "pydantic", "simplejson",
)  # fmt: skip
"""Modules that every run imports and no mutant changes."""
_TIMEOUT_SECONDS = 300
"""Seconds after which a run is stopped; its mutant counts as survived."""
_FEWER_RUNS = {"SOAK_INTERLEAVINGS": "8", "SOAK_STEPS": "100"}
"""Fewer random runs."""


@dataclass(slots=True, eq=False)
class _FirstFailure:
    """Records the first test that failed."""

    name: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.name is None:
            self.name = report.nodeid.removeprefix("tests/")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.name is None:
            self.name = f"{report.nodeid} (cannot be collected)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a mutant; `killer` is None when it survived."""

    mutant: str
    killer: str | None
    seconds: float = field(compare=False)


def _run_mutant(mutant: Mutant) -> Verdict:
    """Run the tests with a mutant instead of its source, in a separate process."""
    sys.meta_path.insert(0, finder(mutant))
    files = [*_FIRST_TESTS.get(mutant.path, ()), *_ALL_TESTS]
    return _run(str(mutant), list(dict.fromkeys(files)))


def _run_unchanged(files: list[str]) -> Verdict:
    """Run the tests on the unchanged code, where they must pass."""
    return _run("the unchanged code", files)


def _run(name: str, files: list[str]) -> Verdict:
    began = time.monotonic()
    failure = _FirstFailure()
    signal.signal(signal.SIGALRM, _raise_time_up)
    signal.alarm(_TIMEOUT_SECONDS)
    os.environ.update(_FEWER_RUNS)
    arguments = ["-x", "-q", "-n0", "--assert=plain", *(f"tests/{name}" for name in files)]
    try:
        with _discarded_output():
            code = pytest.main(arguments, [failure])
    except _TimeUpError:
        code = 1
    seconds = time.monotonic() - began
    if seconds >= _TIMEOUT_SECONDS:
        return Verdict(name, None, seconds)
    if code not in {0, 1, 2}:
        message = f"pytest exited with {code}; the tests of {name} did not run"
        raise RuntimeError(message)
    return Verdict(name, failure.name, seconds)


class _TimeUpError(BaseException):
    """Stops a run that takes too long; no code under test may catch it."""


def _raise_time_up(*_: object) -> NoReturn:
    raise _TimeUpError


@contextmanager
def _discarded_output() -> Iterator[None]:
    """Discard the output of a test run."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(1), os.dup(2)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)


def main(wanted: list[str]) -> int:
    """Test the mutants; return the exit status."""
    found = [
        mutant for mutant in mutants() if not wanted or any(text in str(mutant) for text in wanted)
    ]
    for name in _PRELOADED:
        importlib.import_module(name)
    assert "shared" not in sys.modules, "each mutant is imported by its own process"
    gc.freeze()
    os.chdir(Path(__file__).parents[2])
    test_files = sorted({name for names in (*_FIRST_TESTS.values(), _ALL_TESTS) for name in names})
    survivors = 0
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for verdict in pool.imap(_run_unchanged, [test_files[::2], test_files[1::2]]):
            if verdict.killer:
                print(f"{verdict.killer} fails on the unchanged code")
                return 1
        for verdict in pool.imap(_run_mutant, found, chunksize=1):
            survivors += verdict.killer is None
            killer = verdict.killer or "*** SURVIVED ***"
            print(f"{verdict.mutant:<90} {killer}  [{verdict.seconds:.0f} s]", flush=True)
    print(f"{len(found)} mutations, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
