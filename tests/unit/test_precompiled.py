"""Code of dataclasses and patterns from a file: what it holds is what Python would compile."""

import dataclasses
import marshal
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.kernel.precompiled import COMPILER, STAMP, is_effective, use, write
from tools.precompile import Recorder

_PATTERNS: list[tuple[Any, int]] = [
    ("", 0),
    (r"(?P<name>[^\W\d]+)|(?P<no>\d+)(?(no)-|\+)", 0),
    (r"(?i:é|ß)[a-zß-ü]{2,}?\b(?=x)(?<!y)", re.ASCII | re.IGNORECASE),
    ("(?mx) ^ [\U00010000-\U0010ffff\u212a]+ $ # comment", re.IGNORECASE),
    (b"[\x00-\x1f\xff]+(.)\\1", re.DOTALL),
]


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    """Let later tests compile as usual."""
    compile_pattern, sre = COMPILER.compile, COMPILER._sre
    yield
    COMPILER.compile, COMPILER._sre = compile_pattern, sre
    use(Path("none"))
    vars(dataclasses).pop("exec", None)


def _new_class() -> Any:
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Row:
        """A row."""

        number: int
        names: list[str] = dataclasses.field(default_factory=list)

    return Row


def _recorded() -> Recorder:
    recorder = Recorder()
    for pattern, flags in _PATTERNS:
        COMPILER.compile(pattern, flags)
    _new_class()
    recorder.stop()
    return recorder


def test_dataclasses_and_patterns_are_those_that_python_compiles(tmp_path: Path) -> None:
    plain, row = [COMPILER.compile(*each) for each in _PATTERNS], _new_class()
    recorder = _recorded()
    write(tmp_path / "code", recorder.codes, recorder.patterns)
    use(tmp_path / "code")

    assert [COMPILER.compile(*each) for each in _PATTERNS] == plain
    assert [one.groupindex for one in map(_compiled, _PATTERNS)] == [
        one.groupindex for one in plain
    ]
    again = _new_class()
    methods = ("__init__", "__repr__", "__eq__", "__lt__", "__hash__", "__setattr__")
    for name in methods:
        assert getattr(again, name).__code__ == getattr(row, name).__code__, name
    assert again(1) < again(2, ["a"])
    assert again(1) == again(1)


def _compiled(given: tuple[Any, int]) -> Any:
    return COMPILER.compile(*given)


def _refuse(*_: object) -> None:
    raise AssertionError("compiled as usual")


def test_python_compiles_nothing_that_is_in_the_file(tmp_path: Path) -> None:
    """It fails when `dataclasses` or `re` compile in another way than through the two names."""
    recorder = _recorded()
    failing = compile("raise LookupError('from the file')", "<string>", "exec")
    write(tmp_path / "code", dict.fromkeys(recorder.codes, failing), recorder.patterns)
    re.purge()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(COMPILER, "compile", _refuse)
        use(tmp_path / "code")
        found = [re.compile(*each).pattern for each in _PATTERNS]
        with pytest.raises(LookupError):
            _new_class()
    assert found == [pattern for pattern, _ in _PATTERNS]


def test_what_is_not_in_the_file_is_compiled(tmp_path: Path) -> None:
    write(tmp_path / "code", {}, {})
    use(tmp_path / "code")
    assert _new_class()(3).number == 3
    assert re.compile("not in (the) file").fullmatch("not in the file")


def test_a_file_that_lacks_what_is_compiled_is_not_effective(tmp_path: Path) -> None:
    """Another patch of Python may write other methods for dataclasses."""
    write(tmp_path / "code", {}, {})
    use(tmp_path / "code")
    assert is_effective()
    while is_effective():
        _new_class()
    recorder = _recorded()
    write(tmp_path / "code", recorder.codes, {})
    use(tmp_path / "code")
    for _ in range(100):
        _new_class()
    assert is_effective()


def test_patterns_that_depend_on_the_locale_are_not_recorded() -> None:
    recorder = Recorder()
    COMPILER.compile(rb"\w", re.LOCALE)
    recorder.stop()
    assert recorder.patterns == {}


_WHOLE = marshal.dumps(({}, {}))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x00" * 40, STAMP[:-1] + b"\xff" + b"later",
        STAMP, STAMP + b"later", STAMP + zlib.compress(_WHOLE)[:-3],
        *(STAMP + zlib.compress(damaged) for damaged in (
            b"", _WHOLE[:-1], b"\xff" + _WHOLE, marshal.dumps(1), marshal.dumps(({}, {}, {})),
        )),
    ],
)  # fmt: skip
def test_a_file_of_another_interpreter_or_a_damaged_one_is_not_used(
    tmp_path: Path, content: bytes
) -> None:
    before = COMPILER.compile
    (tmp_path / "code").write_bytes(content)
    use(tmp_path / "code")
    use(tmp_path / "none")
    assert COMPILER.compile is before
    assert not hasattr(dataclasses, "exec")
    assert not is_effective()


def test_the_file_of_the_build_holds_what_the_functions_compile(tmp_path: Path) -> None:
    file = tmp_path / "code"
    subprocess.run([sys.executable, "-m", "tools.precompile", str(file)], check=True)  # noqa: S603
    start = (
        f"from pathlib import Path; from shared.kernel import precompiled;"
        f"precompiled.use(Path({str(file)!r})); import functions.work.app;"
        "print(precompiled.is_effective())"
    )
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, check=True)  # noqa: S603
    assert done.stdout == b"True\n"
    content = file.read_bytes()
    assert content.startswith(STAMP)
    codes, patterns = marshal.loads(zlib.decompress(content[len(STAMP) :]))  # noqa: S302
    assert len(codes) > 100
    assert len(patterns) > 100
    for given, known in patterns.items():
        assert COMPILER._sre.compile(given[0], *known) == COMPILER.compile(*given), given
