"""The stack in which everything is measured: deployed on moto, with the cost of each AWS call."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests import faults
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.stack import Stack, deployed


@dataclass(frozen=True, slots=True)
class BenchStack:
    """A deployed stack, the watch over its AWS calls, and changes that end with it."""

    stack: Stack
    aws_faults: AwsFaults
    patch: pytest.MonkeyPatch

    @property
    def gauge(self) -> Gauge:
        """A client whose requests are measured."""
        return Gauge(self.stack, self.aws_faults)


@contextmanager
def bench_stack() -> Iterator[BenchStack]:
    """Deploy a stack for the block."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            yield BenchStack(stack, aws_faults, patch)
