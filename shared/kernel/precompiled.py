"""Code that the build has compiled: methods of dataclasses, and regular expressions.

`dataclasses` compiles the source of the methods that it writes, and `re` its patterns, at every
import: a quarter of the processor time of a cold start. `tools/precompile.py` writes what both
compiled into a file of the build, by the source and the flags that they compile, so another source
is compiled as usual. So is everything without the file, as in the tests, with a damaged one, and
for an interpreter with another kind of byte code or of patterns than the one that wrote it.

Without the file, a function starts a quarter slower and nothing else shows it: so `is_effective`
tells the metrics.

`dataclasses` calls `exec`, and `re` the function `compile` of `re._compiler`; neither is public.
`tests/unit/test_precompiled.py` fails when one of them is not called any more.
"""

import dataclasses
import marshal
import re
import zlib
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any

FILE = Path(__file__).with_name("precompiled.bin")

COMPILER: Any = re._compiler  # type: ignore[attr-defined]  # noqa: SLF001
"""The module that compiles patterns."""

STAMP = MAGIC_NUMBER + COMPILER.MAGIC.to_bytes(4) + bytes([COMPILER._sre.CODESIZE])  # noqa: SLF001
"""Begins the file: the kinds of byte code and of patterns of this interpreter."""

type Codes = Mapping[bytes, CodeType]
"""Digest of the source of methods → their code."""
type Patterns = Mapping[tuple[str | bytes, int], tuple[Any, ...]]
"""Pattern and flags → what the interpreter makes of them, except the pattern."""


def digest(source: str) -> bytes:
    """Return what names the source in the file."""
    return sha256(source.encode()).digest()


def write(file: Path, codes: Codes, patterns: Patterns) -> None:
    """Write a file for `use`."""
    content: Any = codes, patterns  # marshal has them; its stubs lack mappings
    file.write_bytes(STAMP + zlib.compress(marshal.dumps(content), 9))


_FEW = 20
"""Sources that a function may compile itself: those of modules that it imports only when needed."""

_missed: int | None = None
"""Sources of methods that this process has compiled beside the file; None if it uses none."""


def is_effective() -> bool:
    """Return whether this process has compiled nearly nothing that the file is for."""
    return _missed is not None and _missed <= _FEW


def use(file: Path = FILE) -> None:
    """Let this process use the file, if there is one of this interpreter."""
    global _missed  # noqa: PLW0603 - a count of the process
    _missed = None
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return
    if not content.startswith(STAMP):
        return
    codes: Codes
    patterns: Patterns
    try:
        codes, patterns = marshal.loads(zlib.decompress(content[len(STAMP) :]))  # noqa: S302 - as .pyc
    except (zlib.error, ValueError, EOFError, TypeError):
        return  # damaged

    _missed = 0

    def execute(source: str, variables: dict[str, Any], names: dict[str, Any]) -> None:
        global _missed  # noqa: PLW0603 - as above
        code = codes.get(digest(source))
        if code is None:
            _missed = (_missed or 0) + 1
        exec(code or source, variables, names)  # noqa: S102

    compile_pattern = COMPILER.compile

    def compiled(pattern: Any, flags: int = 0) -> Any:
        # `re` also passes patterns that it has parsed.
        known = isinstance(pattern, str | bytes) and patterns.get((pattern, int(flags)))
        if not known:
            return compile_pattern(pattern, flags)
        return COMPILER._sre.compile(pattern, *known)  # noqa: SLF001

    setattr(dataclasses, "exec", execute)  # noqa: B010 - a name that the module lacks
    COMPILER.compile = compiled
