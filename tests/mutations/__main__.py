"""Take one thing after the other out of the stock engine; some test must fail each time.

Prints mutation → the test that killed it, and ends with 1 when a mutation survives.
`python -m tests.mutations TEXT …` tries only the mutations whose names have one of the texts.
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
    "integration/documents/test_products_that_go.py",
    "integration/test_at_the_same_instant.py",
    "integration/warehouses/test_pick_faces.py",
    "integration/warehouses/test_pick_face_races.py",
    "integration/warehouses/test_races.py",
    "integration/documents/test_close_and_list.py",
)
_FIRST = {
    "shared/kernel/db/collection.py": (_CONDITIONS,),
    "shared/kernel/db/counters.py": _RETIREMENTS,
    "shared/kernel/db/references.py": _RETIREMENTS,
    "shared/warehouse/stock/rules.py": ("unit/stock/test_rules.py",),
    "shared/warehouse/receiving/service.py": ("integration/receiving/test_receiving.py",),
    "shared/warehouse/receiving/undo_receipt.py": ("integration/receiving/test_undo_receipt.py",),
    "shared/warehouse/transfers/service.py": ("integration/transfers/test_transfers.py",),
    "shared/warehouse/transfer_orders/transit.py": ("integration/transfer_orders/test_life_cycle.py",),
    "shared/warehouse/picking/allocation.py": (_PICKING,),
    "shared/warehouse/picking/dispatch.py": (_PICKING,),
    "shared/warehouse/picking/picks.py": (_PICKING,),
    "shared/warehouse/picking/undo_picking.py": (_PICKING,),
}
"""Source → the tests that are asked first."""
_THEN = (
    "integration/stock/test_adjustments.py",
    _PICKING,
    "integration/stock/test_interleavings.py",
    _CONDITIONS,
    "integration/stock/test_floor_machine.py",
)
"""All that is asked, the quickest first."""
_HEAVY = (
    "boto3", "hypothesis.stateful", "moto", "moto.dynamodb.models", "moto.kms.models",
    "aws_lambda_powertools", "pydantic", "simplejson",
)  # fmt: skip
"""What every run imports and no mutant changes."""
_MOST_SECONDS = 300
"""After which there is no verdict; that counts as survival."""
_LESS = {"SOAK_INTERLEAVINGS": "8", "SOAK_STEPS": "100"}
"""What is drawn by lot is drawn less often."""


@dataclass(slots=True, eq=False)
class _FirstFailure:
    """Remembers which test failed."""

    name: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.name is None:
            self.name = report.nodeid.removeprefix("tests/")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.name is None:
            self.name = f"{report.nodeid} (cannot be collected)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant; `killer` is None when it survived."""

    mutant: str
    killer: str | None
    seconds: float = field(compare=False)


def _try(mutant: Mutant) -> Verdict:
    """Run the tests with a mutant in place of its original; in a process of its own."""
    sys.meta_path.insert(0, finder(mutant))
    files = [*_FIRST.get(mutant.path, ()), *_THEN]
    return _run(str(mutant), list(dict.fromkeys(files)))


def _ask_as_it_is(files: list[str]) -> Verdict:
    """Run tests on the engine as it is; they must pass, or their verdicts would mean nothing."""
    return _run("the engine as it is", files)


def _run(what: str, files: list[str]) -> Verdict:
    began = time.monotonic()
    failure = _FirstFailure()
    signal.signal(signal.SIGALRM, _too_late)
    signal.alarm(_MOST_SECONDS)
    os.environ.update(_LESS)
    arguments = ["-x", "-q", "-n0", "--assert=plain", *(f"tests/{name}" for name in files)]
    try:
        with _silence():
            code = pytest.main(arguments, [failure])
    except _TooLate:
        code = 1
    seconds = time.monotonic() - began
    if seconds >= _MOST_SECONDS:
        return Verdict(what, None, seconds)
    if code not in {0, 1, 2}:
        message = f"pytest ends with {code}: the tests of {what} did not run"
        raise RuntimeError(message)
    return Verdict(what, failure.name, seconds)


class _TooLate(BaseException):
    """The time of a run is over; nothing may catch it."""


def _too_late(*_: object) -> NoReturn:
    raise _TooLate


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing that a run of tests prints is of interest."""
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
    """Try the mutants; how many survived decides how the program ends."""
    found = [
        mutant for mutant in mutants() if not wanted or any(text in str(mutant) for text in wanted)
    ]
    for name in _HEAVY:
        importlib.import_module(name)
    assert "shared" not in sys.modules, "each mutant is imported by its own process"
    gc.freeze()
    os.chdir(Path(__file__).parents[2])
    asked = sorted({name for names in (*_FIRST.values(), _THEN) for name in names})
    survivors = 0
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for verdict in pool.imap(_ask_as_it_is, [asked[::2], asked[1::2]]):
            if verdict.killer:
                print(f"{verdict.killer} fails on the engine as it is")
                return 1
        for verdict in pool.imap(_try, found, chunksize=1):
            survivors += verdict.killer is None
            killer = verdict.killer or "*** SURVIVED ***"
            print(f"{verdict.mutant:<90} {killer}  [{verdict.seconds:.0f} s]", flush=True)
    print(f"{len(found)} mutations, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
