"""Moto's update expressions: the same answers, sooner.

Stock moto parses an expression twice for each call, copies its tree as pickle would, and for each of ten checks asks
every node, by an abstract class's ``isinstance``, whether it applies: half of the time that an update takes. Functions
that stand in for moto's take the original first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node

    Original = Callable[..., Any]

EXPRESSIONS: Final = 1_024
"""So many parsed expressions are kept."""


def parsed_once() -> Callable[..., Any]:
    """Parse an expression the first time it is seen: whoever changes the tree copies it before."""
    kept = lru_cache(maxsize=EXPRESSIONS)(lambda parse, expression: parse(expression))

    def make(original: Original, expression: str) -> Node:
        tree: Node = kept(original, expression)
        return tree

    return make


def deepcopy(original: Original, value: Any) -> Any:
    """Copy a parsed expression by its nodes, and anything else as ever."""
    return _twin(value) if _is_node(value.__class__) else original(value)


def _twin(node: Node) -> Node:
    twin: Node = object.__new__(node.__class__)
    vars(twin).update(vars(node))
    if node.children is not None:
        twin.children = [_twin(child) if _is_node(child.__class__) else child for child in node.children]
        for child in twin.children:
            if _is_node(child.__class__):
                child.parent = twin
    return twin


def traverse(_: Original, traverser: DepthFirstTraverser, root: Node) -> Node:
    """Process the nodes that a traverser is for, children first."""
    processors: dict[type, Callable[[Node], Node]] = traverser._processing_map()  # noqa: SLF001  # moto's own form
    classes = tuple(processors)
    before_child = traverser.pre_processing_of_child if _looks_ahead(traverser.__class__) else None

    def walk(node: Node, place: int) -> Node:
        for i, child in enumerate(node.children or ()):
            if before_child is not None:
                before_child(node, i)
            if _is_node(child.__class__):
                walk(child, i)
        fitting = _first_fitting(classes, node.__class__)
        if fitting is None:
            return node
        parent, done = node.parent, processors[fitting](node)
        done.parent = parent
        if parent is not None:
            parent.children[place] = done
        return done

    return walk(root, -1)


def find_clauses(_: Original, node: Node, wanted: list[type]) -> list[Node]:
    """The clauses of these classes below a node, in order, none of them within another."""
    found: list[Node] = []
    _collect(node, frozenset(wanted), found)
    return found


def _collect(node: Node, wanted: frozenset[type], found: list[Node]) -> None:
    for child in node.children or ():
        if child.__class__ in wanted:
            found.append(child)
        elif _holds_clauses(child.__class__):
            _collect(child, wanted, found)


@cache
def _looks_ahead(traverser: type[DepthFirstTraverser]) -> bool:
    from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser

    return traverser.pre_processing_of_child is not DepthFirstTraverser.pre_processing_of_child


@cache
def _is_node(cls: type) -> bool:
    from moto.dynamodb.parsing.ast_nodes import Node

    return issubclass(cls, Node)


@cache
def _holds_clauses(cls: type) -> bool:
    from moto.dynamodb.parsing.ast_nodes import Expression, UpdateExpressionFunction

    return issubclass(cls, Expression | UpdateExpressionFunction)


@cache
def _first_fitting(classes: tuple[type, ...], cls: type) -> type | None:
    return next((fitting for fitting in classes if issubclass(cls, fitting)), None)
