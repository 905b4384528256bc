"""The stack in which everything is measured: deployed on moto, with the cost of each AWS call."""

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import pytest

from operations.api_clients import create_client
from tests import faults
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
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


def token_request(stack: Stack) -> Callable[[], Response]:
    """Return what requests a token for a new API client."""
    client = ":".join(create_client("acme", "ERP")).encode()
    headers = {
        "Authorization": f"Basic {base64.b64encode(client).decode()}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    caller, form = Erp(stack.gateway, None), "grant_type=client_credentials"
    return partial(caller.post, "/oauth/token", raw=form, headers=headers)
