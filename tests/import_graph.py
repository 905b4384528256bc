"""Which module imports which, read from the sources."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOPS = ("shared", "functions", "operations", "cli")


def modules_below(root: Path) -> dict[str, Path]:
    """Return the file of every module below `root` by its dotted name."""
    paths = [path for top in TOPS for path in (root / top).rglob("*.py")]
    names = [path.relative_to(root).with_suffix("").as_posix().replace("/", ".") for path in paths]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}


def _imports_of(path: Path, known: set[str]) -> Iterator[str]:
    """Yield every module that a file imports, also inside functions and as deferred routes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "DeferredRoutes":
                yield ast.literal_eval(node.args[0])
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in known else module


@cache
def imports_below(root: Path) -> dict[str, frozenset[str]]:
    """Return what every module below `root` imports by its dotted name."""
    paths = modules_below(root)
    return {name: frozenset(_imports_of(path, set(paths))) for name, path in paths.items()}


def reached_from(module: str, root: Path) -> set[str]:
    """Return every module that a module may import while it runs, also those of packages."""
    known = imports_below(root)
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += known.get(name, ())
    return reached
