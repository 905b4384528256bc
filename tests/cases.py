"""A table of cases as one test: all cases run, and all that fail are reported together."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

_DETAILED = 10
"""Number of failed cases that are reported with their traceback."""
_MAX_NAME = 120

type _Test = Callable[..., None]
type _Case = tuple[str, Mapping[str, Any]]
"""Name of a case, and its values by argument."""


def each_case(
    names: str | tuple[str, ...],
    rows: Iterable[Any],
    *,
    named: Callable[..., str] | Iterable[str] | None = None,
) -> Callable[[_Test], _Test]:
    """Run a test once for each row of a table, as one item of pytest.

    An item of `pytest.mark.parametrize` costs milliseconds even where its body costs nothing. The
    cases of one item share its fixtures, so none may change what another one reads. Several
    tables of one test are combined.

    Args:
        names: The argument that a row is, or the arguments whose values it holds.
        rows: The cases.
        named: The names of the cases, or a function that returns the name of a case from the
            values of its row; by default a name shows the values.
    """
    arguments = (names,) if isinstance(names, str) else names
    table = [(row,) if isinstance(names, str) else tuple(row) for row in rows]
    assert table, f"no case of {names}"
    own = [
        (name, dict(zip(arguments, row, strict=True)))
        for name, row in zip(_names(arguments, table, named), table, strict=True)
    ]

    def decorate(test: _Test) -> _Test:
        inner: _Table | None = getattr(test, "table", None)
        if inner is None:
            return _in_one_item(_Table(test, own))
        return _in_one_item(inner.combined_with(own))

    return decorate


class _Table:
    """A test and the cases that it is run with."""

    def __init__(self, test: _Test, cases: Sequence[_Case]) -> None:
        self.test = test
        self._cases = cases

    def combined_with(self, cases: Sequence[_Case]) -> "_Table":
        """Return the table with every case of this one in every other case."""
        both = [
            (f"{name}, {inner}", {**values, **others})
            for name, values in cases
            for inner, others in self._cases
        ]
        return _Table(self.test, both)

    def fixtures(self) -> inspect.Signature:
        """Return the signature of the test without the arguments that the table gives."""
        given = {*self._cases[0][1], "request"}
        wanted = inspect.signature(self.test).parameters
        fixtures = [one for name, one in wanted.items() if name not in given]
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([*fixtures, inspect.Parameter("request", kind)])

    def run(self, request: pytest.FixtureRequest, fixtures: Mapping[str, Any]) -> None:
        """Run every case; fail with a list of those that failed."""
        __tracebackhide__ = True
        failed: list[str] = []
        _take_output(request)
        for name, values in self._cases:
            try:
                self.test(**fixtures, **values)
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - reported below
                report = _report(error, _take_output(request), detailed=len(failed) < _DETAILED)
                failed.append(f"{name}\n{report}")
            _take_output(request)
        if failed:
            head = f"{len(failed)} of {len(self._cases)} cases failed:"
            pytest.fail("\n\n".join([head, *failed]), pytrace=False)


def _in_one_item(table: _Table) -> _Test:
    @functools.wraps(table.test)
    def run(request: pytest.FixtureRequest, **fixtures: Any) -> None:
        table.run(request, fixtures)

    vars(run).update(table=table, __signature__=table.fixtures())
    return run


def _take_output(request: pytest.FixtureRequest) -> str:
    """Return what was written and logged since the last call, and remove it from the report."""
    capture: Any = request.config.pluginmanager.get_plugin("capturemanager")
    logging: Any = request.config.pluginmanager.get_plugin("logging-plugin")
    text: str = "".join(capture.read_global_capture()) + logging.report_handler.stream.getvalue()
    logging.report_handler.reset()
    return text


def _names(
    arguments: Sequence[str],
    table: Sequence[tuple[Any, ...]],
    named: Callable[..., str] | Iterable[str] | None,
) -> Iterable[str]:
    if named is None:
        return [_shown(arguments, row) for row in table]
    return [named(*row) for row in table] if callable(named) else named


def _shown(arguments: Sequence[str], row: Sequence[Any]) -> str:
    """Return the name of a case: its arguments and their values."""
    texts = [
        f"{argument}={getattr(value, '__name__', None) or repr(value)}"
        for argument, value in zip(arguments, row, strict=True)
    ]
    return ", ".join(one if len(one) <= _MAX_NAME else f"{one[:_MAX_NAME]}…" for one in texts)


def _report(error: BaseException, output: str, *, detailed: bool) -> str:
    """Return the message of an error, with its traceback and the output if `detailed`."""
    found = pytest.ExceptionInfo.from_exception(error)
    text = f"{found.getrepr(style='short')}\n{output}" if detailed else found.exconly()
    return "\n".join(f"    {line}" for line in text.splitlines())
