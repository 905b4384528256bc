"""The smoke test of `stowage smoke` on the local stack, without its wait before the removal."""

import httpx
import pytest

from local import deployment
from operations import draining, smoke
from operations.tenant_overview import get_overview
from operations.tenant_tables import describe_table
from shared.kernel.config import config
from tests.e2e.conftest import TIMEOUT, Deployed


@pytest.mark.usefixtures("operator")
def test_smoke_test_passes_and_leaves_nothing(
    stack: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "DRAIN_SECONDS", 0)
    monkeypatch.setenv("IMPORT_BUCKET", stack.import_bucket)
    monkeypatch.setenv("IMPORT_WORK_BUCKET", deployment.outputs()["ImportWorkBucket"])
    config.cache_clear()
    slug = smoke.new_slug()
    try:
        with httpx.Client(timeout=TIMEOUT) as http:
            steps = list(smoke.SmokeTest(slug, stack.base_url, http).run())
    finally:
        smoke.remove(slug)
    assert [one.step for one in steps] == [
        "create a tenant",
        "get a token",
        "create master data",
        "subscribe to events",
        "receive a purchase order",
        "pick and dispatch an order",
        "compare the stock",
        "import a file",
        "import a dropped file",
        "deliver an event",
    ]
    assert get_overview(slug).state == "deleted"
    assert describe_table(config().tenant_table(slug)) is None
