"""The stack in which everything is measured: deployed on moto, with the cost of each AWS call."""

import base64
import random
import secrets
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pytest

from operations.api_clients import create_client
from shared.http import api_handler
from shared.http.rate_limit import cost_of
from shared.http.slow_requests import RequestSlot
from shared.kernel.observability import read_units
from tests import clock as clocks
from tests import faults
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.gateway import Erp, Gateway, Response
from tests.stack import Stack, deployed

_BEGAN = 1_767_225_600.0005
"""2026-01-01, in seconds since the epoch."""
_BETWEEN_REQUESTS = 0.137


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
    """Deploy a stack for the block.

    Every run has the same times, random ids and parts of counters; the clock moves between requests
    only, and each request draws from a seed of its own, whatever threads drew before it. So date,
    chance and the speed of the machine change neither the items that are written, nor their packed
    sizes, nor what caches hold.
    """
    ids, seeds = random.Random(1), count(2)  # noqa: S311 - of tests
    random.seed(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", ids.randbytes)
        patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=ids.getrandbits(128), version=4))
        aws_faults = faults.install(patch)
        clock, request = clocks.install_for_tokens(patch), Gateway.request
        clock.freeze()
        clock.advance(_BEGAN - clock.time())

        def request_later(gateway: Gateway, *arguments: Any, **named: Any) -> Response:
            clock.advance(_BETWEEN_REQUESTS)
            seed = next(seeds)
            ids.seed(seed)
            random.seed(seed)
            return request(gateway, *arguments, **named)

        patch.setattr(Gateway, "request", request_later)
        # Neither is the time counted that a request takes on a busy machine.
        patch.setattr(RequestSlot, "take_if_slow", lambda _: None)
        patch.setattr(api_handler, "present_cost", lambda _: cost_of(0, read_units()))
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
