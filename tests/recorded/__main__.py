"""Record the interface and the tables of this release: `python -m tests.recorded`.

It is a step of each release, and of nothing else.
"""

import httpx
import pytest
from stowage_client import Stowage

from local import demo
from local.demo_imports import TenantBucket
from local.demo_session import Demo
from operations import provisioning
from operations.api_clients import create_client
from shared.kernel.db import schema
from shared.kernel.db.table import EXPIRY
from tests import clock as clocks
from tests import recorded
from tests.integration.test_python_client import FaultyTransport
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY
from tests.recorded import Items, interface
from tests.stack import ADDRESS, Stack, deployed


def _play_demo(stack: Stack, patch: pytest.MonkeyPatch) -> Items:
    """Run the demo, and return the items of the tenant."""
    clock = clocks.install(patch)
    provisioning.switch_modules("acme", off=["bulk_import"])  # its files are not in the table
    patch.setattr(demo, "run_webhooks_demo", lambda *_: None)
    patch.setattr("local.demo_warehouse._WAVE_ORDERS", 2)
    http_client = httpx.Client(transport=FaultyTransport(stack.gateway))
    credentials = create_client("acme", "Demo")
    stowage = Stowage(ADDRESS, *credentials, http_client, clock.advance, clock.monotonic)
    played = Demo(stowage)
    demo.run_demo(played, TenantBucket("imports", "acme"))
    assert all(row[3] for row in played.rows), played.rows
    return stack.items()


def main() -> None:
    """Write the files."""
    interface.record()
    with pytest.MonkeyPatch.context() as patch, deployed(patch) as stack:
        tables: dict[str, Items] = {
            name: [*map(dict, fill(stack.store(), listed, recorded.ROWS, HOURLY).items())]
            for name, listed in LISTS.items()
        }
        # What expires is not upgraded.
        tables[recorded.STORY] = [item for item in _play_demo(stack, patch) if EXPIRY not in item]
    recorded.write(schema.SCHEMA_VERSION, tables)


if __name__ == "__main__":
    main()
