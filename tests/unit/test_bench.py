"""The benchmark compares figures with its baseline, names broken bars, and refuses states that have
changes.
"""

import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from tests.bench import baseline, operations, size
from tests.bench.bars import BARS
from tests.bench.baseline import compare
from tests.bench.page import Page
from tests.bench.report import Bar, Row, Table, breaches
from tests.bench.state import current_state, reason_against_build

_BEFORE = {"Cost per request": {"GET /stocks": {"calls": 4, "write units": 12.5}}}


def _table(**figures: float) -> Table:
    return Table("Cost per request", {"route": ""}, "", [Row(["GET /stocks"], figures=figures)])


def test_larger_figure_fails_with_its_name_and_both_values() -> None:
    result = compare(_BEFORE, baseline.figures_of([_table(calls=5)]))

    assert not result.passed
    assert result.larger == ["Cost per request: GET /stocks: calls: 4 → 5"]


def test_smaller_figure_passes_and_asks_to_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    result = compare(_BEFORE, baseline.figures_of([_table(calls=3, **{"write units": 12.5})]))
    result.show(Console(width=200))

    assert result.passed
    assert (result.compared, len(result.smaller)) == (2, 1)
    assert "--record-baseline" in capsys.readouterr().out


def test_figure_without_baseline_fails() -> None:
    result = compare(_BEFORE, baseline.figures_of([_table(reads=1)]))

    assert not result.passed
    assert result.missing == ["Cost per request: GET /stocks: reads: 1"]


def test_two_rows_of_one_name_are_refused() -> None:
    table = _table(calls=1)
    table.rows *= 2

    with pytest.raises(AssertionError, match="two rows are named GET /stocks"):
        baseline.figures_of([table])


def test_recording_keeps_the_sizes_that_were_not_measured_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "PATH", tmp_path / "baseline.json")
    sizes = {size.TITLE: {"CatalogFunction": {"code MB": 0.01}}}
    baseline.record({**_BEFORE, **sizes, "Removed": {"GET /stocks": {"calls": 1}}})

    now = {"Cost per request": {"GET /stocks": {"calls": 3}}}
    baseline.record(now)

    assert baseline.load() == {**now, **sizes}


# Bars

_READS = Table(
    "Cost", {"route": "", "size": "", "calls": ""}, "",
    [Row(["GET /a", "1", "1,204"]), Row(["GET /a", "2", "3"]), Row(["POST /a", "1", ""])],
)  # fmt: skip


def test_page_keeps_every_bar() -> None:
    tables = Page().tables()

    only_compared = {size.TITLE, operations.TITLE}
    assert {bar.table for bar in BARS} <= {table.title for table in tables} | only_compared
    assert breaches(BARS, tables) == []


@pytest.mark.parametrize(
    ("bar", "broken"),
    [
        (Bar("Cost", "GET", "calls", most=1204), []),
        (Bar("Cost", "GET", "calls", least=3), []),
        (
            Bar("Cost", "GET", "calls", most=3),
            ["Cost: GET: calls: at most 3: 1,204 (GET /a | 1)"],
        ),
        (
            Bar("Cost", "", "calls", least=4),
            ["Cost: calls: at least 4: 3 (GET /a | 2)"],
        ),
        (Bar("Cost", "GET", "calls", most=3, missed=1204), []),
        (
            Bar("Cost", "GET", "calls", most=3, missed=1000),
            ["Cost: GET: calls: at most 3: 1,204 (GET /a | 1); it was missed with 1,000 before"],
        ),
        (
            Bar("Cost", r"GET /a \| 2", "calls", least=3, missed=1),
            [r"Cost: GET /a \| 2: calls: at least 3: is reached, so remove `missed`"],
        ),
        (
            Bar("Cost", "POST", "calls", most=3),
            ["Cost: POST: calls: at most 3: no row has a value"],
        ),
    ],
)  # fmt: skip
def test_broken_bar_is_named(bar: Bar, broken: list[str]) -> None:
    assert breaches([bar], [_READS]) == broken


def test_part_of_the_rows_reaches_no_bar() -> None:
    bars = [Bar("Cost", "", "calls", most=2000, missed=3000), Bar("Cost", "PUT", "calls", most=1)]

    assert breaches(bars, [_READS], whole=False) == []


# States


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a new working tree of git with one commit."""

    def run(*arguments: str) -> None:
        names = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
        command = ["git", "-C", str(tmp_path), *names, *arguments]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603

    run("init")
    (tmp_path / "code.py").write_text("one = 1\n")
    run("add", ".")
    run("commit", "-m", "Begin")
    return tmp_path


def test_changed_or_new_code_is_refused(tree: Path) -> None:
    clean = current_state(tree)
    (tree / "code.py").write_text("one = 2\n")
    (tree / "new.py").write_text("two = 2\n")

    reason = current_state(tree).reason_against_writing()

    assert clean.reason_against_writing() is None
    assert len(clean.commit) == 7
    assert reason
    assert reason.startswith("2 changed files: code.py, new.py. ")
    assert current_state(tree).reason_against_comparing(clean)


def test_missing_and_old_builds_are_refused(tmp_path: Path) -> None:
    stamp, source = tmp_path / "build.stamp", tmp_path / "shared" / "code.py"
    source.parent.mkdir()
    missing = reason_against_build(stamp, "build", tmp_path)
    stamp.write_text("")
    source.write_text("")
    stamp_time = stamp.stat().st_mtime
    for path, seconds in ((source, 10), (stamp, 0)):
        os.utime(path, (stamp_time + seconds, stamp_time + seconds))
    old = reason_against_build(stamp, "build", tmp_path)
    os.utime(stamp, (stamp_time + 20, stamp_time + 20))

    assert missing == "build.stamp is missing: run `make build` first."
    assert old == "shared/code.py is newer than the build: run `make build` first."
    assert reason_against_build(stamp, "build", tmp_path) is None


# The page


def test_sections_that_people_wrote_stay_at_the_end(tmp_path: Path) -> None:
    page = Page(tmp_path / "performance.md")
    page.write([_READS], "Measured.")
    with page.path.open("a") as file:
        file.write("\n## Notes\n\n| what is | left |\n|---|---|\n| 1 | 2 |\n")
    page.write([_READS], "Measured.")

    assert page.path.read_text().endswith(
        "\n\n## Notes\n\n| what is | left |\n|---|---|\n| 1 | 2 |\n"
    )
    assert page.tables() == [_READS]
