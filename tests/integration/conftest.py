import io
import logging
from collections.abc import Iterator

import pytest

from shared.observability import logger
from tests.aws_calls import Watch, watched
from tests.integration.roles import ARNS, Roles
from tests.stack import Stack


@pytest.fixture
def roles(stack: Stack) -> Roles:
    """The roles of the stack."""
    return Roles(stack)


@pytest.fixture
def watch(stack: Stack) -> Iterator[Watch]:
    """The calls of the test's functions, each with the variables that the template gives it."""
    with watched(ARNS, stack.template.environment) as watch:
        yield watch


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is logged during the test."""
    handler, lines = logger.registered_handler, io.StringIO()
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(lines)
    yield lines
    handler.setStream(before)
