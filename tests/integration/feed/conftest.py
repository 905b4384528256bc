"""A company whose feed of changes is complete at the beginning of each test."""

import pytest

from tests.feed_scenario import FeedScenario
from tests.webhook_scenario import WebhookScenario


@pytest.fixture
def feed(webhooks: WebhookScenario) -> FeedScenario:
    """The feed of acme, which has what exists in acme."""
    return FeedScenario.started(webhooks)
