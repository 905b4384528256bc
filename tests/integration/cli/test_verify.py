"""`stowage verify`: what it prints, and its exit codes."""

import json
from collections import Counter
from typing import Any

import pytest

from cli import verify as cli_verify
from operations.verify import Findings
from tests.clock import Clock
from tests.integration.cli.command_line import as_json, deploy_stack, run
from tests.integration.verify.company import build_small_company
from tests.integration.verify.planting import Table, head
from tests.stack import Stack

pytestmark = pytest.mark.usefixtures("table")


@pytest.fixture
def table(stack: Stack, clock: Clock) -> Table:
    """The table of a tenant with stock, in a stack that the command line finds."""
    build_small_company(stack.erp())
    deploy_stack()
    clock.freeze()
    return Table(stack)


def test_consistent_tenant_ends_with_0() -> None:
    result = run("verify", "acme")
    assert result.exit_code == 0, result.stderr
    assert "acme: 0 findings, 0 repaired. Checked: " in result.stderr
    assert as_json("verify", "acme") == []


def test_findings_are_shown_with_both_values_and_end_with_1(table: Table) -> None:
    table.edit("level_total", 1, on_hand=table.record("level_total", 1).entity.on_hand + 3)
    result = run("verify", "acme")
    assert result.exit_code == 1
    [_, row] = result.stdout.splitlines()
    assert "total.on_hand" in row
    assert "can be repaired" in row
    assert "acme: 1 finding not repaired. Run --repair.\n" in result.stderr
    result = run("--json", "verify", "acme")
    [shown] = json.loads(result.stdout)
    assert (shown["kind"], shown["subject"], shown["field"]) == (
        "total.on_hand", "total of product 1", "on_hand",
    )  # fmt: skip
    assert int(shown["stored"]) - int(shown["expected"]) == 3
    assert json.loads(result.stderr)["error"]["code"] == "drift_found"


def test_repair_ends_with_0_and_the_next_run_is_clean(table: Table) -> None:
    table.add_to_total("product", "n", 1)
    [shown] = as_json("verify", "acme", "--repair", "--rate", "5000")
    assert (shown["kind"], shown["result"]) == ("counter.n", "repaired")
    assert as_json("verify", "acme") == []
    assert "counter.n 1" in run("audit", "acme", "--action", "tenant.changed").stdout


def test_kinds_of_findings_are_shown_in_the_audit_log_as_they_are_written(table: Table) -> None:
    table.edit("level_total", 1, on_hand=table.record("level_total", 1).entity.on_hand + 3)
    assert run("verify", "acme", "--repair").exit_code == 0
    assert "found: total.on_hand 1" in run("audit", "acme").stdout


def test_findings_that_cannot_be_repaired_end_with_1(table: Table) -> None:
    table.delete(head("movement", 1))
    result = run("verify", "acme", "--repair")
    assert result.exit_code == 1
    assert "not derived" in result.stdout
    assert result.stderr.endswith(
        "Error: acme: 1 finding not repaired. --repair cannot correct the following, because no"
        " other data says what is right:\n"
        "  1 ledger.wrong: count the stock, and keep the finding for the auditor\n"
    )


def test_advice_fits_findings_of_both_kinds(table: Table) -> None:
    table.delete(head("movement", 1))
    table.add_to_total("product", "n", 1)
    result = run("verify", "acme")
    assert "5 findings not repaired. --repair corrects 4 of them.\n--repair cannot" in result.stderr
    assert "count the stock, and keep the finding for the auditor\n" in result.stderr


def test_low_sequence_is_counted_once(table: Table) -> None:
    table.change(("sequence", "product"), last=1)
    [shown] = json.loads(run("--json", "verify", "acme").stdout)
    assert (shown["kind"], shown["subject"]) == ("sequence.low", "sequence product")


def test_data_that_does_not_settle_ends_with_3(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsettled(tenant: str, **_: Any) -> Findings:
        return Findings(tenant, unsettled=["counters: movement"])

    monkeypatch.setattr(cli_verify, "verify_tenant", unsettled)
    result = run("--json", "verify", "acme")
    assert result.exit_code == 3
    assert json.loads(result.stderr)["error"]["code"] == "not_settled"


def test_repair_that_requests_prevented_is_to_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def prevented(tenant: str, **_: Any) -> Findings:
        return Findings(tenant, counts=Counter({"counter.n": 2}), repaired=1)

    monkeypatch.setattr(cli_verify, "verify_tenant", prevented)
    result = run("verify", "acme", "--repair")
    assert "acme: 1 finding not repaired. Run the command again: requests" in result.stderr
