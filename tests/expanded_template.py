"""The resources that SAM makes of `template.yaml`, once per process: it takes half a second."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from tools import expanded_template


@cache
def expanded(**parameters: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource, as `tools.expanded_template` does; do not change it."""
    return expanded_template.expanded(**parameters)


def expanded_of(kind: str, **parameters: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource of the resources of one type."""
    return {name: one for name, one in expanded(**parameters).items() if one["Type"] == kind}
