"""Rules that the kinds of work share: the place of an undo."""

from collections.abc import Collection, Iterator

from shared.kernel.errors import Problem


def place_problems(
    done: str, item_code: str, named: str | None, places: Collection[str | None]
) -> Iterator[Problem]:
    """Yield a problem of an undo that names a position which is not among `places`.

    `done` says what is undone, such as "picked"; `places` are the positions where it was done.
    """
    if named is not None and named not in places:
        yield Problem("bin_code", f"nothing of {item_code} is {done} at {named}")
