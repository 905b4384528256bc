"""The mutants of the warehouse: each is one source file with one part removed.

They are derived from the sources, so that new code is mutated as well:

- every condition of a write; for entities, separately for each kind of the warehouse;
- every statement that only stages a write, moves stock, raises an event or adds a fence;
- in the rules and postings of stock, every refusal (`raise`), and every field of a row or level
  that a change replaces.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

type _Node = ast.stmt | ast.expr | ast.keyword

_KINDS = (
    "stock", "level", "level_total", "movement", "receipt", "picking", "transfer",
    "transfer_order", "entry", "exit", "wave", "approval", "return", "returned", "packing_order",
    "handling_unit", "rfid_validation", "rfid_differences",
)  # fmt: skip
"""Kinds of entities that the work in the warehouse writes."""
_NEVER_REPLACED = frozenset({"movement", "rfid_validation", "rfid_differences"})

_WRITERS = frozenset({"tx", "posting", "marking", "changes"})
"""Names of what stages writes. A statement that calls one, or passes one on, is removed."""

_CHECK = "tx.check"
"""Makes a commit depend on an item that it does not write."""

_STEPS_OF_THE_STOCK = frozenset({"_post_row", "_post_movements", "_write", "append"})
"""Methods that a stock posting calls on itself or on its lists."""

_COLLECTION = "shared/kernel/db/collection.py"
_STOCK = ("shared/warehouse/stock/posting.py", "shared/warehouse/stock/rules.py")
_REFERENCES = "shared/kernel/references.py"
_WITH_REFUSALS = (*_STOCK, _REFERENCES, "shared/warehouse/master_data/uses.py")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One source file with one part removed."""

    path: str
    first_line: int
    last_line: int
    description: str
    source: str
    number: int = 1
    """Counts mutants of one function with the same description."""

    @property
    def function(self) -> str:
        """The qualified name of the outermost function that the mutant changes."""
        return function_at(self.path, self.first_line)

    def __str__(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.path.removeprefix('shared/')} {self.function}: {self.description}{again}"


def sources() -> list[str]:
    """Return the files that are mutated."""
    folders = ("shared/warehouse", "shared/kernel/db", "shared/kernel/events")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    more = [_REFERENCES, "shared/http/idempotency.py"]
    return [*sorted(str(path.relative_to(ROOT)) for path in found), *more]


def mutants() -> Iterator[Mutant]:
    """Yield every mutant, source by source; each has a name of its own."""
    names = Counter[str]()
    for mutant in _mutants():
        names[str(mutant)] += 1
        yield replace(mutant, number=names[str(mutant)])


def _mutants() -> Iterator[Mutant]:
    yield from _conditions_of_entities()
    yield from _writes_of_derived_items()
    for path in sources():
        if path != _COLLECTION:
            yield from _conditions(path)
        if path.startswith("shared/warehouse/") or path == _REFERENCES:
            yield from _without_statements(path)
        if path in _WITH_REFUSALS:
            yield from _without_refusals(path)
            yield from _without_fields(path)


@cache
def _parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


@cache
def _functions(path: str) -> list[tuple[str, int, int]]:
    """Return name, first and last line of each function that no other function contains."""
    found: list[tuple[str, int, int]] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                assert child.end_lineno is not None
                found.append((f"{prefix}{child.name}", child.lineno, child.end_lineno))

    visit(_parse(path), "")
    return found


def function_at(path: str, line: int) -> str:
    """Return the qualified name of the outermost function around a line; "" if there is none."""
    for name, first, last in _functions(path):
        if first <= line <= last:
            return name
    return ""


@cache
def _source_lines(path: str) -> list[bytes]:
    return (ROOT / path).read_bytes().splitlines(keepends=True)


def _replaced(
    path: str, first: _Node, text: str, description: str, *, last: _Node | None = None
) -> Mutant:
    """Return the mutant whose source has `text` in the place of the nodes `first` to `last`."""
    last = last or first
    assert last.end_lineno is not None
    assert last.end_col_offset is not None
    lines = _source_lines(path)
    changed = b"".join(
        (
            *lines[: first.lineno - 1],
            lines[first.lineno - 1][: first.col_offset],
            text.encode(),
            lines[last.end_lineno - 1][last.end_col_offset :],
            *lines[last.end_lineno :],
        )
    )
    return Mutant(path, first.lineno, last.end_lineno, description, changed.decode())


# Conditions


def _conditions_of_entities() -> Iterator[Mutant]:
    """Yield mutants in which a collection writes entities of one kind unconditionally."""
    for old, new, description in (
        ("tx.insert(head)", "(tx.put if self.kind == {kind!r} else tx.insert)(head)", "an id"),
        (
            "tx.put(head, **self._unchanged(tx, record))",
            "tx.put(head, **(dict() if self.kind == {kind!r} else self._unchanged(tx, record)))",
            "a version",
        ),
    ):
        for kind in _KINDS:
            if kind not in _NEVER_REPLACED or description != "a version":
                name = f"{kind} without the condition on {description}"
                yield _of_collection(old, new.format(kind=kind), name)


def _writes_of_derived_items() -> Iterator[Mutant]:
    """Yield mutants in which a collection does not write or delete entries of the search index."""
    for old, new in (
        ("for item in (*tails, *self.derived_items(record)):", "for item in tails:"),
        ("for key in (*self._tail_keys(record), *derived):", "for key in ():"),
        ("if former.pop(key_of(item), None) != item:", "if former.pop(key_of(item), None):"),
        ("for key in former:", "for key in ():"),
        ("if former.pop(key_of(item), None) != item:", "if not former.pop(key_of(item), None):"),
    ):
        yield _of_collection(old, new, new.rstrip(":"))


def _of_collection(old: str, new: str, description: str) -> Mutant:
    """Return the mutant of a collection with another text, which stands on one line."""
    source = (ROOT / _COLLECTION).read_text()
    assert source.count(old) == 1, old
    line = source[: source.index(old)].count("\n") + 1
    return Mutant(_COLLECTION, line, line, description, source.replace(old, new))


def _conditions(path: str) -> Iterator[Mutant]:
    """Yield mutants in which one condition of a write is always true."""
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tx.insert":
            description = f"put instead of insert in {_short(node)}"
            yield _replaced(path, node.func, "tx.put", description)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "tx.replace":
            item = ast.unparse(node.args[0])
            yield _replaced(path, node, f"tx.put({item})", f"put instead of {_short(node)}")
        for condition in _conditions_of(node):
            # A parameter that is passed on is mutated where it gets its value.
            if not isinstance(condition, ast.Name | ast.IfExp):
                description = f"without condition {_short(condition)}"
                yield _replaced(path, condition, _always(condition), description)


def _conditions_of(node: ast.AST) -> list[ast.expr]:
    """Return the conditions among the values that a node names."""
    named = {"condition", "ConditionExpression"}
    if isinstance(node, ast.Call) and ast.unparse(node.func) != _CHECK:  # left out as a statement
        return [keyword.value for keyword in node.keywords if keyword.arg in named]
    if isinstance(node, ast.Dict):
        return [
            value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and key.value in named
        ]
    if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
        index = target.slice
        return [node.value] if isinstance(index, ast.Constant) and index.value in named else []
    return []


def _always(condition: ast.expr) -> str:
    """Return a condition that is always true and uses the same names and values."""
    text = ast.unparse(condition)
    return f"'(' + ({text}) + ') OR NOT (' + ({text}) + ')'"


# Statements


def _without_statements(path: str) -> Iterator[Mutant]:
    for node in ast.walk(_parse(path)):
        if (isinstance(node, ast.Expr) and _stages(node.value, path)) or (
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("self.rows[")
        ):
            yield _replaced(path, node, "pass", f"without {_short(node)}")


def _stages(value: ast.expr, path: str) -> bool:
    """Return whether a statement consists of a call that stages writes."""
    if not isinstance(value, ast.Call):
        return False
    called = ast.unparse(value.func).split(".")
    given = {argument.id for argument in value.args if isinstance(argument, ast.Name)}
    if called[-1] == "invalidate_fences":
        return True
    if ".".join(called) == _CHECK:
        return True
    # A call of a check does not write; whether it refuses is tested by the tests of refusals.
    checks = called[-1].lstrip("_").startswith(("check", "ensure", "require", "refuse"))
    if _WRITERS & {*called[:-1], *given} and not checks:
        return True
    return path in _STOCK and called[0] == "self" and called[-1] in _STEPS_OF_THE_STOCK


def _without_refusals(path: str) -> Iterator[Mutant]:
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield _replaced(path, node, "pass", f"without {_short(node)}")


def _without_fields(path: str) -> Iterator[Mutant]:
    """Yield mutants that leave one field of a changed row unchanged."""
    for node in ast.walk(_parse(path)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name == "self._write":
            for keyword in node.keywords:
                description = f"without {keyword.arg}= in {_short(node)}"
                yield _replaced(path, keyword, "**{}", description)
        elif name.endswith(".model_copy"):
            update = node.keywords[0].value
            if not isinstance(update, ast.Dict):
                continue
            for key, value in zip(update.keys, update.values, strict=True):
                if key is not None:
                    description = f"without {ast.unparse(key)} in a changed row"
                    yield _replaced(path, key, "**{}", description, last=value)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
