"""Concurrent changes of API clients."""

from collections import Counter
from functools import partial

from operations.provisioning import set_plan
from tests.gateway import Erp
from tests.integration.settings.api_client_requests import (
    create_api_client,
    secret_works,
    stored_client_counts,
)
from tests.integration.write_settings import ERP
from tests.interleaving import DEFAULT_SEED_COUNT, Scheduler, each_seed
from tests.stack import Stack


def test_concurrent_creations_do_not_exceed_the_limit_of_the_plan(
    stack: Stack, erp: Erp, scheduler: Scheduler
) -> None:
    set_plan("acme", "essentials")
    for seed in each_seed(stack, DEFAULT_SEED_COUNT // 2):
        acts = [
            partial(erp.post, "/api-clients", {**ERP, "name": f"ERP {number}"})
            for number in range(20)
        ]
        answers = scheduler.run(acts, seed)
        assert Counter(answer.status for answer in answers) == {201: 2, 402: 18}
        assert stored_client_counts(stack) == (2, 0)
        assert erp.get("/api-clients").json()["meta"]["total"] == 2
        entries = erp.get("/audit-log", query={"action": "client.created"})
        assert entries.json()["meta"]["total"] == 2


def test_concurrent_rotations_keep_the_secret_in_use(
    stack: Stack, erp: Erp, scheduler: Scheduler
) -> None:
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}/rotate-secret"
    for seed in each_seed(stack):
        answers = scheduler.run([partial(erp.post, path)] * 3, seed)
        statuses = Counter(answer.status for answer in answers)
        assert statuses.keys() <= {200, 409}
        won = [answer.data["client_secret"] for answer in answers if answer.status == 200]
        alive = [
            secret_works(stack, made["id"], secret) for secret in (made["client_secret"], *won)
        ]
        # sequential rotations keep only the two newest secrets
        assert alive.count(True) == 2
        assert len(won) > 1 or alive == [True, True]
        entries = erp.get("/audit-log", query={"action": "client.rotated"})
        assert entries.json()["meta"]["total"] == len(won)


def test_client_revoked_concurrently_with_other_changes_is_counted_once(
    stack: Stack, erp: Erp, scheduler: Scheduler
) -> None:
    made = create_api_client(erp)
    path = f"/api-clients/{made['id']}"
    for seed in each_seed(stack):
        acts = [
            partial(erp.delete, path),
            partial(erp.post, f"{path}/rotate-secret", {"keep_previous": False}),
            partial(erp.delete, path),
            partial(erp.patch, path, {"scopes": ["stocks:read"]}),
        ]
        answers = scheduler.run(acts, seed)
        revoked = Counter(answers[number].status for number in (0, 2))
        assert revoked == {200: 1, 410: 1}
        assert stored_client_counts(stack) == (0, 0)
        secrets = [made["client_secret"]]
        if answers[1].status == 200:
            secrets.append(answers[1].data["client_secret"])
        assert not any(secret_works(stack, made["id"], secret) for secret in secrets)
        entries = erp.get("/audit-log", query={"action": "client.revoked"})
        assert entries.json()["meta"]["total"] == 1
