"""The content of `template.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PATH = Path(__file__).resolve().parents[1] / "template.yaml"


class _Loader(yaml.CSafeLoader):
    """YAML loader that expands the short forms of functions: `!Ref X` to `{"Ref": "X"}`."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    match node:
        case yaml.ScalarNode():
            value = loader.construct_scalar(node)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case yaml.MappingNode():
            value = loader.construct_mapping(node, deep=True)
        case _:
            raise TypeError(node)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _intrinsic)


@cache
def read() -> Mapping[str, Any]:
    """Return the template as it is declared, before SAM expands it."""
    document: Mapping[str, Any] = yaml.load(PATH.read_text(), _Loader)  # noqa: S506 - a SafeLoader
    return document


def resources(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → properties of the resources of one type."""
    return {
        name: resource.get("Properties", {})
        for name, resource in read()["Resources"].items()
        if resource["Type"] == kind
    }
