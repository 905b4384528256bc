"""Fixtures of all tests: a stack on moto, ERPs that call it, a clock, AWS faults."""

import gc
import random
import sys
from collections.abc import Iterator
from functools import cache

import botocore.session
import pytest
from botocore.config import Config
from hypothesis import HealthCheck, settings

from shared.http import rate_limit, slow_requests
from shared.kernel import aws
from shared.kernel.clock import Deadline
from shared.kernel.db import counters
from tests import clock as clocks
from tests import engine, faults
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.sampling import is_complete
from tests.stack import CREDENTIALS, Stack, deployed

# The time of an example depends on the machine, not on the code. Only complete runs try other
# examples each time; a failure shows the option --hypothesis-seed that repeats it.
settings.register_profile(
    "repeatable",
    deadline=None,
    max_examples=100 if is_complete() else 50,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not is_complete(),
    database=None,
)
settings.load_profile("repeatable")

if engine.is_on():
    engine.install()

# MiniStack imports DuckDB for a service that no test uses. When a process ends, DuckDB prints pages
# about leaked objects, below the summary of the run.
sys.modules["duckdb"] = None  # type: ignore[assignment]


def pytest_collection_finish() -> None:
    """Exclude imported modules, which live as long as the process, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


@pytest.fixture(scope="session", autouse=True)
def validated_requests() -> Iterator[None]:
    """Let botocore validate requests, which the functions leave to AWS."""
    validating = Config(parameter_validation=True)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_CONFIG", "_S3_CONFIG"):
            patch.setattr(aws, name, getattr(aws, name).merge(validating))
        yield


@pytest.fixture(scope="session", autouse=True)
def _service_models_read_once() -> Iterator[None]:
    """Let all sessions of botocore share the files that they read, such as the service models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", cache(botocore.session.create_loader))
        yield


@pytest.fixture(autouse=True)
def _repeatable_random_numbers(request: pytest.FixtureRequest) -> None:
    """Let a test draw the same random numbers in every run, for jitter and shards among others."""
    if not is_complete():
        random.seed(request.node.nodeid)


@pytest.fixture(autouse=True)
def _requests_cost_one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charge requests neither for their duration, which depends on the machine, nor for reading.

    What an invocation has read is counted for the process, where a test runs several at once.
    """
    monkeypatch.setattr(Deadline, "elapsed_ms", 0.0)
    for module in (rate_limit, slow_requests):
        monkeypatch.setattr(module, "read_units", lambda: 0.0)


@pytest.fixture(autouse=True)
def no_real_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace AWS credentials, so that no test reaches a real account."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that advances when the test or a waiting service moves it."""
    return clocks.install(monkeypatch)


@pytest.fixture
def aws_faults(monkeypatch: pytest.MonkeyPatch) -> AwsFaults:
    """A recorder of the AWS calls of the test, which can inject faults."""
    return faults.install(monkeypatch)


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A fresh stack with the tenants acme and beta.

    Totals are spread over two items, because lists read and deletions write all of them.
    """
    monkeypatch.setattr(counters, "SHARDS", 2)
    with deployed(monkeypatch) as stack:
        yield stack


@pytest.fixture
def erp(stack: Stack) -> Erp:
    """The ERP of acme, with every scope."""
    return stack.erp()


@pytest.fixture
def beta(stack: Stack) -> Erp:
    """The ERP of the other tenant beta, with every scope."""
    return stack.erp("beta")
