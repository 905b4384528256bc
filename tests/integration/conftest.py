import hashlib
import io
import logging
from collections.abc import Iterator

import pytest

from shared.observability import logger
from shared.users import passwords
from tests.aws_calls import Watch, watched
from tests.integration.roles import ARNS, Roles
from tests.stack import Stack


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """Hash passwords as the service does, but at the least cost: hundreds are made here.

    What a hash costs is looked at in `tests/unit/users` and in the bench.
    """
    with pytest.MonkeyPatch.context() as patch:
        form = passwords._FORM.replace(f"m={passwords._MEMORY_KIB}", "m=8")
        form = form.replace(f"t={passwords._PASSES}", "t=1")
        assert form != passwords._FORM
        patch.setattr(passwords, "_NOBODYS", passwords._NOBODYS.replace(passwords._FORM, form))
        patch.setattr(passwords, "_FORM", form)
        patch.setattr(passwords, "_MEMORY_KIB", 8)
        patch.setattr(passwords, "_PASSES", 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def _cheap_fingerprints() -> Iterator[None]:
    """Use the least cost of scrypt, with which the service hashes requests that carry a secret."""
    scrypt = hashlib.scrypt
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashlib, "scrypt", lambda *args, **names: scrypt(*args, **{**names, "n": 2}))
        yield


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
