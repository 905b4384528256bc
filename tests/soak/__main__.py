"""Run the traffic, the kills and the checks; print the report (`make soak`)."""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import httpx
from rich.console import Console

from cli.deployment import StackTarget, connect
from local.settings import STACK_NAME
from operations import api_clients, provisioning
from operations.tenant_rules import MAX_REQUESTS_PER_MINUTE
from shared.warehouse.approvals.service import PERMISSION
from tests.live_tenants import tenant_at
from tests.soak.caller import Caller, Company
from tests.soak.checks import (
    EVENTS,
    Account,
    Inbox,
    Receiver,
    check,
    dead_letters,
    settle,
    verify_tenant,
)
from tests.soak.follower import Follower
from tests.soak.journal import Journal
from tests.soak.kills import Killer
from tests.soak.request_log import RequestLog
from tests.soak.stories import POSITIONS, WAREHOUSE, Worker

TENANTS = tuple(f"soak-{number}" for number in range(1, 6))
_WORKERS = 2
"""Clients per tenant that work at once."""
_KILLS_WORKERS_FROM_MINUTES = 5
_SETTLE_SECONDS = {False: 600, True: 900}
"""Longest wait at the end. The message of a killed import worker returns after twelve minutes."""
_ALLOWED_ERRORS = {502, 503, 504}
_FOUND = 1

console = Console(highlight=False, soft_wrap=True)


@dataclass
class Run:
    """One run: its settings, log and kills."""

    minutes: float
    seed: int
    log: RequestLog = field(default_factory=RequestLog)
    began: int = field(default_factory=lambda: int(time.time()))

    @cached_property
    def killer(self) -> Killer:
        """What kills function processes during the run."""
        return Killer(self.rng("kills"), self.minutes >= _KILLS_WORKERS_FROM_MINUTES)

    def rng(self, *part: object) -> random.Random:
        """Return the random numbers of a part of the run."""
        return random.Random(f"{self.seed} {part}")  # noqa: S311 - not security

    @property
    def name(self) -> str:
        """A part of every name that the run gives: two runs with one seed do not collide."""
        return f"{self.seed}.{self.began}"

    def execute(self) -> bool:
        """Execute the run; return whether nothing was found."""
        deployment = connect(StackTarget(STACK_NAME, local=True))
        letters = dead_letters()
        with ExitStack() as open_accounts:
            accounts = [
                open_accounts.enter_context(self._account(slug, deployment.address))
                for slug in TENANTS
            ]
            workers = [worker for account in accounts for worker in self._workers(account)]
            console.print(
                f"{len(workers)} clients of {len(TENANTS)} tenants for {self.minutes:g} minutes"
            )
            with ExitStack() as at_work:
                for account in accounts:
                    at_work.enter_context(account.follower.at_work())
                at_work.enter_context(self.killer.at_work())
                self._play(workers)
            settle(accounts, _SETTLE_SECONDS[self.killer.kills_workers], console.print)
            for account in accounts:
                check(account)
        for slug in TENANTS:
            if found := verify_tenant(slug):
                self.log.found(found)
        if (now := dead_letters()) != letters:
            self.log.found(f"Dead letters: {letters} before, {now} after (stowage queues)")
        self._judge_server_errors()
        self._report(accounts)
        return not self.log.findings

    @contextmanager
    def _account(self, slug: str, address: str) -> Iterator[Account]:
        """Give a company with its warehouse, a client and a subscription for the run."""
        tenant_at(slug, address)
        provisioning.set_requests_per_minute(slug, MAX_REQUESTS_PER_MINUTE)
        made = api_clients.create_client(slug, "Soak")
        receiver = Receiver()
        threading.Thread(target=receiver.serve_forever, args=(0.1,), daemon=True).start()
        try:
            login = {"grant_type": "client_credentials"}
            company = Company(slug, address, login, (made.client_id, made.client_secret))
            caller = Caller(company, self.log, self.rng(slug))
            self._create_places(caller)
            supervisor = self._create_supervisor(caller)
            webhook = caller.write(
                "POST", "/webhooks", {"url": receiver.url, "events": list(EVENTS)}
            )
            inbox = Inbox(receiver, webhook["id"], webhook["secret"])
            follower = Follower(Caller(company, self.log, self.rng(slug, "follower")))
            yield Account(caller, supervisor, Journal(slug, self.log), inbox, follower)
            caller.write("DELETE", f"/webhooks/{webhook['id']}")
        finally:
            api_clients.revoke_client(made.client_id, deactivate_webhooks=True)
            receiver.shutdown()
            receiver.server_close()

    def _create_places(self, caller: Caller) -> None:
        """Create the warehouse and its positions, unless an earlier run has."""
        body = {"whs_code": WAREHOUSE, "name": "Soak"}
        exists = (httpx.codes.UNPROCESSABLE_ENTITY, httpx.codes.CONFLICT)
        caller.write("POST", "/warehouses", body, allowed=exists)
        for position in POSITIONS:
            body = {"whs_code": WAREHOUSE, "bin_code": position}
            caller.write("POST", "/warehouse-positions", body, allowed=exists)

    def _create_supervisor(self, caller: Caller) -> Company:
        """Create a user who may grant approvals; return how this user signs in."""
        name = f"sue-{self.name}"
        role = caller.write("POST", "/roles", {"name": name, "permissions": [PERMISSION]})
        body = {"username": name, "name": "Sue", "roles": [role["id"]]}
        user = caller.write("POST", "/users", body)
        slug = caller.company.slug
        login = {
            "grant_type": "password",
            "username": f"{name}@{slug}",
            "password": user["password"],
        }
        return Company(slug, caller.company.base_url, login)

    def _workers(self, account: Account) -> list[Worker]:
        company, journal = account.caller.company, account.journal
        shared = f"S-{self.name}"
        workers = [
            Worker(
                Caller(company, self.log, self.rng(company.slug, number)),
                Caller(account.supervisor, self.log, self.rng(company.slug, number, "supervisor")),
                journal, f"{self.name}-{number}", shared,
            )
            for number in range(_WORKERS)
        ]  # fmt: skip
        workers[0].create_product(shared)
        return workers

    def _play(self, workers: Sequence[Worker]) -> None:
        """Let all workers play stories until the time is over, and end the last one."""
        deadline = time.monotonic() + self.minutes * 60

        def play(worker: Worker) -> None:
            try:
                while time.monotonic() < deadline:
                    worker.play()
            except Exception as error:  # noqa: BLE001 - the others go on
                self.log.found(f"{worker.name}: {type(error).__name__}: {error}")

        threads = [threading.Thread(target=play, args=(worker,)) for worker in workers]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(30 / len(threads))
            console.print(f"{self.log.requests} requests, {self.killer.killed.total()} kills")

    def _judge_server_errors(self) -> None:
        """A kill during the request explains one response of 502, 503 or 504, but no 500."""
        errors = self.log.server_errors
        for error in errors:
            explained = self.killer.explains(error.began, error.ended)
            if error.status not in _ALLOWED_ERRORS or not explained:
                self.log.found(f"{error.text}: no kill explains it")
        killed = self.killer.killed.total()
        if len(errors) > killed:
            self.log.found(f"{len(errors)} responses of 5xx, but only {killed} killed processes")

    def _report(self, accounts: Sequence[Account]) -> None:
        log = self.log
        latencies = ", ".join(f"{name} {ms} ms" for name, ms in log.latencies().items())
        deliveries = sum(len(account.inbox.receiver.requests) for account in accounts)
        events = sum(len(account.journal.events) for account in accounts)
        created = sum(
            len(made) for account in accounts for made in account.journal.created.values()
        )
        imports = sum(len(account.journal.imports) for account in accounts)
        console.print(f"\nReport of seed {self.seed}, {self.minutes:g} minutes")
        console.print(f"Requests      {log.requests}")
        for (status, code), count in sorted(log.answers.items()):
            console.print(f"  {status} {code or '':24} {count}")
        console.print(f"  without response         {log.unanswered}")
        console.print(f"Latency       {latencies}")
        console.print(
            f"Clients       {log.hang_ups} hang-ups ({log.abandoned} never repeated), {log.twice} "
            f"requests sent twice at once, {log.repeated} repeated after the response"
        )
        kills = ", ".join(f"{name} {count}" for name, count in self.killer.killed.most_common())
        console.print(f"Kills         {self.killer.killed.total()}: {kills}")
        for error, count in Counter(one.text for one in log.server_errors).most_common():
            console.print(f"  {error}: {count}")
        console.print(f"Checked       {created} creations, {imports} imports, {events} events")
        console.print(f"Deliveries    {deliveries}, also repeated ones")
        delays = sorted(delay for account in accounts for delay in account.follower.delays)
        if delays:
            p50, p99 = (delays[int(len(delays) * share)] for share in (0.5, 0.99))
            console.print(
                f"Changes       {len(delays)} transactions followed, p50 {p50:.1f} s and p99 "
                f"{p99:.1f} s after their commit, polls every second included"
            )
        console.print(f"Findings      {len(log.findings)}")
        for finding in log.findings:
            console.print(f"  {finding}", markup=False)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args()
    console.print(
        f"Seed {chosen.seed}; repeat this run with: "
        f"make soak MINUTES={chosen.minutes:g} SEED={chosen.seed}"
    )
    return 0 if Run(chosen.minutes, chosen.seed).execute() else _FOUND


if __name__ == "__main__":
    sys.exit(main())
