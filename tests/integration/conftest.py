import hashlib
import io
import logging
from collections.abc import Callable, Iterator

import pytest

from functions.oauth import app as oauth
from shared.identity.users import passwords
from shared.kernel.db.transaction import Transaction
from shared.kernel.observability import logger
from tests.aws_calls import Watch, recorded_calls
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.roles import ARNS, Roles
from tests.interleaving import Scheduler
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario
from tests.webhook_scenario import WebhookScenario, open_webhook_scenario

type BeforeNextCommit = Callable[[Callable[[], Response]], list[Response]]


@pytest.fixture(scope="package", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """Hash passwords with the lowest cost, since the tests hash hundreds of them.

    `tests/unit/users` and the benchmark cover the real cost.
    """
    with pytest.MonkeyPatch.context() as patch:
        form = passwords._PHC_PREFIX.replace(f"m={passwords._MEMORY_KIB}", "m=8")
        form = form.replace(f"t={passwords._PASSES}", "t=1")
        assert form != passwords._PHC_PREFIX
        patch.setattr(
            passwords, "_DUMMY_HASH", passwords._DUMMY_HASH.replace(passwords._PHC_PREFIX, form)
        )
        patch.setattr(passwords, "_PHC_PREFIX", form)
        patch.setattr(passwords, "_MEMORY_KIB", 8)
        patch.setattr(passwords, "_PASSES", 1)
        yield


@pytest.fixture(scope="package", autouse=True)
def _cheap_fingerprints() -> Iterator[None]:
    """Use the least cost of scrypt, with which the service hashes requests that carry a secret."""
    scrypt = hashlib.scrypt
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashlib, "scrypt", lambda *args, **names: scrypt(*args, **{**names, "n": 2}))
        yield


@pytest.fixture(scope="package", autouse=True)
def _short_refusals() -> Iterator[None]:
    """Shorten the delay of refused token requests; `make bench` measures the real one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oauth, "REFUSAL_STEP_MS", 1)
        yield


@pytest.fixture
def roles(stack: Stack) -> Roles:
    return Roles.of(stack)


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """The warehouses YARD and SHOP, with master data and without stock."""
    return WarehouseScenario.with_master_data(erp, "YARD", "SHOP")


@pytest.fixture
def consistent_stock(stack: Stack) -> Iterator[None]:
    """Assert the invariants of stock after the test, whatever it did."""
    yield
    assert_invariants(stack.store())


@pytest.fixture
def webhooks(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebhookScenario]:
    """The webhooks of acme. The clock advances only in the test and in waits of the service."""
    del clock
    with open_webhook_scenario(stack, monkeypatch) as webhooks:
        yield webhooks


@pytest.fixture
def slow_aws_calls(aws_faults: AwsFaults) -> AwsFaults:
    """Delay each AWS call, so that concurrent requests overlap."""
    aws_faults.latency = 0.01
    return aws_faults


@pytest.fixture
def scheduler(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Run actions concurrently, interleaved at their AWS calls as a seed says."""
    return Scheduler(aws_faults, monkeypatch)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Function, call: pytest.CallInfo[None]) -> None:
    """Add the command that replays an interleaving to the message of its failure."""
    scheduler = getattr(item, "funcargs", {}).get("scheduler")
    if call.excinfo and scheduler and scheduler.seed is not None:
        call.excinfo.value.add_note(
            f"Replay: make random SEED={scheduler.seed} INTERLEAVINGS=1 ARGS='-k NAME'"
        )


@pytest.fixture
def before_next_commit(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> BeforeNextCommit:
    """Return a function that sends a request before the next commit of another request."""
    assert clock.monotonic() > 0  # the clock fixture makes waits immediate
    commit = Transaction.commit

    def arrange(other: Callable[[], Response]) -> list[Response]:
        answers: list[Response] = []
        pending = [other]

        def interrupted(tx: Transaction) -> None:
            if pending:
                answers.append(pending.pop()())
            commit(tx)

        monkeypatch.setattr(Transaction, "commit", interrupted)
        return answers

    return arrange


@pytest.fixture
def watch(stack: Stack) -> Iterator[Watch]:
    """The recorded AWS calls of all functions; each runs with its variables of the template."""
    with recorded_calls(ARNS, stack.template.environment) as watch:
        yield watch


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log output of the test."""
    handler, lines = logger.registered_handler, io.StringIO()
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(lines)
    yield lines
    handler.setStream(before)
