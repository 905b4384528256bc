"""What every test may ask for: a stack on moto, ERPs that call it, time, AWS faults."""

import gc
from collections.abc import Iterator
from types import FunctionType

import pytest
from _pytest import runner
from hypothesis import settings

from tests import clock as clocks
from tests import faults
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.stack import CREDENTIALS, Stack, deployed

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

_DEEP_STACK = 2**15 + 1
"""Slots of a frame, 8 bytes each; one more than a power of two."""


def pytest_collection_finish() -> None:
    """Spare the garbage collector what was imported: it lives as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test on one large piece of the interpreter's stack.

    The interpreter maps its stack in pieces of 16 kB and unmaps a piece as soon as it is left,
    so a loop that happens to call across an edge maps and unmaps memory at each turn: a sixth
    of the time of all tests. A frame of more than 256 kB gets a piece of 512 kB, and whatever
    it calls gets the rest.
    """
    return _deep(item, nextitem)


def _deep(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    return runner.pytest_runtest_protocol(item, nextitem)


assert isinstance(_deep, FunctionType)
_deep.__code__ = _deep.__code__.replace(co_stacksize=_DEEP_STACK)


@pytest.fixture(autouse=True)
def no_real_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets its stack reaches nobody's account."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time that passes when the test says so, and while the service waits."""
    return clocks.install(monkeypatch)


@pytest.fixture
def aws_faults(monkeypatch: pytest.MonkeyPatch) -> AwsFaults:
    """Every AWS call of the test, seen and disturbed at will."""
    return faults.install(monkeypatch)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A fresh stack with the tenants acme and beta."""
    with deployed(monkeypatch) as stack:
        yield stack


@pytest.fixture
def erp(stack: Stack) -> Erp:
    """acme's ERP, with every scope."""
    return stack.erp()


@pytest.fixture
def beta(stack: Stack) -> Erp:
    """The ERP of the neighbour beta, with every scope."""
    return stack.erp("beta")
