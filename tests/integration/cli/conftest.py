from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from cli import confirmation
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.cli.command_line import Run, deploy_stack, run
from tests.integration.control_plane import deployed
from tests.integration.offboarding.company import Company, deploy_api
from tests.stack import Stack


@pytest.fixture
def bare_faults() -> Iterator[AwsFaults]:
    """Recorder of the AWS calls in a deployed stack without tenants."""
    with deployed() as bare_faults:
        yield bare_faults


@pytest.fixture
def stowage(bare_faults: AwsFaults) -> Run:
    """The command line, for a deployed stack without tenants."""
    assert bare_faults
    deploy_stack()
    return run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input is a terminal, so that a command can ask for confirmation."""
    stdin = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(confirmation, "sys", SimpleNamespace(stdin=stdin))


@pytest.fixture
def company(stack: Stack, clock: Clock) -> Company:
    """The tenant acme with data of every kind, in a stack that the command line finds."""
    assert clock
    company = Company(stack, deploy_api())
    company.populate()
    deploy_stack(ApiId=company.api)
    return company
