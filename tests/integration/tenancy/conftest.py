from collections.abc import Iterator

import pytest

from tests.integration.control_plane import Wire, deployed


@pytest.fixture
def aws_faults() -> Iterator[Wire]:
    """A deployed stack without tenants."""
    with deployed() as aws_faults:
        yield aws_faults
