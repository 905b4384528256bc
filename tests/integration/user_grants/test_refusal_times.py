"""The time of a refusal does not reveal whether a user or a client exists.

The test measures real time, in a complete run only (`make sweep`): the step that hides the
difference makes each refusal take a tenth of a second.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterable
from itertools import product

import pytest

from functions.oauth import app as oauth
from operations.api_clients import create_client
from shared.identity.auth import attempt_limits
from tests.integration.user_grants.oauth_requests import (
    ExampleUser,
    OAuthResponse,
    create_example_user,
    enable_two_step,
    request_token,
)
from tests.sampling import is_complete

_TRIES, _WARM_UP = 200, 5
_DISTINGUISHABLE = 0.6
"""Share of distinguishable pairs; 200 tries of equal duration exceed it with probability 0.001."""
_STEP_MS = oauth.REFUSAL_STEP_MS

type _Attempt = Callable[[int], OAuthResponse]
"""Makes attempt number n of one kind."""


def _client(client_id: str) -> _Attempt:
    form = {"grant_type": "client_credentials", "client_id": client_id}
    return lambda _: request_token(form | {"client_secret": "sws_" + "x" * 43})


def _kinds() -> dict[str, tuple[_Attempt, _Attempt]]:
    """Return pairs of refusals that must not be distinguishable."""
    anna, careful = create_example_user("anna"), create_example_user("berta")
    enable_two_step(careful)

    def wrong_code(number: int) -> OAuthResponse:
        return careful.sign_in(otp=f"x{number:05d}")

    def wrong_password(user: ExampleUser, **form: str) -> _Attempt:
        return lambda _: user.sign_in(password="wrong horse battery", **form)

    def unknown(user: ExampleUser, **form: str) -> _Attempt:
        return lambda _: user.sign_in(username="nobody@acme", **form)

    return {
        "client": (
            _client(f"stw_acme_{'0' * 24}"),
            _client(create_client("acme", "ERP").client_id),
        ),
        "user": (unknown(anna), wrong_password(anna)),
        "user with code": (unknown(careful, otp="000000"), wrong_code),
        "password and code": (wrong_password(careful, otp="000000"), wrong_code),
    }


@pytest.mark.skipif(not is_complete(), reason="takes minutes")
@pytest.mark.usefixtures("stack")
def test_refusals_are_not_distinguishable_by_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oauth, "REFUSAL_STEP_MS", _STEP_MS)
    for limit in [name for name in vars(attempt_limits) if name.startswith("PER_")]:
        monkeypatch.setattr(attempt_limits, limit, sys.maxsize)

    shares = {name: _distinguishable(*_durations(*kinds)) for name, kinds in _kinds().items()}

    assert {name: share for name, share in shares.items() if share > _DISTINGUISHABLE} == {}


def _durations(first: _Attempt, second: _Attempt) -> tuple[list[float], list[float]]:
    """Return the seconds of each try; the kinds alternate in order."""
    durations: tuple[list[float], list[float]] = ([], [])
    for number in range(-_WARM_UP, _TRIES):
        kinds = ((0, first), (1, second))
        for kind, attempt in kinds if number % 2 else reversed(kinds):
            began = time.perf_counter()
            assert attempt(abs(number)).status in {400, 401}
            if number >= 0:
                durations[kind].append(time.perf_counter() - began)
    return durations


def _distinguishable(one: Iterable[float], other: Iterable[float]) -> float:
    """Return the share of pairs in which the usually slower kind took longer: 0.5 if neither is."""
    outcomes = [(first > second) - (first < second) for first, second in product(one, other)]
    return 0.5 + abs(statistics.fmean(outcomes)) / 2
