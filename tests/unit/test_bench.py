"""The benchmark compares figures with its baseline, names broken bars, and refuses states that have
changes.
"""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest
from rich.console import Console

from tests.bench import __main__ as bench
from tests.bench import baseline, function_calls, processor_time, size
from tests.bench.bars import BARS
from tests.bench.baseline import compare
from tests.bench.cold_start_process import calls
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


def test_recorded_figure_that_is_not_measured_any_more_fails() -> None:
    other = {"Jobs": {"order": {"calls": 5}}}
    result = compare({**_BEFORE, **other}, baseline.figures_of([_table(calls=4)]))

    assert not result.passed
    assert result.gone == ["Cost per request: GET /stocks: write units", "Jobs: order: calls"]


def test_sizes_are_not_missed_without_a_package() -> None:
    sizes = {size.TITLE: {"CatalogFunction": {"code MB": 0.01}}}

    assert compare({**_BEFORE, **sizes}, _BEFORE).passed


def test_recording_names_what_it_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(baseline, "PATH", tmp_path / "baseline.json")
    monkeypatch.setattr(bench, "Page", lambda: Page(tmp_path / "performance.md"))
    table = _table(calls=5)

    assert not bench._compare([table], Console(width=200), record=False)
    for before in (4, 5):
        baseline.record(baseline.figures_of([_table(calls=before)]))
        assert bench._compare([table], Console(width=200), record=True)
        assert ("calls: 4 → 5" in capsys.readouterr().out) == (before == 4)
        assert baseline.load() == baseline.figures_of([table])


def test_smaller_figure_passes_and_asks_to_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    result = compare(_BEFORE, baseline.figures_of([_table(calls=3, **{"write units": 12.5})]))
    result.show(Console(width=200))

    assert result.passed
    assert (result.compared, len(result.smaller)) == (2, 1)
    assert "--record-baseline" in capsys.readouterr().out


def test_figure_without_baseline_fails() -> None:
    result = compare(_BEFORE, {**_BEFORE, **baseline.figures_of([_table(reads=1)])})

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


def test_recorded_figures_and_those_of_the_page_keep_every_bar() -> None:
    recorded, page = list(baseline.recorded_tables()), Page().tables()
    judged: dict[Bar, list[str]] = {}
    for bar in BARS:
        tables = [one for one in recorded if bar.column in one.columns] + page
        judged[bar] = breaches([bar], [one for one in tables if one.title == bar.table][:1])

    assert [breach for found in judged.values() for breach in found] == []
    titles = {table.title for table in [*recorded, *page]}
    assert {bar.table for bar in BARS} - titles == {"Processor time of typical requests"}


def test_page_repeats_the_recorded_figures() -> None:
    page = {table.title: table for table in Page().tables()}
    both = [(table, page[table.title]) for table in baseline.recorded_tables()
            if table.title in page]  # fmt: skip

    for recorded, shown in both:
        known = {row.name: dict(zip(recorded.columns, row.cells, strict=True))
                 for row in recorded.rows}  # fmt: skip
        assert {row.name for row in shown.rows} == set(known)
        columns = [column for column in shown.columns if column in recorded.columns]
        for row in shown.rows:
            cells = dict(zip(shown.columns, row.cells, strict=True))
            for name in columns:
                figure, of_page = (
                    one.replace(",", "") for one in (known[row.name][name], cells[name])
                )
                assert float(of_page) == pytest.approx(float(figure), abs=0.005), (row.name, name)
    assert len(both) == 4


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


def test_bars_of_processor_time_find_their_rows() -> None:
    """The table is made by hand only, beside a checkout of an older commit."""
    table = processor_time.new_table()
    for request in function_calls.BEFORE:
        table.add(request, *[0.81] * (len(table.columns) - 1))

    assert not [one for one in breaches(BARS, [table]) if one.endswith("no row has a value")]


def test_calls_of_functions_of_the_standard_library_are_not_counted() -> None:
    def called() -> str:
        return textwrap.dedent(" text")

    assert calls(lambda: [called(), called()]) == 3


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


def test_tables_of_the_baseline_replace_those_of_the_page_and_no_others(tmp_path: Path) -> None:
    page = Page(tmp_path / "performance.md")
    times = Table("Times", {"": "", "ms": ""}, "", [Row(["import", "5"])])
    page.write([times, _READS], "Measured.")
    fewer = Table("Cost", _READS.columns, "", [Row(["GET /a", "1", "3"])])
    page.replace([fewer, Table("Sizes", {"": ""})], "Recorded.")

    assert page.tables() == [times, fewer]
    assert page.path.read_text().count("Measured.") == 1
