from collections.abc import Iterator

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.lists import LISTS
from tests.stack import Stack, deployed

SIZES = (0, 1, 25, 26, 250)
"""Numbers of rows: none, one, one page, one page and one row, many pages."""


@pytest.fixture(scope="module")
def lists() -> Iterator[FilledLists]:
    """Lists of any length, in one stack for the module."""
    with pytest.MonkeyPatch.context() as patch, deployed(patch) as stack:
        lists = FilledLists(stack)
        lists.install(patch)
        yield lists


@pytest.fixture(scope="module")
def stack(lists: FilledLists) -> Stack:
    """The stack of the module; tests must not change it."""
    return lists.stack


@pytest.fixture(params=LISTS)
def list_name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(params=SIZES)
def listing(
    lists: FilledLists, list_name: str, request: pytest.FixtureRequest
) -> Iterator[FilledList]:
    """Each list with each number of rows."""
    with lists.filled(LISTS[list_name], request.param) as listing:
        yield listing
