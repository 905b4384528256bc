"""The state of the emulator is saved as a whole, or the last saved one stays."""

import json
import os
from datetime import datetime
from pathlib import Path

import pytest
from ministack.services import cloudformation, cloudwatch_logs, lambda_svc, s3, sqs

from local import recovery, saved_state
from local.recovery import RunRecord
from local.saved_state import SavedState
from local.settings import write_atomically


@pytest.fixture(autouse=True)
def empty_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test begin with an emulator without data."""
    for store in (
        cloudformation._stacks, cloudwatch_logs._log_groups, lambda_svc._layers, s3._buckets,
        sqs._queues,
    ):  # fmt: skip
        monkeypatch.setattr(store, "_data", {})


def test_saved_state_is_read_with_binary_values(tmp_path: Path) -> None:
    sqs._queues["orders"] = {"name": "orders", "secret": b"12"}
    lambda_svc._layers["packages"] = {"versions": [{"_zip_data": b"x" * 10_000}]}
    assert SavedState(tmp_path).save()
    assert [path.stat().st_size for path in (tmp_path / "blobs").iterdir()] == [10_000]

    states = SavedState(tmp_path)._load()
    assert states["sqs"]["queues"]["orders"]["secret"] == b"12"
    assert states["lambda"]["layers"]["packages"]["versions"][0]["_zip_data"] == b"x" * 10_000


def test_binary_values_that_are_no_longer_used_are_removed(tmp_path: Path) -> None:
    for content in (b"x", b"y"):
        lambda_svc._layers["packages"] = {"versions": [{"_zip_data": content * 10_000}]}
        assert SavedState(tmp_path).save()
    (blob,) = (tmp_path / "blobs").iterdir()
    assert blob.read_bytes() == b"y" * 10_000


def test_state_is_not_saved_during_a_deployment(tmp_path: Path) -> None:
    cloudformation._stacks["stowage"] = {"StackStatus": "CREATE_COMPLETE"}
    assert SavedState(tmp_path).save()
    cloudformation._stacks["stowage"] = {"StackStatus": "UPDATE_IN_PROGRESS"}
    assert not SavedState(tmp_path).save()

    saved = SavedState(tmp_path)._load()["cloudformation"]["stacks"]
    assert saved["stowage"] == {"StackStatus": "CREATE_COMPLETE"}


def test_failed_save_leaves_the_last_state(tmp_path: Path) -> None:
    sqs._queues["one"] = {"name": "one"}
    assert SavedState(tmp_path).save()
    sqs._queues["two"] = {"name": object()}
    with pytest.raises(TypeError):
        SavedState(tmp_path).save()

    saved = SavedState(tmp_path)._load()["sqs"]["queues"]
    assert ("one" in saved, "two" in saved) == (True, False)


def test_groups_of_logs_are_saved_without_their_lines(tmp_path: Path) -> None:
    stream = {"events": [{"message": "a line"}]}
    group = {"retentionInDays": 14, "streams": {"2026/11/28": stream}}
    cloudwatch_logs._log_groups["orders"] = group
    assert SavedState(tmp_path).save()
    assert group["streams"] == {"2026/11/28": stream}, "they stay while the emulator runs"

    saved = SavedState(tmp_path)._load()["cloudwatch_logs"]["log_groups"]
    assert saved["orders"] == {"retentionInDays": 14, "streams": {}}


def test_saves_take_a_tenth_of_the_time_at_most() -> None:
    assert [saved_state._interval(seconds) for seconds in (0.01, 0.3, 1.5)] == [3, 3, 15]


def test_start_after_a_crash_says_how_often_the_state_was_saved(tmp_path: Path) -> None:
    RunRecord(4566).write(tmp_path)
    SavedState(tmp_path)._record_interval(12)
    lost = recovery.loss(RunRecord.read(tmp_path), datetime.now().astimezone())
    assert lost is not None
    assert lost.endswith("While requests arrived, it was saved every 12 s.")


def test_emulator_without_saved_state_starts_empty(tmp_path: Path) -> None:
    assert SavedState(tmp_path)._load() == {}


def test_bucket_that_the_saved_state_lacks_can_be_created_again() -> None:
    """MiniStack reads its folder from disk without a region, and then refuses to create it."""
    s3._buckets["goods"] = {"created": "2026-03-01T00:00:00Z", "objects": {}, "region": None}
    assert s3._create_bucket("goods", b"")[0] == 409
    saved_state._name_region_of_buckets()
    assert s3._create_bucket("goods", b"")[0] == 200


def test_file_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "stack.json"
    write_atomically(path, json.dumps({"tenants": {}}))

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", cut_off)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "[1")
    assert json.loads(path.read_text()) == {"tenants": {}}
    assert path.stat().st_mode & 0o077 == 0
