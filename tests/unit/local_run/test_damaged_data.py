"""A start with damaged data or a taken port: one sentence that says what to do."""

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from local import server, stack
from local.recovery import RunRecord
from local.server import LocalRunFailed
from local.settings import state_file

ROOT = Path(__file__).parents[3]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory of a stack that does not run."""
    monkeypatch.setattr(server, "DATA", tmp_path)
    monkeypatch.setattr(stack, "DATA", tmp_path)
    monkeypatch.setattr(server, "end_leftovers", lambda: None)
    return tmp_path


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which another program listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"port": 4566, "colour": "red"}', "\0\0"])
def test_damaged_record_of_the_last_run_says_what_to_do(data: Path, content: str) -> None:
    (data / "run.json").write_text(content)
    with pytest.raises(LocalRunFailed, match=r"is damaged: .*run\.json .* `make clean`, then run"):
        stack._choose_port(None)


@pytest.mark.parametrize("content", ["", '{"dynamodb": {', "[]", "\0\0"])
def test_damaged_data_is_found_before_the_emulator_starts(data: Path, content: str) -> None:
    RunRecord(4566).write(data)
    state_file(data).write_text(content)
    with pytest.raises(LocalRunFailed, match=r"is damaged: .*state\.json .* `make clean`, then"):
        server.clear_after_crash()


def test_start_after_the_damaged_data_was_removed_succeeds(data: Path) -> None:
    (data / "run.json").write_text("{")
    shutil.rmtree(data)  # `make clean`
    assert stack._choose_port(4599) == 4599
    assert server.clear_after_crash() is None


@pytest.mark.parametrize("content", ["", "{", "\0"])
def test_damaged_stack_file_gives_the_tenants_new_credentials(
    content: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "stack.json").write_text(content)
    monkeypatch.setattr(stack, "STACK_FILE", tmp_path / "stack.json")
    assert stack._read_stack_file() == {}
    assert "the tenants get new credentials" in re.sub(r"\s+", " ", capsys.readouterr().out)


def test_taken_port_names_a_free_one(data: Path, taken: int) -> None:
    assert data
    with pytest.raises(
        LocalRunFailed, match=f"Port {taken} is used by another program."
    ) as refused:
        stack._choose_port(taken)
    (advised,) = re.findall(r"make run PORT=(\d+)", str(refused.value))
    assert stack._choose_port(int(advised)) == int(advised)


def test_taken_port_of_existing_data_names_both_ways_out(data: Path, taken: int) -> None:
    """The data contains the port: another one alone would be refused."""
    RunRecord(taken).write(data)
    state_file(data).write_text("{}")
    with pytest.raises(LocalRunFailed, match="Stop that program, or remove the data with `make"):
        stack._choose_port(None)


@pytest.mark.parametrize("port", ["0", "80", "70000", "none"])
def test_impossible_port_is_refused(port: str) -> None:
    refused = CliRunner().invoke(stack.main, ["start", "--port", port])
    assert refused.exit_code == 2
    assert "Invalid value for '--port'" in refused.output


@pytest.mark.parametrize(
    ("removed", "command"),
    [(".venv", "tools/setup.sh"), (".aws-sam/build", "sam build")],
)
def test_what_was_removed_by_hand_is_made_again(removed: str, command: str, tmp_path: Path) -> None:
    """A stamp alone does not count."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    for name in ("pyproject.toml", "uv.lock", "template.yaml", "samconfig.toml", "layers"):
        (tmp_path / name).symlink_to(ROOT / name)
    made = (".venv/bin/python", ".aws-sam/build/template.yaml", ".local/setup.stamp")
    for name in (*made, ".aws-sam/build.stamp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["make", "--question", "setup"], cwd=tmp_path, check=True)  # noqa: S607
    shutil.rmtree(tmp_path / removed)
    shown = subprocess.run(
        ["make", "--dry-run", "build"], cwd=tmp_path, check=True, capture_output=True,  # noqa: S607
        text=True, env={"PATH": os.environ["PATH"]},
    ).stdout  # fmt: skip
    assert command in shown


def test_setup_without_a_usable_python_says_what_to_install(tmp_path: Path) -> None:
    """`python3` of the path is too old; the other places are empty."""
    (tmp_path / "tools").mkdir()
    script = (ROOT / "tools/setup.sh").read_text().replace("/usr/bin/python3", "/nonexistent")
    (tmp_path / "tools/setup.sh").write_text(script)
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "tools/uv-requirements.txt", tmp_path / "tools")
    for name in ("bash", "dirname", "cut", "sed"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    old = tmp_path / "bin/python3"
    old.write_text("#!/bin/bash\nexit 1\n")  # the check of its version
    old.chmod(0o755)
    refused = subprocess.run(
        ["bash", "tools/setup.sh"], cwd=tmp_path, check=False, capture_output=True, text=True,  # noqa: S607
        env={"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert refused.returncode == 1
    assert refused.stderr == (
        "No python3 with venv (3.9 or later) was found. Install one, then run this again.\n"
    )
