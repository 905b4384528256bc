"""Fixtures of the tests of the floor: a warehouse, and people with handhelds."""

from collections.abc import Callable

import httpx
import pytest

from tests.e2e.console.floor.handheld import PIN, Handheld
from tests.e2e.console.floor.site import Site

type NewHandheld = Callable[..., Handheld]


@pytest.fixture
def site(acme: httpx.Client, run: str) -> Site:
    """A warehouse of this test with goods."""
    return Site.built(acme, run)


@pytest.fixture
def new_handheld(new_person: Callable[..., object]) -> NewHandheld:
    """Sign a new person in at a device of their own, with a PIN."""

    def make(*permissions: str, **options: object) -> Handheld:
        handheld = Handheld.of(new_person(*permissions, **options))
        handheld.sign_in(PIN)
        return handheld

    return make


@pytest.fixture
def handheld(new_handheld: NewHandheld) -> Handheld:
    """The device of a person with every permission."""
    return new_handheld()
