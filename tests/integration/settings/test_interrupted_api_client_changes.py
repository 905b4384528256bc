"""Interrupted changes of API clients: the counters stay exact and no secret is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, Fault, Killed, conflict, kill_after, kill_before, lose_answer
from tests.gateway import Erp, Response
from tests.integration.settings.api_client_requests import (
    create_api_client,
    secret_works,
    stored_client_counts,
)
from tests.integration.write_settings import ERP
from tests.stack import Stack

_AFTER_A_DEATH = 61
"""Seconds after which the idempotency claim of an interrupted request has expired."""

type Act = Callable[[Erp, dict[str, Any]], Response]

_ACTS: dict[str, Act] = {
    "create": lambda erp, _: erp.post("/api-clients", {**ERP, "name": "Shop"}, key="once"),
    "rotate": lambda erp, made: erp.post(f"/api-clients/{made['id']}/rotate-secret", key="once"),
    "revoke": lambda erp, made: erp.delete(f"/api-clients/{made['id']}", key="once"),
}


def _true_count(stack: Stack, erp: Erp) -> int:
    """Return the number of clients; check that the stored counter is equal."""
    total: int = erp.get("/api-clients").json()["meta"]["total"]
    assert stored_client_counts(stack) == (total, 0)
    return total


@pytest.mark.parametrize("act", _ACTS)
@pytest.mark.parametrize("kind", [kill_before, kill_after])
def test_interrupted_request_can_be_retried_with_the_same_key(
    act: str, kind: Callable[[int], Fault], stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp = stack.erp()
    made = create_api_client(erp)
    as_prepared = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        _ACTS[act](erp, made)
    for at in range(len(seen.calls)):
        as_prepared()
        with pytest.raises(Killed), aws_faults.faulty(kind(at)):
            _ACTS[act](erp, made)
        assert _true_count(stack, erp) in {"create": {1, 2}, "rotate": {1}, "revoke": {0, 1}}[act]
        clock.advance(_AFTER_A_DEATH)

        answer = _ACTS[act](erp, made)

        assert answer.status == (201 if act == "create" else 200), answer.text
        assert _true_count(stack, erp) == {"create": 2, "rotate": 1, "revoke": 0}[act]
        if act != "revoke":
            assert secret_works(stack, answer.data["id"], answer.data["client_secret"])
            assert secret_works(stack, made["id"], made["client_secret"])
        else:
            assert not secret_works(stack, made["id"], made["client_secret"])


@pytest.mark.parametrize("act", _ACTS)
@pytest.mark.parametrize("fault", [lambda: conflict(times=4), lambda: lose_answer(3)])
def test_retried_calls_take_effect_once(
    act: str, fault: Callable[[], Fault], stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    assert clock
    erp = stack.erp()
    made = create_api_client(erp)
    with aws_faults.faulty(fault()):
        assert _ACTS[act](erp, made).status in {200, 201}
    assert _true_count(stack, erp) == {"create": 2, "rotate": 1, "revoke": 0}[act]
