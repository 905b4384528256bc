from collections.abc import Iterator

import pytest

from tests.clock import Clock
from tests.stack import Stack
from tests.webhook_scenario import WebhookDesk, open_desk


@pytest.fixture
def webhooks(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookDesk]:
    """The webhooks of acme. The clock advances only in the test and in waits of the service."""
    del clock
    with open_desk(stack, monkeypatch) as webhooks:
        yield webhooks
