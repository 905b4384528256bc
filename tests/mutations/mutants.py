"""The mutants of the stock code: each is one source file with one part removed.

They are derived from the sources, so that new code is mutated as well:

- every condition of a write; for entities, separately for each kind related to stock;
- every statement that stages a write, changes the book or adds a fence;
- every refusal (`raise`), and every field of a row or level that a change replaces.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType

_ROOT = Path(__file__).parents[2]

_KINDS = (
    "stock", "level", "level_total", "movement", "receipt", "picking", "transfer",
    "transfer_order", "entry", "exit",
)  # fmt: skip
"""Kinds of entities that the stock code writes."""

_STAGING = (
    "tx.put", "tx.insert", "tx.delete", "tx.update", "tx.add_to_set", "tx.fence",
    "marking.update", "marking.invalidate_fences", "marking.commit", "raise_record_event",
    "self._post_row", "self._post_level", "self._post_total", "self._post_movements",
    "references.change_stock_count", "STOCK.insert", "STOCK.replace", "LEVELS.insert",
    "LEVELS.replace", "TOTALS.insert", "TOTALS.replace", "MOVEMENTS.insert", "self._write",
    "self.movements.append", "ledger.post", "ledger.changes.move",
    "ledger.changes.allocate", "ledger.changes.release", "self.movement_ids.append",
)  # fmt: skip
"""Calls that are removed one by one."""

_SOURCES = (
    "shared/warehouse/stock/ledger.py",
    "shared/warehouse/stock/rules.py",
    "shared/warehouse/stock/adjustments.py",
    "shared/warehouse/references.py",
    "shared/warehouse/picking/allocation.py",
    "shared/warehouse/picking/dispatch.py",
    "shared/warehouse/picking/picks.py",
    "shared/warehouse/picking/undo_picking.py",
    "shared/warehouse/receiving/undo_receipt.py",
    "shared/warehouse/receiving/service.py",
    "shared/warehouse/transfers/service.py",
    "shared/warehouse/transfer_orders/transit.py",
)
_SOURCES_WITH_REFUSALS = (
    "shared/warehouse/stock/ledger.py",
    "shared/warehouse/stock/rules.py",
    "shared/warehouse/references.py",
)
"""Sources in which refusals and replaced fields are mutated as well."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One source file with one part removed."""

    path: str
    line: int
    description: str
    source: str

    @property
    def module(self) -> str:
        """The dotted name of the module."""
        return self.path.removesuffix(".py").replace("/", ".")

    def __str__(self) -> str:
        return f"{self.path.removeprefix('shared/')}:{self.line} {self.description}"


def mutants() -> Iterator[Mutant]:
    """Yield every mutant, source by source."""
    sources = "".join((_ROOT / path).read_text() for path in _SOURCES)
    missing = [call for call in _STAGING if f"{call}(" not in sources]
    assert not missing, f"calls of _STAGING that no source makes: {missing}"
    yield from _conditions_of_entities()
    yield from _conditions("shared/kernel/db/counters.py")
    yield from _conditions("shared/warehouse/references.py")
    for path in _SOURCES:
        yield from _without_statements(path)
    for path in _SOURCES_WITH_REFUSALS:
        yield from _without_refusals(path)
        yield from _without_fields(path)


def _parse(path: str) -> ast.Module:
    return ast.parse((_ROOT / path).read_text())


def _mutant(path: str, tree: ast.Module, node: ast.AST, description: str) -> Mutant:
    ast.fix_missing_locations(tree)
    line = getattr(node, "lineno", 0)
    return Mutant(path, line, description, ast.unparse(tree))


# Conditions


def _conditions_of_entities() -> Iterator[Mutant]:
    """Yield mutants in which a collection writes entities of one kind unconditionally."""
    path = "shared/kernel/db/collection.py"
    source = (_ROOT / path).read_text()
    for old, new, description in (
        ("tx.insert(head)", "(tx.put if self.kind == {kind!r} else tx.insert)(head)", "an id"),
        (
            "tx.put(head, condition=_UNCHANGED",
            "tx.put(head, condition=None if self.kind == {kind!r} else _UNCHANGED",
            "a version",
        ),
    ):
        assert source.count(old) == 1, old
        line = source[: source.index(old)].count("\n") + 1
        for kind in _KINDS:
            if kind == "movement" and "condition" in new:
                continue  # a movement is never replaced
            changed = source.replace(old, new.format(kind=kind))
            if "condition" in new:
                # DynamoDB refuses values that no expression uses.
                changed = changed.replace(
                    'values={":seen": record.version})\n        for tail in tails',
                    f'values=None if self.kind == {kind!r} else {{":seen": record.version}})\n'
                    "        for tail in tails",
                )
            yield Mutant(path, line, f"{kind}: without the condition on {description}", changed)


def _conditions(path: str) -> Iterator[Mutant]:
    """Yield mutants without the condition of a write and the values that only it uses."""
    tree = _parse(path)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Call):
            names = [keyword.arg for keyword in node.keywords]
            if "condition" in names:
                mutated, there = _copy(tree, number)
                assert isinstance(there, ast.Call)
                _always(there)
                yield _mutant(path, mutated, there, "without its condition")
        elif _sets_condition(node):
            mutated, there = _copy(tree, number)
            assert isinstance(there, ast.Assign)
            there.value = ast.Constant(_true_but_named(there.value))
            yield _mutant(path, mutated, there, f"without {ast.unparse(node)}")


def _sets_condition(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and "ConditionExpression" in ast.unparse(node.targets[0])


def _true_but_named(condition: ast.expr) -> str:
    """Return an expression of a condition that is always true and uses the same names."""
    text = str(ast.literal_eval(condition))
    return f"({text}) OR NOT ({text})"


def _always(call: ast.Call) -> None:
    for keyword in call.keywords:
        if keyword.arg == "condition":
            kept = keyword.value
            # Keep the names and values, so that only the result changes.
            keyword.value = ast.BinOp(
                ast.BinOp(
                    ast.BinOp(ast.Constant("("), ast.Add(), kept), ast.Add(),
                    ast.Constant(") OR NOT ("),
                ),
                ast.Add(),
                ast.BinOp(kept, ast.Add(), ast.Constant(")")),
            )  # fmt: skip


# Statements


def _without_statements(path: str) -> Iterator[Mutant]:
    tree = _parse(path)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
            name = ast.unparse(node.value.func)
            if name not in _STAGING:
                continue
            mutated, there = _copy(tree, number)
            if isinstance(there, ast.Assign):
                continue
            _replace(mutated, there, ast.Pass())
            yield _mutant(path, mutated, node, f"without {_short(node)}")
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("self.rows["):
            mutated, there = _copy(tree, number)
            _replace(mutated, there, ast.Pass())
            yield _mutant(path, mutated, node, f"without {_short(node)}")


def _without_refusals(path: str) -> Iterator[Mutant]:
    tree = _parse(path)
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            mutated, there = _copy(tree, number)
            _replace(mutated, there, ast.Pass())
            yield _mutant(path, mutated, node, f"without {_short(node)}")


def _without_fields(path: str) -> Iterator[Mutant]:
    """Yield mutants that leave one field of a changed row unchanged."""
    tree = _parse(path)
    for number, node in enumerate(ast.walk(tree)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name == "self._write":
            for at, keyword in enumerate(node.keywords):
                mutated, there = _copy(tree, number)
                assert isinstance(there, ast.Call)
                del there.keywords[at]
                yield _mutant(path, mutated, node, f"without {keyword.arg}= in {_short(node)}")
        elif name.endswith(".model_copy") and isinstance(node.keywords[0].value, ast.Dict):
            for at, key in enumerate(node.keywords[0].value.keys):
                if key is None:
                    continue
                mutated, there = _copy(tree, number)
                assert isinstance(there, ast.Call)
                update = there.keywords[0].value
                assert isinstance(update, ast.Dict)
                del update.keys[at], update.values[at]
                yield _mutant(path, mutated, key, f"without {ast.unparse(key)} in a changed row")


def _copy(tree: ast.Module, number: int) -> tuple[ast.Module, ast.AST]:
    """Return a copy of a tree, and its node with the index `number` in `ast.walk`."""
    mutated = copy.deepcopy(tree)
    return mutated, list(ast.walk(mutated))[number]


def _replace(tree: ast.Module, node: ast.AST, other: ast.stmt) -> None:
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and node in body:
                body[body.index(node)] = other


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


# Importing


class _Finder(MetaPathFinder, Loader):
    """Imports one module from the source of a mutant."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return spec_from_loader(fullname, self) if fullname == self._mutant.module else None

    def exec_module(self, module: ModuleType) -> None:
        code = compile(self._mutant.source, str(_ROOT / self._mutant.path), "exec")
        exec(code, module.__dict__)  # noqa: S102 - the loader executes the module


def finder(mutant: Mutant) -> MetaPathFinder:
    """Return a finder that imports the mutant instead of its source."""
    return _Finder(mutant)
