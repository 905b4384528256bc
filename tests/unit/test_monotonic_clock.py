"""The monotonic clock measures within one invocation only; caches use the wall clock."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.kernel.clock import is_fresh

_ROOT = Path(__file__).parents[2]
_MONOTONIC = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}

_ALLOWED = {
    "shared/kernel/clock.py Deadline.__init__": "deadline of one invocation",
    "shared/kernel/clock.py Deadline.elapsed_ms": "duration of one invocation",
    "shared/kernel/clock.py Deadline.remaining": "deadline of one invocation",
    "shared/http/api_handler.py ApiHandler.__call__": "duration of one request, for its log line",
    "shared/http/api_handler.py ApiHandler._handle": "duration of one request, for its log",
    "functions/oauth/app.py lambda_handler": "duration of one request",
    "functions/console/app.py lambda_handler": "duration of one request, for its log line",
    "functions/reference/app.py lambda_handler": "duration of one request, for its log line",
    "functions/canary/app.py lambda_handler": "duration of one run, for its log line",
    "functions/oauth/app.py _delay_refusal": "duration of one request",
    "operations/pace.py Pace.__init__": "pace of a command",
    "operations/pace.py Pace.spend": "pace of a command",
    "operations/smoke.py SmokeTest.run": "duration of a step of a command",
    "operations/smoke.py SmokeTest._create_tenant": "clock of the client of a command",
    "operations/smoke.py SmokeTest._await": "timeout of a command",
    "operations/tenant_tables.py _wait_until": "timeout of a command; commands are never frozen",
}
"""File and function → why the clock need not go on while the environment is frozen."""


def _uses(node: ast.AST, scope: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _uses(child, f"{scope}.{child.name}" if scope else child.name)
            continue
        name = child.attr if isinstance(child, ast.Attribute) else getattr(child, "id", None)
        if name in _MONOTONIC:
            yield scope
        yield from _uses(child, scope)


def test_only_deadlines_and_durations_of_one_invocation_use_the_monotonic_clock() -> None:
    used = {
        f"{path.relative_to(_ROOT)} {scope}"
        for folder in ("shared", "functions", "operations", "cli")
        for path in (_ROOT / folder).rglob("*.py")
        if any(name in path.read_text() for name in _MONOTONIC)
        for scope in _uses(ast.parse(path.read_text()), "")
    }
    # A cache needs the wall clock (`is_fresh`) and a case in test_frozen_environment.py.
    assert used == _ALLOWED.keys()


@pytest.mark.parametrize(
    ("age", "fresh"), [(0, True), (9.99, True), (10, False), (3600, False), (-0.01, False)]
)
def test_value_is_fresh_from_its_reading_until_its_maximum_age(age: float, *, fresh: bool) -> None:
    assert is_fresh(read_at=1_000, max_age=10, moment=1_000 + age) is fresh


def test_value_is_never_fresh_with_a_maximum_age_of_zero() -> None:
    assert not is_fresh(read_at=1_000, max_age=0, moment=1_000)
