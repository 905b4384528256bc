"""The start of the local stack: AWS clients sign with the access key of the running emulator."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from local import deployment, server, settings, stack
from local.server import Server
from local.settings import AccessKey
from shared.kernel import aws


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a stopped stack; afterwards, environment and AWS clients are restored."""
    monkeypatch.setattr(stack, "STATE", tmp_path)
    monkeypatch.setattr(stack, "START_LOCK", tmp_path / "lock")
    monkeypatch.setattr(stack, "DATA", tmp_path / "data")
    monkeypatch.setattr(settings, "CREDENTIALS_FILE", tmp_path / "credentials")
    with mock.patch.dict(os.environ):
        yield tmp_path
    aws.session.cache_clear()
    aws.client.cache_clear()


def test_an_emulator_that_starts_again_without_data_is_called_with_its_new_key(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []

    def start(port: int) -> Server:
        (state / "data").mkdir()
        AccessKey.new()
        keys.append(AccessKey.read().id)
        return Server(1, port)

    def signing_key() -> str:
        credentials = aws.client("s3")._request_signer._credentials
        return str(credentials.access_key)

    def first_start_was_cut_off() -> bool:
        assert signing_key() == keys[0]
        return True

    def deploy(_: Server) -> None:
        assert signing_key() == keys[1] != keys[0]

    monkeypatch.setattr(server, "find", lambda: None)
    monkeypatch.setattr(server, "clear_after_crash", lambda: None)
    monkeypatch.setattr(server, "start", start)
    monkeypatch.setattr(server, "stop", lambda _: None)
    monkeypatch.setattr(stack, "_choose_port", lambda _: 4599)
    monkeypatch.setattr(deployment, "first_start_was_cut_off", first_start_was_cut_off)
    monkeypatch.setattr(stack, "_deploy_and_provision", deploy)

    stack._start_stack(None)

    assert len(keys) == 2
