"""The benchmark compares figures with its baseline, and refuses states that have changes."""

import os
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from tests.bench import baseline, charts
from tests.bench.baseline import compare
from tests.bench.page import Page
from tests.bench.report import Row, Table
from tests.bench.state import current_state, reason_against_build

_BEFORE = {"Cost per request": {"GET /stocks": {"calls": 4, "write units": 12.5}}}


def _table(**figures: float) -> Table:
    return Table("Cost per request", ["route"], "", [Row(["GET /stocks"], figures=figures)])


def test_larger_figure_fails_with_its_name_and_both_values() -> None:
    result = compare(_BEFORE, baseline.figures_of([_table(calls=5)]))

    assert not result.passed
    assert [str(one) for one in result.larger] == ["Cost per request: GET /stocks: calls: 4 → 5"]


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


def test_recording_a_part_keeps_the_figures_that_were_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baseline, "PATH", tmp_path / "baseline.json")
    baseline.record(_BEFORE)

    baseline.record({"Cost per request": {"GET /stocks": {"calls": 3}}}, whole=False)

    assert baseline.load() == {
        "Cost per request": {"GET /stocks": {"calls": 3, "write units": 12.5}}
    }


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


def test_what_the_benchmark_writes_is_no_change(tree: Path) -> None:
    for name in ("docs/performance.md", "docs/performance/lists.svg", "tests/bench/baseline.json"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("new")

    assert current_state(tree).changes == ()


def test_folder_without_git_is_refused(tmp_path: Path) -> None:
    assert current_state(tmp_path).reason_against_writing()


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


def test_sections_keep_the_state_of_their_own_measurement(tmp_path: Path) -> None:
    page = Page(tmp_path / "performance.md", ("first", "second"))
    page.write("second", [_table()], "Measured 2026-01-01 at commit aaaaaaa.")
    page.write("first", [Table("Times", ["what"], "A note.")], "Measured 2026-02-02 at bbbbbbb.")
    page.write("first", [Table("Durations", ["what"], "A note.")], "Measured 2026-03-03.")

    text = page.path.read_text()

    assert "## Times" not in text
    assert text.index("## Durations") < text.index("## Cost per request")
    assert "<!-- bench: second -->\nMeasured 2026-01-01 at commit aaaaaaa.\n" in text


def test_charts_are_written_beside_the_page_with_equal_text(tmp_path: Path) -> None:
    chart = charts.bars("cost", "USD & more", {"GET /stocks": (1.0, 2.0)}, parts=("a", "b"))
    page = Page(tmp_path / "performance.md", ("first",))
    page.write("first", [Table("Cost", ["route"], "", charts=[chart])], "Measured.")

    svg = (tmp_path / "performance" / "cost.svg").read_text()

    assert "![USD & more](performance/cost.svg)" in page.path.read_text()
    assert '<title id="title">USD &amp; more</title>' in svg
    assert svg == chart.svg("Cost. Measured.")


def test_lines_are_placed_on_logarithmic_axes() -> None:
    chart = charts.lines("x", "Items", {"flat": {1_000: 40, 1_000_000: 40}}, across="rows")

    points = [shape for shape in chart.shapes if shape.startswith("<circle")]
    assert len(points) == 2
    assert {point.partition("cy=")[2] for point in points} == {points[0].partition("cy=")[2]}
