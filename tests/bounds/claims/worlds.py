"""Worlds of all kinds of sums that claims are made of."""

from tests.bounds.claims.every_log import Read, World

WORLDS = {
    "back door": World(
        {"z": "", "x": "z", "y": "z x"}, (Read("z"), Read("y", "z x")), axes=("x",)
    ),
    "three strata": World({"z": "", "y": "z"}, (Read("z"), Read("y", "z")), sizes={"z": 3}),
    "context": World(
        {"c": "", "z": "c", "x": "c z", "y": "c z x"},
        (Read("z", "c"), Read("y", "c z x")),
        axes=("x", "c"),
    ),
    "front door": World(
        {"x": "", "m": "x", "y": "x m"},
        (Read("x'"), Read("m", "x"), Read("y", "x' m")),
        axes=("x",),
    ),
    "two steps": World(
        {"z": "", "w": "z", "v": "z w", "y": "z w v"},
        (Read("z"), Read("w", "z"), Read("y", "z w v")),
        axes=("v",),
    ),
    "external": World(
        {"z": "", "x": "z", "y": "z x"},
        (Read("z", source=1), Read("y", "z x")),
        axes=("x",),
    ),
    "exact external": World(
        {"z": "", "x": "z", "y": "z x"},
        (Read("z", source=1), Read("y", "z x")),
        axes=("x",),
        exact=frozenset((1,)),
    ),
    "unknown link": World(
        {"a": "", "b": "a", "y": "a b"},
        (Read("a"), Read("y", "a b", 1)),
        worst=("b",),
    ),
    "unknown link, external": World(
        {"a": "", "b": "a", "y": "a b"},
        (Read("a", source=1), Read("y", "a b", 1)),
        worst=("b",),
    ),
    "unknown link, exact external": World(
        {"a": "", "b": "a", "y": "a b"},
        (Read("a", source=1), Read("y", "a b", 1)),
        worst=("b",),
        exact=frozenset((1,)),
    ),
    "shared cells": World(
        {"a": "", "c": "a", "b": "", "y": "b c"},
        (Read("a"), Read("c", "a", 1), Read("y", "b c", 1)),
        worst=("b",),
    ),
    "shared cells of a level": World(
        {"a": "", "b": "a", "c": "b", "y": "a c"},
        (Read("a"), Read("c", "b", 1), Read("y", "a c", 1)),
        worst=("b",),
    ),
    "one cell for many branches": World(
        {"a": "", "b": "", "y": "b"},
        (Read("a", source=1), Read("y", "b", 1)),
        worst=("b",),
        exact=frozenset((1,)),
        sizes={"a": 6, "b": 1},
    ),
    "unknown outside": World(
        {"a": "", "b": "a", "y": "a b"},
        (Read("a", "", 1), Read("y", "a b", 1)),
        worst=("b",),
    ),
    "unknown link between, external first": World(
        {"c": "", "a": "", "b": "a c", "y": "a b c"},
        (Read("c", "", 1, source=1), Read("a"), Read("y", "a b c", 1)),
        worst=("b",),
    ),
    "nested": World(
        {"b": "", "a": "b", "d": "a b", "y": "a b d"},
        (Read("a", "b", 1), Read("y", "a b d", 2)),
        worst=("b", "d"),
    ),
    "nested, shared": World(
        {"a": "", "b": "", "c": "a b", "d": "", "y": "c d"},
        (Read("a"), Read("c", "a b", 1), Read("y", "c d", 2)),
        worst=("b", "d"),
    ),
    "fixed factor": World(
        {"z": "", "x": "z", "y": "z x"},
        (Read("z"), Read("x", "z"), Read("y", "z x")),
        axes=("x",),
    ),
    "fixed with the reward": World(
        {"z": "", "x": "z", "y": "z x"}, (Read("z"), Read("x y", "z")), axes=("x",)
    ),
    "drawn together": World(
        {"z": "", "w": "z", "x": "z w", "y": "z w x"},
        (Read("z w"), Read("y", "z w x")),
        axes=("x",),
    ),
    "worst at a fixed value": World(
        {"a": "", "b": "a", "y": "a b"},
        (Read("a"), Read("b", "a", 1), Read("y", "a b", 1)),
        worst=("b",),
    ),
    "folds": World(
        {"z": "", "w": "z", "y": "z w"},
        (Read("z"), Read("w", source=1), Read("y", "z w")),
    ),
}
"""The smallest world of every kind."""
