"""Cost of tokens, and timing of refusals: it must not reveal whether a user or client exists."""

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import pytest

from operations.api_clients import create_client
from shared.identity.auth import attempt_limits
from tests import faults
from tests.bench.report import Row, Table, at_most
from tests.bench.request_cost import measured
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import (
    OAuthResponse,
    create_example_user,
    enable_two_step,
    refresh,
    request_token,
    revoke,
)
from tests.stack import deployed

_TRIES, _QUICK_TRIES = 200, 40
_WARM_UP = 5
_DISTINGUISHABLE_BOUND = 0.6
"""Share of distinguishable pairs; 200 tries of equal duration exceed it with probability 0.001."""
_UNSENT = "0" * 24

type _Refused = Callable[[int], OAuthResponse]
"""Makes attempt number n of one kind."""


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure successful and refused token requests."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch):
            costs = _costs(aws_faults)
        for limit in (
            "PER_CLIENT",
            "PER_USER",
            "PER_USER_LONG_WINDOW",
            "PER_USER_ALL_ADDRESSES",
            "PER_ADDRESS",
        ):
            patch.setattr(attempt_limits, limit, sys.maxsize)
        with deployed(patch):
            times = _times(_QUICK_TRIES if quick else _TRIES)
    return [costs, times]


def _costs(aws_faults: AwsFaults) -> Table:
    table = Table(
        "Cost of a token",
        ["request", "round trips", "calls", "read units", "write units"],
        "In a warm execution environment. A password attempt is counted before it is verified, and"
        " its result is stored afterwards, with one round trip each; a code adds one call of KMS.",
    )
    erp, plain, careful = (
        create_client("acme", "ERP"),
        create_example_user("anna"),
        create_example_user("berta"),
    )
    enable_two_step(careful)
    secret = {"grant_type": "client_credentials", **erp._asdict()}
    session = plain.sign_in().refresh_token
    ended = plain.sign_in().refresh_token
    token = request_token(secret).access_token
    revoke(request_token(secret).access_token, **erp._asdict())  # fill the cache of public keys
    requests: Sequence[tuple[str, int, Callable[[], OAuthResponse]]] = (
        ("client_credentials", 3, lambda: request_token(secret)),
        ("password", 7, plain.sign_in),
        ("password and code", 8, lambda: careful.sign_in(otp=careful.code())),
        ("wrong password", 4, lambda: plain.sign_in(password="wrong")),
        ("refresh_token", 5, lambda: refresh(session)),
        ("revocation of a client's token", 4, lambda: revoke(token, **erp._asdict())),
        ("revocation of a session", 5, lambda: revoke(ended)),
    )
    for title, bound, send in requests:
        with measured(aws_faults) as cost:
            send()
        table.rows.append(Row([title, *cost.cells], *at_most(cost.round_trips, bound)))
    return table


def _times(tries: int) -> Table:
    table = Table(
        "Time of a refusal",
        ["compared refusals", "medians, ms", "ratio of medians", "distinguishable"],
        f"{tries} tries of each kind, in turn, in one process on moto, without the limits of failed"
        " attempts. Distinguishable is the share of pairs, one try of each kind, in which the"
        " usually slower kind took longer. It is 50 % when timing does not reveal the kind.",
    )
    erp, anna = create_client("acme", "ERP"), create_example_user("carla")
    careful = create_example_user("dora")
    enable_two_step(careful)

    def client(client_id: str) -> OAuthResponse:
        form = {"grant_type": "client_credentials", "client_id": client_id}
        return request_token(form | {"client_secret": "sws_" + "x" * 43})

    pairs: Sequence[tuple[str, int, _Refused, _Refused]] = (
        (
            "unknown client, wrong secret",
            401,
            lambda _: client(f"stw_acme_{_UNSENT}"),
            lambda _: client(erp.client_id),
        ),
        (
            "unknown user, wrong password",
            400,
            lambda _: anna.sign_in(username="nobody@acme"),
            lambda _: anna.sign_in(password="wrong horse battery"),
        ),
        (
            "unknown user with code, wrong code",
            400,
            lambda _: careful.sign_in(username="nobody@acme", otp="000000"),
            lambda n: careful.sign_in(otp=f"x{n:05d}"),
        ),
        (
            "wrong password, wrong code",
            400,
            lambda _: careful.sign_in(password="wrong horse battery", otp="000000"),
            lambda n: careful.sign_in(otp=f"x{n:05d}"),
        ),
    )
    for title, status, first, second in pairs:
        one, other = _durations(tries, status, first, second)
        medians = statistics.median(one), statistics.median(other)
        distinguishable = _distinguishable_share(one, other)
        cells = [
            title,
            f"{medians[0]:.2f}, {medians[1]:.2f}",
            f"{medians[0] / medians[1]:.3f}",
            f"{distinguishable:.1%}",
        ]
        table.rows.append(Row(cells, *at_most(distinguishable, _DISTINGUISHABLE_BOUND, "{:.0%}")))
    return table


def _durations(
    tries: int, status: int, first: _Refused, second: _Refused
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each try; the kinds alternate in order."""
    durations: tuple[list[float], list[float]] = ([], [])
    for number in range(-_WARM_UP, tries):
        kinds = ((0, first), (1, second))
        for kind, attempt in kinds if number % 2 else reversed(kinds):
            began = time.perf_counter()
            answer = attempt(abs(number))
            took = (time.perf_counter() - began) * 1_000
            assert answer.status == status, answer
            if number >= 0:
                durations[kind].append(took)
    return durations


def _distinguishable_share(one: Iterable[float], other: Iterable[float]) -> float:
    """Return the share of pairs in which the usually slower kind took longer."""
    outcomes = [(first > second) - (first < second) for first, second in product(one, other)]
    return 0.5 + abs(statistics.fmean(outcomes)) / 2
