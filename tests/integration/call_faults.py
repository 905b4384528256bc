"""Faults that concern the calls of one operation."""

import sys
from collections import Counter
from collections.abc import Callable, Container
from itertools import count

from tests.faults import Answer, Call, Fault, Forward, Killed, refusal


def die() -> None:
    """Simulate the death of the process."""
    raise Killed


def at_calls(
    operation: str,
    turns: Container[int] = range(sys.maxsize),
    *,
    before: Callable[[], object] = lambda: None,
    after: Callable[[], object] = lambda: None,
    answer: Callable[[Call], Answer] | None = None,
) -> Fault:
    """Do something before or after calls of an operation, or answer them in the place of AWS.

    Args:
        operation: Name of the operation.
        turns: Which of its calls, counted from 0; by default all.
        before: What is done before a call reaches AWS.
        after: What is done after its effect.
        answer: Answers a call, which then does not reach AWS.
    """
    turn = count().__next__

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation != operation or turn() not in turns:
            return forward()
        if answer:
            return answer(call)
        before()
        result = forward()
        after()
        return result

    return fault


def throttled_at_first(*operations: str) -> Fault:
    """Refuse the first four calls of each operation: botocore gives up after three."""
    turns = Counter[str]()

    def fault(call: Call, forward: Forward) -> Answer:
        turns[call.operation] += call.operation in operations
        return refusal("ThrottlingException") if 1 <= turns[call.operation] <= 4 else forward()

    return fault
