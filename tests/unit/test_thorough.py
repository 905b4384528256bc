from pathlib import Path

import pytest

from tests import thorough
from tests.thorough import Part, main


@pytest.fixture(autouse=True)
def _code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The parts note that they ran; the second fails while `broken` exists."""
    monkeypatch.setattr(thorough, "STATE", tmp_path / "thorough.json")
    monkeypatch.setattr(thorough, "ROOT", tmp_path)
    monkeypatch.setattr(thorough, "code_digest", lambda: "code")
    parts = (
        Part("first", "the first", "tee -a first-{seed}"),
        Part("second", "the second", "test ! -e broken"),
    )
    monkeypatch.setattr(thorough, "PARTS", parts)
    (tmp_path / "broken").touch()


def test_failed_run_repeats_only_the_failed_part_with_its_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--seed", "7"]) == 1
    assert "Failed: second" in capsys.readouterr().out
    (tmp_path / "first-7").unlink()
    (tmp_path / "broken").unlink()
    assert main([]) == 0
    assert "passed before" in capsys.readouterr().out
    assert not (tmp_path / "first-7").exists()


def test_changed_code_or_another_seed_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["--seed", "7"])
    assert main(["--seed", "8", "first"]) == 0
    assert (tmp_path / "first-8").exists()
    (tmp_path / "first-8").unlink()
    monkeypatch.setattr(thorough, "code_digest", lambda: "changed")
    assert main(["--seed", "8", "first"]) == 0
    assert (tmp_path / "first-8").exists()
