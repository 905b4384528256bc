"""Imports point one way: functions → subjects → kernel. Two subjects meet in services."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_SINGLE_MODULES = {path.stem for path in (ROOT / "shared").glob("*.py")}
_KERNEL = {"", "audit", "auth", "db", "events", "http", "spreadsheets", "tenancy"} | _SINGLE_MODULES
_SHAPELESS = {"common", "helpers", "misc", "utils"}
_MEETING_PLACES = {
    "allocation", "dispatch", "ledger", "lines", "models", "picking", "picking_models", "picks",
    "service", "vocabulary", "wave_work",
}  # fmt: skip
"""Modules of a subject that another subject may import: `lines` are the rules of the catalog for
what names a product, `ledger` is the one way in which any work moves stock, `vocabulary` are
the words of documents, `wave_work` is what waves do with pickings. A transfer order is picked by
the use cases of picking: `picking`, `picks`, `allocation`, `dispatch`."""
_MAX_LINES = 400


def _modules(root: Path) -> dict[str, Path]:
    """Dotted name → file of every module of the service below `root`."""
    paths = [path for top in ("shared", "functions") for path in (root / top).rglob("*.py")]
    names = [path.relative_to(root).with_suffix("").as_posix().replace("/", ".") for path in paths]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, paths, strict=True)}


def _imports(path: Path, known: set[str]) -> Iterator[str]:
    """Every module that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in known else module


def _layer(module: str) -> tuple[str, str]:
    """(function, subject or kernel; the package)."""
    top, package, *_ = [*module.split("."), ""]
    if top == "functions":
        return "function", package
    return "kernel" if package in _KERNEL else "subject", package


def _violation(importer: str, imported: str) -> str | None:
    """What is wrong with one import of one module of ours by another, None when nothing is."""
    here, there = _layer(importer), _layer(imported)
    if here == there:
        return None
    layers, module = (here[0], there[0]), imported.rpartition(".")[2]
    broken = {
        "nothing imports a function": there[0] == "function",
        "the kernel knows no subject": layers == ("kernel", "subject"),
        "subjects do not know HTTP": here[0] == "subject" and there == ("kernel", "http"),
        "subjects meet through a service": layers == ("subject", "subject")
        and module not in _MEETING_PLACES,
        "a function asks the service": layers == ("function", "subject")
        and module in {"repository", "rules"},
    }
    return next((rule for rule, is_broken in broken.items() if is_broken), None)


def violations(root: Path) -> list[str]:
    """Every import below `root` that points the wrong way."""
    modules = _modules(root)
    return [
        f"{name} imports {imported}: {wrong}"
        for name, path in modules.items()
        for imported in _imports(path, set(modules))
        if imported.partition(".")[0] in {"shared", "functions"}
        and (wrong := _violation(name, imported))
    ]


def test_imports_point_one_way() -> None:
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("shared/db/store.py", "from shared.catalog import service"),
        ("shared/catalog/service.py", "from shared.http.envelope import Reply"),
        ("shared/catalog/service.py", "import shared.documents.repository"),
        ("shared/catalog/rules.py", "def late():\n    from shared.documents import repository"),
        ("shared/catalog/service.py", "from functions.catalog.app import routes"),
        ("functions/oauth/app.py", "from functions.catalog.app import routes"),
        ("functions/catalog/app.py", "from shared.catalog.repository import PRODUCTS"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, module: str, line: str) -> None:
    for name in ("shared/documents/repository.py", "shared/catalog/repository.py", module):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / module).write_text(line + "\n")

    assert len(violations(tmp_path)) == 1


def test_no_module_is_a_drawer_for_everything() -> None:
    found = [name for name in _modules(ROOT) if name.rpartition(".")[2] in _SHAPELESS]
    assert found == []


def test_every_file_can_be_read_in_one_go() -> None:
    tops = ("cli", "functions", "local", "shared", "tests", "tools")
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for top in tops
        for path in (ROOT / top).rglob("*.py")
    }
    assert {name: lines for name, lines in lengths.items() if lines > _MAX_LINES} == {}
