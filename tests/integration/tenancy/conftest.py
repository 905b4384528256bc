from collections.abc import Iterator

import pytest

from tests.integration.control_plane import AwsCallHooks, deployed


@pytest.fixture
def aws_hooks() -> Iterator[AwsCallHooks]:
    """Recorder of the AWS calls in a deployed stack without tenants."""
    with deployed() as aws_hooks:
        yield aws_hooks
