"""`stowage tenant restore`."""

import pytest

from cli.operator import CommandContext
from tests.faults import AwsFaults, refuse_calls
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.restore.conftest import Recovery, item, recovery
from tests.integration.restore.test_restore import FIRST

__all__ = ["recovery"]


@pytest.fixture(autouse=True)
def _deployed(recovery: Recovery) -> None:
    deploy_stack()
    recovery.remember()


def test_result_names_both_tables_and_the_way_back(recovery: Recovery) -> None:
    shown = as_json("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert (shown["at"], shown["previous_table"]) == (recovery.at, FIRST)
    assert shown["switch_back"] == f"stowage tenant restore acme --to-table {FIRST}"
    back = as_json(*shown["switch_back"].split()[1:], "--yes")
    assert (back["table"], back["previous_table"]) == (FIRST, shown["table"])
    assert as_json("tenant", "show", "acme")["table"] == FIRST


def test_text_shows_progress_and_the_way_back(recovery: Recovery) -> None:
    done = run("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert done.exit_code == 0, done.stderr
    assert "Requests of the tenant acme are refused until its data of" in done.stderr
    assert "waiting for running requests of acme to end" in done.stderr
    assert f"Switch back: stowage tenant restore acme --to-table {FIRST}" in done.stderr
    again = run("tenant", "restore", "acme", "--at", recovery.at)  # nothing to confirm
    assert again.exit_code == 0, again.stderr
    assert f"Nothing was done: acme was restored to {recovery.at} by an earlier run." in (
        again.stderr
    )
    switch = ("tenant", "restore", "acme", "--to-table", FIRST)
    assert "Nothing was done" not in run(*switch, "--yes").stderr
    assert f"Nothing was done: {FIRST} is the table of acme already." in run(*switch).stderr


def test_restore_asks_for_confirmation(recovery: Recovery, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused("tenant", "restore", "acme", "--at", recovery.at, code=2)
    assert "there is no terminal" in error
    assert "restoring" not in item()
    monkeypatch.setattr("cli.confirmation.ensure_terminal", lambda _: None)
    refused("tenant", "restore", "acme", "--at", recovery.at, typed="n\n")
    assert "restoring" not in item()


def test_restore_says_that_it_is_not_possible_on_the_local_stack(
    recovery: Recovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommandContext, "is_local", True)
    error = refused("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert error.startswith("Error: The local stack keeps no earlier moments")
    assert "restoring" not in item()


def test_prepared_table_is_named_and_can_be_given_up(recovery: Recovery) -> None:
    shown = as_json("tenant", "restore", "acme", "--at", recovery.at, "--prepare", "--yes")
    assert not shown["is_switched"]
    assert shown["switch_back"] is None
    ended = as_json("tenant", "restore", "acme", "--cancel")
    assert ended == {"tenant": "acme", "cancelled": True, "new_table": shown["table"]}
    again = run("tenant", "restore", "acme", "--cancel")
    assert "No restore of acme is in progress." in again.stderr


def test_failed_restore_says_that_requests_are_refused(
    recovery: Recovery, aws_faults: AwsFaults
) -> None:
    with aws_faults.faulty(refuse_calls("TagResource")):
        failed = run("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert failed.exit_code == 3
    assert "Requests of acme are refused until the restore is finished" in failed.stderr
    done = run("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert done.exit_code == 0, done.stderr


def test_restore_that_cannot_begin_refuses_nothing(
    recovery: Recovery, aws_faults: AwsFaults
) -> None:
    with aws_faults.faulty(refuse_calls("RestoreTableToPointInTime")):
        failed = run("tenant", "restore", "acme", "--at", recovery.at, "--yes")
    assert failed.exit_code == 3
    assert "refused until the restore is finished" not in failed.stderr
    assert "refused_at" not in item()["restoring"]["M"]
