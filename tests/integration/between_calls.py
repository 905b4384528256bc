"""What happens when something else is done between two AWS calls of an action."""

from collections.abc import Callable, Iterator

from tests.faults import AwsFaults, stuck_before
from tests.sampling import sampled
from tests.stack import Stack

_MOST_CALLS = 100


def before_each_call[R](
    stack: Stack,
    aws_faults: AwsFaults,
    act: Callable[[], object],
    meanwhile: Callable[[], R],
    *,
    family: str,
    every: int,
    at_least: int,
) -> Iterator[R]:
    """Run `act` from the same state again and again, with `meanwhile` before another of its calls.

    Args:
        stack: The stack with the state.
        aws_faults: The recorder of the AWS calls.
        act: Runs the action, and asserts that it succeeds.
        meanwhile: Does something else.
        family: Name of the cases.
        every: Every how many calls are tried, unless all are.
        at_least: The number of calls that the action makes at least.

    Yields:
        What `meanwhile` returned, after the action.
    """
    restore = stack.take_snapshot()
    results: list[R] = []
    for at in sampled(family, range(_MOST_CALLS), every=every):
        restore()
        results.clear()
        with aws_faults.faulty(stuck_before(at, lambda: results.append(meanwhile()))):
            act()
        if not results:
            break
        yield results[0]
    assert at > at_least
