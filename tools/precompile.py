"""Write the code that a cold start would compile: methods of dataclasses, and patterns.

  python -m tools.precompile FILE

Imports every function with the packages of this machine; `shared/kernel/precompiled.py` uses the
file in Lambda. The code is the same for every processor.
"""

import dataclasses
import importlib
import re
import sys
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

from shared.kernel.precompiled import COMPILER, digest, write

_FUNCTIONS = Path(__file__).parents[1] / "functions"


class Recorder:
    """Records what `dataclasses` and `re` compile in this process, from now on."""

    def __init__(self) -> None:
        self.codes: dict[bytes, CodeType] = {}
        self.patterns: dict[tuple[str | bytes, int], tuple[Any, ...]] = {}
        self._compile, self._sre = COMPILER.compile, COMPILER._sre  # noqa: SLF001
        self._given: tuple[Any, int] = "", 0
        setattr(dataclasses, "exec", self._execute)  # noqa: B010 - as in precompiled.py
        COMPILER.compile = self._compile_pattern
        COMPILER._sre = SimpleNamespace(  # noqa: SLF001
            **{**vars(self._sre), "compile": self._record}
        )

    def stop(self) -> None:
        """Record nothing any more."""
        delattr(dataclasses, "exec")
        COMPILER.compile, COMPILER._sre = self._compile, self._sre  # noqa: SLF001

    def _execute(self, source: str, variables: dict[str, Any], names: dict[str, Any]) -> None:
        code = compile(source, "<string>", "exec", dont_inherit=True)
        self.codes[digest(source)] = code
        exec(code, variables, names)  # noqa: S102

    def _compile_pattern(self, pattern: Any, flags: int = 0) -> Any:
        self._given = pattern, int(flags)
        return self._compile(pattern, flags)

    def _record(self, pattern: Any, flags: int, code: list[int], *rest: Any) -> Any:
        # What depends on the locale, or was parsed before, is compiled as usual.
        if isinstance(self._given[0], str | bytes) and not flags & re.LOCALE:
            plain = [int(part) for part in code]  # some are constants with a name
            self.patterns[self._given] = int(flags), plain, *rest
        return self._sre.compile(pattern, flags, code, *rest)


def main() -> None:
    """Import all functions and write the file."""
    re.purge()
    recorder = Recorder()
    for path in sorted(_FUNCTIONS.glob("*/app.py")):
        importlib.import_module(f"functions.{path.parent.name}.app")
    recorder.stop()
    write(Path(sys.argv[1]), recorder.codes, recorder.patterns)


if __name__ == "__main__":
    main()
