import pytest

from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.verify.company import build_company
from tests.integration.verify.planting import Table
from tests.sampling import is_complete
from tests.stack import Stack


@pytest.fixture(autouse=True)
def _few_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep totals in few items, because moto sorts all items of a table for each query."""
    if not is_complete():
        monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 2)


@pytest.fixture
def table(stack: Stack, erp: Erp, clock: Clock) -> Table:
    """The table of a company with every kind of data; pauses take no time."""
    build_company(erp)
    clock.freeze()
    return Table(stack)
