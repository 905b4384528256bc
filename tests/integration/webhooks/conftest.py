from collections.abc import Iterator

import pytest

from tests.clock import Clock
from tests.stack import Stack
from tests.webhook_scenario import WebhookDesk, open_desk


@pytest.fixture
def desk(stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookDesk]:
    """acme's webhooks; time passes only when the test says so, or while the service waits."""
    del clock
    with open_desk(stack, monkeypatch) as desk:
        yield desk
