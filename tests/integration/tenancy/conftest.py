from collections.abc import Iterator

import pytest

from tests.integration.control_plane import Wire, deployed


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A deployed stack without tenants."""
    with deployed() as wire:
        yield wire
