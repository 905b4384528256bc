from collections.abc import Iterator, Sequence

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.lists import LISTS
from tests.sampling import is_complete, sampled
from tests.stack import Stack, deployed

_SIZES = (0, 1, 25, 26, 250)
"""Numbers of rows: none, one, one page, one page and one row, many pages."""


_RARE_TIES = ("/products", "/product-categories", "/clients", "/providers", "/users", "/roles")
"""Lists whose names are equal among many rows only."""


def _each_list(*sizes: int, others: Sequence[int] = _SIZES) -> list[tuple[str, int]]:
    """Return every list with these numbers of rows, and some lists with the others too."""
    names = {size: list(LISTS) for size in sizes}
    for size in set(others) - set(sizes):
        names[size] = sampled(f"lists of {size} rows", list(LISTS), every=9)
    return [(name, size) for name in LISTS for size in sorted(names) if name in names[size]]


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


def _filled(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    name, size = request.param
    with lists.filled(LISTS[name], size) as listing:
        yield listing


@pytest.fixture(params=_each_list(26), ids=str)
def listing(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """Each list with a second page, some of other sizes."""
    yield from _filled(lists, request)


@pytest.fixture(params=_each_list(50), ids=str)
def mixed_list(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """Each list with rows that each filter returns, and rows that it does not."""
    yield from _filled(lists, request)


@pytest.fixture(params=_each_list(50, others=_SIZES if is_complete() else ()), ids=str)
def list_of_50(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """The lists of `mixed_list`; a sample has one size only."""
    yield from _filled(lists, request)


@pytest.fixture(params=_each_list(50, others=[250]), ids=str)
def telling_list(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """The lists of `mixed_list` that are long enough for all their filters."""
    yield from _filled(lists, request)


def _with_ties(others: Sequence[int] = _SIZES) -> list[tuple[str, int]]:
    needed = [(name, 250 if name in _RARE_TIES else 50) for name in LISTS]
    return list(dict.fromkeys([*needed, *_each_list(others=others)]))


@pytest.fixture(params=_with_ties(), ids=str)
def tied_list(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """Each list with rows that are equal in each sort value."""
    yield from _filled(lists, request)


@pytest.fixture(params=_with_ties([250]), ids=str)
def surely_tied_list(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """The lists of `tied_list` that are long enough for all their sort values."""
    yield from _filled(lists, request)
