"""What tokens cost, and whether the time of a refusal tells who exists."""

import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import pytest

from operations.api_clients import create_client
from shared.identity.auth import attempt_limits
from tests import faults
from tests.bench.meter import metered
from tests.bench.report import Row, Table, at_most
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import Answer, ask, enrol, give_back, hire, renew
from tests.stack import deployed

_TRIES, _QUICK_TRIES = 200, 40
_WARM_UP = 5
_LATENCY = 0.03
"""Seconds per call: those made at once then overlap, however busy the machine is."""
_GUESSED = 0.6
"""Share of pairs told apart that 200 tries of equal length exceed once in a thousand times."""
_UNSENT = "0" * 24

type _Refused = Callable[[int], Answer]
"""Makes the n-th attempt of one kind."""


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Ask for tokens in every way, rightly and wrongly."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch):
            costs = _costs(aws_faults)
        for limit in (
            "PER_CLIENT",
            "PER_USER",
            "PER_USER_LONG",
            "PER_USER_EVERYWHERE",
            "PER_ADDRESS",
        ):
            patch.setattr(attempt_limits, limit, sys.maxsize)
        with deployed(patch):
            times = _times(_QUICK_TRIES if quick else _TRIES)
    return [costs, times]


def _costs(aws_faults: AwsFaults) -> Table:
    table = Table(
        "Cost of a token",
        ["what is asked for", "round trips", "calls", "read units", "write units"],
        "Warm. Counting an attempt with a password before it is judged, and what became of it, is"
        " one round trip each; a code adds one call of KMS.",
    )
    erp, plain, careful = create_client("acme", "ERP"), hire("anna"), hire("berta")
    enrol(careful)
    secret = {"grant_type": "client_credentials", **erp._asdict()}
    session = plain.sign_in().refresh_token
    ended = plain.sign_in().refresh_token
    token = ask(secret).access_token
    give_back(ask(secret).access_token, **erp._asdict())  # it knows the public key from now on
    deeds: Sequence[tuple[str, int, Callable[[], Answer]]] = (
        ("client_credentials", 3, lambda: ask(secret)),
        ("password", 7, plain.sign_in),
        ("password and code", 8, lambda: careful.sign_in(otp=careful.code())),
        ("password, wrong", 4, lambda: plain.sign_in(password="wrong")),
        ("refresh_token", 5, lambda: renew(session)),
        ("revocation of a client's token", 4, lambda: give_back(token, **erp._asdict())),
        ("revocation of a session", 5, lambda: give_back(ended)),
    )
    for title, bound, deed in deeds:
        aws_faults.latency = _LATENCY
        with aws_faults.recorded() as seen, metered(aws_faults) as units:
            deed()
        aws_faults.latency = 0.0
        cells = [
            title,
            f"{seen.round_trips}",
            f"{len(seen.calls)}",
            f"{units.reads:g}",
            f"{units.writes:g}",
        ]
        table.rows.append(Row(cells, *at_most(seen.round_trips, bound)))
    return table


def _times(tries: int) -> Table:
    table = Table(
        "Time of a refusal",
        ["this against that", "medians, ms", "ratio of the medians", "told apart"],
        f"{tries} tries each, in turn, in one process and against moto, without the limits on"
        " failures. Told apart are the pairs, one of each kind, of which the one kind took longer:"
        " a half of them, where nothing tells the kinds from each other.",
    )
    erp, anna = create_client("acme", "ERP"), hire("carla")
    careful = hire("dora")
    enrol(careful)

    def client(client_id: str) -> Answer:
        form = {"grant_type": "client_credentials", "client_id": client_id}
        return ask(form | {"client_secret": "sws_" + "x" * 43})

    pairs: Sequence[tuple[str, int, _Refused, _Refused]] = (
        (
            "an unknown client, a wrong secret",
            401,
            lambda _: client(f"stw_acme_{_UNSENT}"),
            lambda _: client(erp.client_id),
        ),
        (
            "an unknown user, a wrong password",
            400,
            lambda _: anna.sign_in(username="nobody@acme"),
            lambda _: anna.sign_in(password="wrong horse battery"),
        ),
        (
            "an unknown user with a code, a wrong code",
            400,
            lambda _: careful.sign_in(username="nobody@acme", otp="000000"),
            lambda n: careful.sign_in(otp=f"x{n:05d}"),
        ),
        (
            "a wrong password, a wrong code",
            400,
            lambda _: careful.sign_in(password="wrong horse battery", otp="000000"),
            lambda n: careful.sign_in(otp=f"x{n:05d}"),
        ),
    )
    for title, status, first, second in pairs:
        one, other = _durations(tries, status, first, second)
        medians = statistics.median(one), statistics.median(other)
        apart = _told_apart(one, other)
        cells = [
            title,
            f"{medians[0]:.2f}, {medians[1]:.2f}",
            f"{medians[0] / medians[1]:.3f}",
            f"{apart:.1%}",
        ]
        table.rows.append(Row(cells, *at_most(apart, _GUESSED, "{:.0%}")))
    return table


def _durations(
    tries: int, status: int, first: _Refused, second: _Refused
) -> tuple[list[float], list[float]]:
    """Milliseconds of each try; the kinds take turns in who goes first."""
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


def _told_apart(one: Iterable[float], other: Iterable[float]) -> float:
    """Share of the pairs in which the kind that usually takes longer does."""
    outcomes = [(first > second) - (first < second) for first, second in product(one, other)]
    return 0.5 + abs(statistics.fmean(outcomes)) / 2
