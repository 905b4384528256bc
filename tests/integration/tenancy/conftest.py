from collections.abc import Iterator

import pytest

from tests.faults import AwsFaults
from tests.integration.control_plane import deployed


@pytest.fixture
def aws_faults() -> Iterator[AwsFaults]:
    """Recorder of the AWS calls in a deployed stack without tenants."""
    with deployed() as aws_faults:
        yield aws_faults
