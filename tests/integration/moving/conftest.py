from collections.abc import Iterator

import pytest

from tests.clock import Clock
from tests.integration.moving.two_deployments import TwoDeployments
from tests.stack import Stack, clear_all_caches, deploy_another


@pytest.fixture
def both(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoDeployments]:
    """Two deployments: one with the tenant acme, which has data of every kind, and an empty one."""
    assert clock
    pair = TwoDeployments(stack, deploy_another("other"), monkeypatch)
    pair.populate()
    yield pair
    clear_all_caches()
