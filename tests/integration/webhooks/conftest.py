from collections.abc import Iterator

import pytest

from tests.clock import Clock
from tests.stack import Stack
from tests.webhook_scenario import WebhookScenario, open_webhook_scenario


@pytest.fixture
def webhooks(
    stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebhookScenario]:
    """The webhooks of acme. The clock advances only in the test and in waits of the service."""
    del clock
    with open_webhook_scenario(stack, monkeypatch) as webhooks:
        yield webhooks
