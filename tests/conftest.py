"""What every test may ask for: a stack on moto, ERPs that call it, time, AWS faults."""

import gc
from collections.abc import Iterator

import pytest
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


def pytest_collection_finish() -> None:
    """Exclude imported modules, which live as long as the process, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


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
