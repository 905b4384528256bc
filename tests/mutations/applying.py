"""Give an imported function the code of a mutant.

All modules are imported once, before the processes that test mutants are forked. A mutant changes
the inside of a function, so it is enough to replace the code of the function object: every module
that imported the function then calls the mutant.
"""

import importlib
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from tests.mutations.mutants import ROOT, Mutant


def apply(mutant: Mutant) -> None:
    """Replace the code of the function that a mutant changes, in this process."""
    find_function(mutant.path, mutant.function).__code__ = mutated_code(mutant)


def mutated_code(mutant: Mutant) -> CodeType:
    """Return the code of the function that a mutant changes."""
    module = compile(mutant.source, str(ROOT / mutant.path), "exec")
    (code,) = [code for code in _codes(module) if code.co_qualname == mutant.function]
    return code


def find_function(path: str, name: str) -> FunctionType:
    """Return the function object with a qualified name in a source."""
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    found: Any = module
    for part in name.split("."):
        found = vars(found)[part]
    function = _unwrap(found)
    assert function.__qualname__ == name
    return function


def _unwrap(found: Any) -> FunctionType:
    """Return the function inside decorators and descriptors."""
    if isinstance(found, property):
        return _unwrap(found.fget)
    if isinstance(found, cached_property):
        return _unwrap(found.func)
    if isinstance(found, classmethod | staticmethod):
        return _unwrap(found.__func__)
    if hasattr(found, "__wrapped__"):
        return _unwrap(found.__wrapped__)
    assert isinstance(found, FunctionType), found
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)
