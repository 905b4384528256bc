"""A plugin of pytest that records which lines of the mutated sources each test executes.

`pytest -p tests.mutations.recording` writes .local/mutants/lines-*.json, one file for each process
of the run, with the passed tests only: a test that fails on the unchanged code shows nothing.
"""

import gc
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutations.mutants import ROOT, sources

STATE = ROOT / ".local" / "mutants"
_TOOL = sys.monitoring.COVERAGE_ID
_CODE = ("functions", "operations", "shared", "tests")
_OTHERS = ("bench", "e2e", "kills", "mutations")
"""Folders of tests whose lines are not recorded."""

type Lines = dict[str, list[int]]
"""Source → its lines."""


@cache
def digest() -> str:
    """Return the digest of all code; lines that were recorded for other code are not used."""
    total = hashlib.sha256()
    for folder in _CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if folder == "tests" and path.relative_to(ROOT / folder).parts[0] in _OTHERS:
                continue
            total.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return total.hexdigest()


class Recorder:
    """Records the executed lines of each test."""

    def __init__(self) -> None:
        self._paths = {str(ROOT / path): path for path in sources()}
        self._seen: set[tuple[str, int]] = set()
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self) -> None:
        """Observe the functions of the sources, which are imported now."""
        sys.monitoring.use_tool_id(_TOOL, "mutations")
        sys.monitoring.register_callback(_TOOL, sys.monitoring.events.LINE, self._line)
        sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_START, self._start)
        sys.monitoring.set_events(_TOOL, sys.monitoring.events.PY_START)
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename in self._paths:
                self._observe(found.__code__)

    def _start(self, code: CodeType, _offset: int) -> object:
        """Observe a function of a module that a test imports."""
        if code.co_filename in self._paths:
            self._observe(code)
        return sys.monitoring.DISABLE

    def _observe(self, code: CodeType) -> None:
        sys.monitoring.set_local_events(_TOOL, code, sys.monitoring.events.LINE)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._observe(inner)

    def _line(self, code: CodeType, line: int) -> object:
        self._seen.add((code.co_filename, line))
        return sys.monitoring.DISABLE  # until the next test

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record the lines and the CPU time of one test."""
        self._seen = set()
        sys.monitoring.restart_events()
        began = time.process_time()
        result = yield
        lines: Lines = {}
        for path, line in sorted(self._seen):
            lines.setdefault(self._paths[path], []).append(line)
        seconds = round(time.process_time() - began, 3)
        self._tests[item.nodeid] = {"seconds": seconds, "lines": lines}
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failed test."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Stop recording, and write what was recorded."""
        sys.monitoring.set_events(_TOOL, sys.monitoring.events.NO_EVENTS)
        for event in (sys.monitoring.events.LINE, sys.monitoring.events.PY_START):
            sys.monitoring.register_callback(_TOOL, event, None)
        passed = {
            name: test
            for name, test in self._tests.items()
            if test["lines"] and name not in self._failed
        }
        if passed:
            STATE.mkdir(parents=True, exist_ok=True)
            name = os.environ.get("PYTEST_XDIST_WORKER", "main")
            content = {"digest": digest(), "tests": passed}
            (STATE / f"lines-{name}.json").write_text(json.dumps(content))


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder in the processes that run tests."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Recorder())
    else:
        for path in STATE.glob("lines-*.json"):
            path.unlink()


def recorded() -> dict[str, dict[str, Any]] | None:
    """Return what was recorded for this code: test → its seconds and lines; None if nothing."""
    tests: dict[str, dict[str, Any]] = {}
    for path in STATE.glob("lines-*.json"):
        content = json.loads(path.read_text())
        if content["digest"] == digest():
            tests |= content["tests"]
    return tests or None
