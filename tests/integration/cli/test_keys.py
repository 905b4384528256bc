"""The command line for signing keys (`stowage key …`)."""

import re
import time

import pytest

from shared.kernel.config import config
from tests.integration.cli.command_line import Run, as_json


def test_rotate_list_and_retire_a_key(stowage: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = as_json(stowage("--json", "key", "list"))
    assert (first["state"], second["state"]) == ("signs", "verifies")
    assert first["kms_key"] == config().signing_keys[0]
    rotated = stowage("key", "rotate")
    assert rotated.exit_code == 0
    assert "creating the key" in rotated.stderr
    assert re.search(r"The new key begins to sign in (600|599) s\.", rotated.stderr)
    new = as_json(stowage("--json", "key", "rotate"))
    assert new["state"] == "waits"
    assert new["kid"] in rotated.stdout
    refused = stowage("key", "retire", first["kid"])
    assert refused.exit_code == 1
    assert f"The key {first['kid']} signs tokens" in refused.stderr
    later = time.time() + 600 + 3600 + 100
    monkeypatch.setattr(time, "time", lambda: later)
    done = stowage("key", "retire", first["kid"])
    assert done.exit_code == 0
    assert f"{first['kid']} is retired" in done.stderr
    again = as_json(stowage("--json", "key", "retire", first["kid"]))
    assert (again["kid"], again["state"]) == (first["kid"], "retired")
    rows = as_json(stowage("--json", "key", "list"))
    assert [row["state"] for row in rows] == ["retired", "verifies", "signs"]
    assert rows[0]["retired_at"]


def test_leaked_key_can_be_retired_immediately(stowage: Run) -> None:
    first, _ = as_json(stowage("--json", "key", "list"))
    stowage("key", "rotate")
    assert stowage("key", "retire", first["kid"], "--now").exit_code == 0
    assert as_json(stowage("--json", "key", "list"))[0]["state"] == "retired"


def test_unknown_key_is_refused(stowage: Run) -> None:
    refused = stowage("key", "retire", "unknown")
    assert refused.exit_code == 1
    assert "unknown" in refused.stderr


def test_key_list_prints_a_table(stowage: Run) -> None:
    shown = stowage("key", "list")
    assert "signs from" in shown.stdout
    assert "verifies" in shown.stdout
