"""Expressions of updates and conditions.

moto reads the text of an expression each time it meets it, several times a call, and copies
and walks its tree with more questions about the tree than about what is in it.
"""

from collections import deque
from functools import cache, lru_cache
from typing import Any

import pytest
from moto.dynamodb.comparisons import ConditionExpressionParser
from moto.dynamodb.exceptions import DynamodbException
from moto.dynamodb.parsing.ast_nodes import (  # type: ignore[attr-defined]
    DepthFirstTraverser,
    Node,
)
from moto.dynamodb.parsing.expressions import (  # type: ignore[attr-defined]
    UpdateExpressionParser,
)
from moto.dynamodb.parsing.validators import (
    ActionCountValidator,
    ExpressionAttributeResolvingProcessor,
    OverlappingPathsValidator,
)

_TEXTS = 4_096
"""Expressions that are remembered: the ways to write something are few."""

type _Lexed = deque[Any]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handle expressions in the short way until the test ends."""
    read_update = lru_cache(_TEXTS)(UpdateExpressionParser.make)
    monkeypatch.setattr(UpdateExpressionParser, "make", read_update)
    monkeypatch.setattr(Node, "__deepcopy__", _copied, raising=False)
    monkeypatch.setattr(DepthFirstTraverser, "traverse", _traverse)
    for check in (ActionCountValidator, OverlappingPathsValidator):
        monkeypatch.setattr(check, "traverse", _check_at_the_root, raising=False)
    lex = ConditionExpressionParser._lex_condition_expression

    @lru_cache(_TEXTS)
    def lexed(text: str) -> _Lexed:
        return lex(ConditionExpressionParser(text, None, None))

    def lex_condition(parser: ConditionExpressionParser) -> _Lexed:
        return lexed(parser.condition_expression).copy()

    monkeypatch.setattr(ConditionExpressionParser, "_lex_condition_expression", lex_condition)


def _copied(node: Any, memo: object) -> Any:
    """Copy a tree as it was read; values are put into the copy."""
    copied = object.__new__(type(node))
    copied.__dict__.update(node.__dict__)
    if node.children is not None:
        copied.children = [
            _copied(child, memo) if isinstance(child, Node) else child for child in node.children
        ]
        for child in copied.children:
            if isinstance(child, Node):
                child.parent = copied
    return copied


def _check_at_the_root(check: Any, root: Any) -> Any:
    """Check the whole expression; its parts, which moto checks too, only when it fails."""
    try:
        check.process(root)
    except DynamodbException:
        _traverse(check, root)
        raise
    return root


def _traverse(traverser: Any, root: Any) -> Any:
    """Process the nodes that a traverser wants, from the leaves to the root."""
    wanted = traverser.nodes_to_be_processed()
    prepares = isinstance(traverser, ExpressionAttributeResolvingProcessor)

    def visit(node: Any, place: int) -> Any:
        parent = node.parent
        for number, child in enumerate(node.children or ()):
            if prepares:
                traverser.pre_processing_of_child(node, number)
            if _is_wanted(child, _NODES):
                visit(child, number)
        if _is_wanted(node, wanted):
            node = traverser.process(node)
            node.parent = parent
            if parent:
                parent.children[place] = node
        return node

    return visit(root, -1)


_NODES = (Node,)


def _is_wanted(node: object, wanted: tuple[type, ...]) -> bool:
    return _is_kind_wanted(type(node), wanted)  # type: ignore[arg-type]


@cache
def _is_kind_wanted(kind: type, wanted: tuple[type, ...]) -> bool:
    """Ask abstract classes about a kind once."""
    return issubclass(kind, wanted)
