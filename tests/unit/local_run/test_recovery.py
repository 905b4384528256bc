"""Decisions of a start after a crash: what is deployed, and what the last run lost."""

from datetime import datetime
from pathlib import Path

from local import recovery
from local.recovery import RunRecord
from tests.cases import each_case

NOW = datetime(2026, 3, 1, 9, 30, 15)  # noqa: DTZ001 - local time is shown


@each_case(
    ("status", "deployed", "step"),
    [
        (None, None, "deploy"),
        ("REVIEW_IN_PROGRESS", None, "deploy"),  # a deployment was killed before it began
        ("CREATE_COMPLETE", "this build", "keep"),
        ("UPDATE_COMPLETE", "this build", "keep"),
        ("UPDATE_COMPLETE", "another build", "deploy"),
        ("UPDATE_COMPLETE", None, "deploy"),
        ("CREATE_IN_PROGRESS", "this build", "wait"),
        ("UPDATE_IN_PROGRESS", "this build", "wait"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", "this build", "wait"),
        ("UPDATE_ROLLBACK_COMPLETE", "this build", "deploy"),  # the tag may be of the failed one
    ],
)
def test_only_a_complete_deployment_of_this_build_is_kept(
    status: str | None, deployed: str | None, step: str
) -> None:
    assert recovery.deployment_step(status, deployed, "this build") == step


def test_run_that_stopped_in_order_lost_nothing() -> None:
    assert recovery.loss(None, None) is None
    assert recovery.loss(RunRecord(4566, in_order=True), NOW) is None


def test_loss_names_the_time_of_the_saved_data() -> None:
    lost = recovery.loss(RunRecord(4566), NOW)
    assert lost is not None
    assert "2026-03-01 09:30:15 is restored, later changes are lost" in lost


def test_run_without_saved_data_lost_all() -> None:
    lost = recovery.loss(RunRecord(4566), None)
    assert lost is not None
    assert "starting without data" in lost


def test_record_of_a_run_is_read_as_written(tmp_path: Path) -> None:
    assert RunRecord.read(tmp_path) is None
    RunRecord(4567).write(tmp_path)
    assert RunRecord.read(tmp_path) == RunRecord(4567, in_order=False)
    RunRecord(4567).ended().write(tmp_path)
    assert RunRecord.read(tmp_path) == RunRecord(4567, in_order=True)
