"""The command line for signing keys (`stowage key …`)."""

import re
import time

import pytest

from shared.kernel.clock import instant, milliseconds_of
from shared.kernel.config import config
from tests.integration.cli.command_line import Run, as_json, refused


def test_rotate_list_and_retire_a_key(stowage: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = as_json("key", "list")
    assert (first["state"], second["state"]) == ("signs", "verifies")
    assert first["kms_key"] == config().signing_keys[0]
    rotated = stowage("key", "rotate")
    assert rotated.exit_code == 0
    assert "creating the key" in rotated.stderr
    assert re.search(r"The new key begins to sign in (600|599) s\.", rotated.stderr)
    new = as_json("key", "rotate")
    assert new["state"] == "waits"
    assert new["kid"] in rotated.stdout
    assert f"The key {first['kid']} signs tokens" in refused("key", "retire", first["kid"])
    later = time.time() + 600 + 3600 + 100
    monkeypatch.setattr(time, "time", lambda: later)
    done = stowage("key", "retire", first["kid"], "--yes")
    assert done.exit_code == 0
    assert f"{first['kid']} is retired" in done.stderr
    again = as_json("key", "retire", first["kid"])
    assert (again["kid"], again["state"]) == (first["kid"], "retired")
    rows = as_json("key", "list")
    assert [row["state"] for row in rows] == ["retired", "verifies", "signs"]
    assert rows[0]["retired_at"]


def test_list_says_when_each_key_can_be_retired(
    stowage: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def can_be_retired() -> list[str]:
        return [row["can_be_retired"] for row in as_json("key", "list")]

    assert can_be_retired() == ["after the next rotation", "now"]
    rotated = stowage("key", "rotate")
    first, second, new = as_json("key", "list")
    moment = milliseconds_of(new["signs_from"]) + (3600 + 60) * 1000
    assert first["retires_from"] == instant(moment)
    later = f"from {instant(moment)} on"
    assert can_be_retired() == [later, later, "at any time: it has signed no token"]
    for known in (first, second):
        assert f"The key {known['kid']} can be retired {later}." in rotated.stderr
    refused = stowage("key", "retire", first["kid"], "--yes")
    assert f"may be valid until {instant(moment)}" in refused.stderr

    monkeypatch.setattr(time, "time", lambda: moment / 1000)
    assert can_be_retired() == ["now", "now", "after the next rotation"]
    assert stowage("key", "retire", first["kid"], "--yes").exit_code == 0
    assert can_be_retired()[0].startswith("retired at 20")
